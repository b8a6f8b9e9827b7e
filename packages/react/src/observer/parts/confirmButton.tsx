/** A button for an action that cannot be undone: it asks for confirmation. */
import { type ReactNode, useEffect, useRef, useState } from "react"
import { errorText } from "../../format/index.ts"

interface ConfirmButtonProps {
  readonly children: ReactNode
  /** The accessible name, if the text is not enough. */
  readonly label?: string | undefined
  readonly question: string
  readonly confirm: string
  readonly isDangerous?: boolean
  readonly disabled?: boolean
  readonly onConfirm: () => Promise<void>
}

type Standing = "rest" | "asking" | "busy"

/**
 * Shows the question in place of the button; Escape or the other button cancels. An error of the action is shown there.
 */
export const ConfirmButton = (props: ConfirmButtonProps) => {
  const { children, label, question, confirm, isDangerous = false, disabled = false, onConfirm } = props
  const [standing, setStanding] = useState<Standing>("rest")
  const [failure, setFailure] = useState<string>()
  const opener = useRef<HTMLButtonElement>(null)
  const confirmer = useRef<HTMLButtonElement>(null)
  const wasAsked = useRef(false)
  useEffect(() => {
    if (standing === "asking") confirmer.current?.focus()
    if (standing === "rest" && wasAsked.current) opener.current?.focus()
    wasAsked.current = standing !== "rest"
  }, [standing])
  const act = async () => {
    setStanding("busy")
    setFailure(undefined)
    try {
      await onConfirm()
    } catch (error) {
      setFailure(errorText(error))
    }
    setStanding("rest")
  }
  if (standing === "rest") {
    return (
      <>
        <button
          ref={opener}
          type="button"
          className="tro-button"
          data-danger={isDangerous || undefined}
          aria-label={label}
          disabled={disabled}
          onClick={() => setStanding("asking")}
        >
          {children}
        </button>
        {failure !== undefined && (
          <span role="alert" className="tro-failure">
            {failure}
          </span>
        )}
      </>
    )
  }
  return (
    <span
      role="group"
      aria-label={question}
      className="tro-confirm"
      onKeyDown={(event) => {
        if (event.key === "Escape") setStanding("rest")
      }}
    >
      <span>{question}</span>
      <button
        type="button"
        className="tro-button"
        data-danger={isDangerous || undefined}
        data-solid
        disabled={standing === "busy"}
        ref={confirmer}
        onClick={() => void act()}
      >
        {confirm}
      </button>
      <button type="button" className="tro-button" onClick={() => setStanding("rest")}>
        Cancel
      </button>
    </span>
  )
}
