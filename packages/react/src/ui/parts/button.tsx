/** Buttons. */
import { type ReactNode, type Ref, useState } from "react"
import { Icon, type IconName } from "./icon.tsx"

/** What a button takes. */
export interface ButtonProps {
  readonly children?: ReactNode
  /** The accessible name, and the tooltip; needed without a text. */
  readonly label?: string | undefined
  readonly icon?: IconName | undefined
  /** `primary` is the expected choice, `quiet` has no frame until it is pointed at, `danger` ends or deletes. */
  readonly tone?: "primary" | "quiet" | "danger" | undefined
  readonly disabled?: boolean | undefined
  readonly submit?: boolean | undefined
  readonly button?: Ref<HTMLButtonElement> | undefined
  readonly onClick?: (() => void) | undefined
}

export const Button = ({ children, label, icon, tone, disabled, submit, button, onClick }: ButtonProps) => (
  <button
    ref={button}
    type={submit === true ? "submit" : "button"}
    className="troupe-button"
    data-tone={tone}
    data-icon={icon !== undefined && children === undefined ? true : undefined}
    aria-label={label}
    title={children === undefined ? label : undefined}
    disabled={disabled}
    onClick={onClick}
  >
    {icon === undefined ? null : <Icon name={icon} />}
    {children}
  </button>
)

/** Copies a text, and says so in its name until the pointer or the focus leaves. */
export const CopyButton = ({ text, label = "Copy" }: { readonly text: string; readonly label?: string }) => {
  const [state, setState] = useState<"rest" | "copied" | "failed">("rest")
  const copy = (): void =>
    void navigator.clipboard.writeText(text).then(
      () => setState("copied"),
      () => setState("failed")
    )
  const name = { rest: label, copied: "Copied", failed: "Not copied: the browser refused" }[state]
  return (
    <span
      className="troupe-copy"
      data-state={state}
      onPointerLeave={() => setState("rest")}
      onBlur={() => setState("rest")}
    >
      <Button tone="quiet" icon={state === "copied" ? "done" : "copy"} label={name} onClick={copy} />
      <span className="troupe-hidden" role="status">
        {state === "rest" ? "" : name}
      </span>
    </span>
  )
}
