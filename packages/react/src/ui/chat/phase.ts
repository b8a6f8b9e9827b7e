/** The phases of a chat, for people. */
import type { ChatView } from "@troupe/chat/view"

type Phase = ChatView.ChatView["phase"]

const texts: Readonly<Record<Phase, string>> = {
  idle: "Ready",
  interrupted: "Interrupted",
  awaitingUser: "A tool asks you",
  awaitingTools: "Waits for tool results",
  awaitingApproval: "Waits for your decision",
  committing: "Storing …",
  compacting: "Summarizing earlier messages …",
  requesting: "Asking the model …",
  streaming: "The model answers …",
  runningTools: "Tools run …",
  runningHooks: "Hooks run …",
  completing: "Finishing …",
  moved: "Moved"
}

/** A phase in words. */
export const phaseText = (phase: Phase): string => texts[phase]

const resting: ReadonlySet<Phase> = new Set<Phase>([
  "idle",
  "interrupted",
  "awaitingUser",
  "awaitingTools",
  "awaitingApproval",
  "moved"
])

/** Whether a turn runs. */
export const isBusy = (phase: Phase): boolean => !resting.has(phase)

/** What the work is: it runs, waits for a person, needs one, or rests. */
export const workOf = (phase: Phase): "running" | "waiting" | "interrupted" | "idle" =>
  phase === "interrupted" ? "interrupted" : isBusy(phase) ? "running" : phase === "idle" ? "idle" : "waiting"
