import type { Decision, PendingApproval } from "@troupe/chat/tools"
import { type ReactNode, useState } from "react"

/** The possible decisions about a call, by the reason why it waits. */
export const decisions: Readonly<
  Record<"permission" | "unknown_outcome", ReadonlyArray<readonly [label: string, decision: Decision]>>
> = {
  permission: [
    ["Allow", { type: "allow" }],
    ["Deny", { type: "deny" }]
  ],
  unknown_outcome: [
    ["It took effect", { type: "result", value: "it took effect, as a person saw" }],
    ["It did not", { type: "deny", reason: "it did not take effect, as a person saw" }],
    ["Run it again", { type: "allow" }]
  ]
}

const questions: Readonly<Record<PendingApproval["kind"], string>> = {
  permission: "May this run?",
  unknown_outcome: "It is not known whether this call took effect:",
  question: "A question:",
  tool_result: "This call needs a result:"
}

/** The calls that wait for a decision, and what sub-agents wait for. */
export const Approvals = ({
  approvals,
  onDecide
}: {
  readonly approvals: ReadonlyArray<PendingApproval>
  readonly onDecide: (toolCallId: string, decision: Decision) => void
}): ReactNode =>
  approvals.map(({ toolCall, reason, kind, agent }) => (
    <section key={toolCall.id} className="approval" aria-label={`Decision about ${toolCall.name}`}>
      <p>
        {agent === undefined ? null : <strong>{agent}: </strong>}
        {questions[kind]}{" "}
        <code>
          {toolCall.name}({toolCall.arguments === null ? toolCall.rawArguments : JSON.stringify(toolCall.arguments)})
        </code>
      </p>
      {reason === "" ? null : <p className={kind === "question" ? undefined : "note"}>{reason}</p>}
      {kind === "question" || kind === "tool_result" ? (
        <Answer
          label={kind === "question" ? reason : `The result of ${toolCall.name}`}
          onAnswer={(value) => onDecide(toolCall.id, { type: "result", value })}
        />
      ) : (
        <div className="verbs">
          {decisions[kind].map(([label, decision], place) => (
            <button
              key={label}
              type="button"
              className={place === 0 ? "primary" : undefined}
              onClick={() => onDecide(toolCall.id, decision)}
            >
              {label}
            </button>
          ))}
        </div>
      )}
    </section>
  ))

/** The field of an answer. */
export const Answer = ({
  label,
  onAnswer
}: {
  readonly label: string
  readonly onAnswer: (text: string) => void
}): ReactNode => {
  const [said, setSaid] = useState("")
  return (
    <form
      className="verbs"
      onSubmit={(event) => {
        event.preventDefault()
        if (said !== "") onAnswer(said)
      }}
    >
      <label>
        <span className="hidden">{label}</span>
        <input value={said} onChange={(event) => setSaid(event.target.value)} />
      </label>
      <button type="submit">Answer</button>
    </form>
  )
}
