/** The buttons of a decision, and what was decided while it can be undone. */
import type { Decision } from "@troupe/chat/tools"
import { type ReactNode, useEffect, useRef } from "react"
import { Button, Fault, type UndoOptions, useUndo } from "../parts/index.ts"
import { decisionsFor, type DecisionKind, type NamedDecision } from "./decisions.ts"

interface DecideProps extends UndoOptions {
  readonly kind: DecisionKind
  /** Names the buttons where several calls have some: `charge`. */
  readonly name?: string | undefined
  /** The arguments that a person changed. */
  readonly edited?: Readonly<Record<string, unknown>> | undefined
  /** Whether nothing can be allowed now. */
  readonly isBlocked?: boolean
  /** More buttons beside those of the decision. */
  readonly children?: ReactNode
  readonly onDecide: (decision: Decision) => Promise<unknown>
}

const withArguments = (decision: Decision, edited: DecideProps["edited"]): Decision =>
  decision.type === "allow" && edited !== undefined ? { ...decision, arguments: edited } : decision

/** The buttons. After a choice they make room for the button that undoes it. */
export const Decide = ({
  kind,
  name,
  edited,
  isBlocked = false,
  children,
  onDecide,
  undoMs = 3_000,
  clock
}: DecideProps) => {
  const undo = useUndo<NamedDecision>(({ decision }) => onDecide(decision), { undoMs, clock })
  const { state, choice, fault } = undo
  const undoer = useRef<HTMLButtonElement>(null)
  const first = useRef<HTMLButtonElement>(null)
  const before = useRef(state)
  useEffect(() => {
    if (state === "held") undoer.current?.focus()
    else if (before.current === "held" && state === "open") first.current?.focus()
    before.current = state
  }, [state])
  if (state !== "open") {
    return (
      <div className="troupe-decided" data-state={state} role="status">
        <span>{choice?.done}</span>
        {state === "held" ? (
          <Button button={undoer} label={name === undefined ? "Undo" : `Undo: ${name}`} onClick={undo.undo}>
            Undo
          </Button>
        ) : null}
        {state === "held" ? (
          <span className="troupe-countdown" style={{ animationDuration: `${undoMs}ms` }} aria-hidden />
        ) : null}
      </div>
    )
  }
  return (
    <>
      <div className="troupe-buttons">
        {decisionsFor[kind].map((one, index) => (
          <Button
            key={one.label}
            button={index === 0 ? first : undefined}
            tone={index === 0 ? "primary" : undefined}
            label={name === undefined ? undefined : `${one.label}: ${name}`}
            disabled={isBlocked && one.decision.type === "allow"}
            onClick={() => undo.choose({ ...one, decision: withArguments(one.decision, edited) })}
          >
            {one.label}
          </Button>
        ))}
        {children}
      </div>
      <Fault fault={fault} />
    </>
  )
}
