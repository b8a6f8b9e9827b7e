import type { Approval } from "@troupe/chat"
import type { ReactNode } from "react"

/** The calls that wait for a decision. */
export const Approvals = ({
  approvals,
  onDecide
}: {
  readonly approvals: ReadonlyArray<Approval.PendingApproval>
  readonly onDecide: (toolCallId: string, decision: Approval.Decision) => void
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
        <button type="button" className="primary" onClick={() => onDecide(toolCall.id, { type: "allow" })}>
          {kind === "unknown_outcome" ? "Run it again" : "Allow"}
        </button>
        <button type="button" onClick={() => onDecide(toolCall.id, { type: "deny" })}>
          Deny
        </button>
      </div>
    </section>
  ))
