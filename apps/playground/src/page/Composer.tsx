import { type ReactNode, useRef, useState } from "react"

/** The input field: Enter sends, Shift and Enter begins a line. */
export const Composer = ({
  label,
  busy,
  onSay,
  onCancel
}: {
  readonly label: string
  readonly busy: boolean
  readonly onSay: (text: string) => Promise<boolean>
  readonly onCancel: () => void
}): ReactNode => {
  const [text, setText] = useState("")
  const box = useRef<HTMLTextAreaElement>(null)
  const say = async (): Promise<void> => {
    const said = text.trim()
    if (said === "") return
    setText("")
    box.current?.focus()
    // A refused message stays in the field, to be sent again.
    if (!(await onSay(said))) setText((now) => (now === "" ? said : now))
  }
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault()
        void say()
      }}
    >
      <textarea
        ref={box}
        rows={2}
        aria-label={label}
        placeholder={label}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
            event.preventDefault()
            void say()
          }
          if (event.key === "Escape" && busy) onCancel()
        }}
      />
      <div className="verbs">
        {busy ? (
          <button type="button" onClick={onCancel}>
            Cancel
          </button>
        ) : null}
        <button type="submit" className="primary" disabled={text.trim() === ""}>
          {busy ? "Queue" : "Send"}
        </button>
      </div>
    </form>
  )
}
