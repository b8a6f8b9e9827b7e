import { useWaiting, type Waiting as Waits } from "@troupe/react"
import { type ReactNode, useState } from "react"
import { Answer, decisions } from "./Approvals.tsx"

type Wait = Waits["waits"][number]

/** How often the list is read. */
const pollMs = 2_000

const headings: Readonly<Record<Wait["kind"], string>> = {
  question: "asks",
  approval: "May this run?",
  unknown_outcome: "Did this take effect?",
  tool_result: "needs a result"
}

/** What all conversations wait for, read every two seconds. The current conversation shows its own questions. */
export const Waiting = ({
  current,
  hrefOf,
  onChosen
}: {
  readonly current: string
  /** The address of a conversation. */
  readonly hrefOf: (id: string) => string
  readonly onChosen: () => void
}): ReactNode => {
  const { waits, error, more, approve, answer } = useWaiting({ pollMs })
  const [fault, setFault] = useState<string>()
  const attempt = (work: Promise<void>): void => {
    setFault(undefined)
    work.catch((refusal: unknown) => setFault(refusal instanceof Error ? refusal.message : String(refusal)))
  }
  return (
    <section className="waiting" aria-label="Waiting for you">
      <h2 role="status">{waits.length === 0 ? "Nothing waits for you" : `Waiting for you: ${waits.length}`}</h2>
      {fault === undefined && error === undefined ? null : <p role="alert">{fault ?? error?.message}</p>}
      <ul>
        {waits.map((wait) => (
          <li key={`${wait.chat} ${wait.toolCallId}`} data-escalated={wait.escalatedAt !== undefined}>
            <a href={hrefOf(wait.chat)} onClick={onChosen}>
              <strong>
                {wait.tool} {headings[wait.kind]}
              </strong>
              <small>{wait.text}</small>
            </a>
            {wait.chat === current ? null : (
              <Reply
                wait={wait}
                onDecide={(decision) => attempt(approve(wait, decision))}
                onAnswer={(text) => attempt(answer(wait, text))}
              />
            )}
          </li>
        ))}
      </ul>
      {more === undefined ? null : (
        <button type="button" className="quiet" onClick={() => void more()}>
          More of these
        </button>
      )}
    </section>
  )
}

/** The buttons of a decision, or the field of an answer. */
const Reply = ({
  wait: { kind, tool, text },
  onDecide,
  onAnswer
}: {
  readonly wait: Wait
  readonly onDecide: (decision: Parameters<Waits["approve"]>[1]) => void
  readonly onAnswer: (text: string) => void
}): ReactNode => {
  if (kind === "approval" || kind === "unknown_outcome") {
    return (
      <div className="verbs">
        {decisions[kind === "approval" ? "permission" : kind].map(([label, decision]) => (
          <button key={label} type="button" aria-label={`${label}: ${tool}`} onClick={() => onDecide(decision)}>
            {label}
          </button>
        ))}
      </div>
    )
  }
  return <Answer label={kind === "question" ? text : `The result of ${tool}`} onAnswer={onAnswer} />
}
