/** The decisions that a person can make about a call. */
import type { Decision } from "@troupe/chat/tools"

/** Why a call needs a decision. */
export type DecisionKind = "permission" | "unknown_outcome"

/** A decision with its word on a button, and its word once it was made. */
export interface NamedDecision {
  readonly label: string
  readonly done: string
  readonly decision: Decision
}

/** The possible decisions, the expected one first. */
export const decisionsFor: Readonly<Record<DecisionKind, ReadonlyArray<NamedDecision>>> = {
  permission: [
    { label: "Allow", done: "Allowed", decision: { type: "allow" } },
    { label: "Deny", done: "Denied", decision: { type: "deny" } }
  ],
  unknown_outcome: [
    {
      label: "It took effect",
      done: "It took effect",
      decision: { type: "result", value: "it took effect, as a person saw" }
    },
    {
      label: "It did not",
      done: "It took no effect",
      decision: { type: "deny", reason: "it did not take effect, as a person saw" }
    },
    { label: "Run it again", done: "It runs again", decision: { type: "allow" } }
  ]
}

/** What a card asks. */
export const questionFor: Readonly<Record<DecisionKind, string>> = {
  permission: "May this run?",
  unknown_outcome: "Did this take effect?"
}
