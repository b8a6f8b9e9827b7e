import type { Decision, PendingApproval } from "@troupe/chat/tools"
import type { ReactNode } from "react"

/** The possible decisions, by the reason why the call waits. */
export const decisions: Readonly<
  Record<PendingApproval["kind"], ReadonlyArray<readonly [label: string, decision: Decision]>>
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

/** The calls that wait for a decision. */
export const Approvals = ({
  approvals,
  onDecide
}: {
  readonly approvals: ReadonlyArray<PendingApproval>
  readonly onDecide: (toolCallId: string, decision: Decision) => void
}): ReactNode =>
  approvals.map(({ toolCall, reason, kind }) => (
    <section key={toolCall.id} className="approval" aria-label={`Decision about ${toolCall.name}`}>
      <p>
        {kind === "unknown_outcome" ? "It is not known whether this call took effect:" : "May this run?"}{" "}
        <code>
          {toolCall.name}({JSON.stringify(toolCall.arguments ?? {})})
        </code>
      </p>
      {reason === undefined || reason === "" ? null : <p className="note">{reason}</p>}
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
    </section>
  ))
