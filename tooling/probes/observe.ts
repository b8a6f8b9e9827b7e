/** Runs a turn and records its events. */
import type { Conversation, Framework, Received, Setup } from "./framework.ts"
import type { ScriptedModel } from "./scriptedModel.ts"
import type { Ledger } from "./toolbox.ts"

/** The observations of a probe. */
export interface Observation {
  readonly wallMs: number
  /** The processor time of the whole program. */
  readonly cpuMs: number
  /** The tags of the events, in order; consecutive texts are one. */
  readonly events: ReadonlyArray<string>
  readonly outcomes: Readonly<Record<string, ReadonlyArray<string>>>
  /** Side effects after the end, and how many of them the framework reported. */
  readonly lateEffects: number
  readonly lateReports: number
  /** Model streams opened and released. */
  readonly opened: number
  readonly released: number
  /** Words taken from the model before the reader had them; `undefined` when the probe does not measure that. */
  readonly pulledAhead: number | undefined
  /** Why the turn ended; `"cut"` on the probe's own timeout. */
  readonly end: string
  readonly note: string | undefined
}

/** The events so far. */
export class Transcript {
  readonly events: Array<string> = []
  readonly outcomes: Record<string, Array<string>> = {}
  texts = 0
  end = ""

  receive(received: Received): void {
    if (received.type === "text") this.texts++
    if (received.type === "outcome") (this.outcomes[received.callId] ??= []).push(received.outcome)
    if (received.type === "end") this.end = received.reason
    const tag = tagOf(received)
    if (this.events.at(-1) !== tag) this.events.push(tag)
  }
}

const tagOf = (received: Received): string => {
  switch (received.type) {
    case "outcome":
      return `${received.callId}:${received.outcome}`
    case "other":
      return received.name
    default:
      return received.type
  }
}

/** Reads to the end, at most `cutMs`; `onReceived` may return `"leave"`. */
export const read = async (
  events: AsyncIterable<Received>,
  transcript: Transcript,
  cutMs: number,
  onReceived: (received: Received) => "leave" | undefined = () => undefined
): Promise<void> => {
  const { promise: cut, resolve } = Promise.withResolvers<"cut">()
  const timer = setTimeout(() => resolve("cut"), cutMs)
  const reading = async (): Promise<"read"> => {
    for await (const received of events) {
      transcript.receive(received)
      if (onReceived(received) === "leave") break
    }
    return "read"
  }
  try {
    const how = await Promise.race([reading(), cut])
    if (how === "cut") transcript.end = "cut"
  } catch (error) {
    transcript.end = `threw ${error instanceof Error ? error.message : String(error)}`
  } finally {
    clearTimeout(timer)
  }
}

/** Makes the observation. */
export const observed = (
  transcript: Transcript,
  {
    model,
    ledger,
    conversation,
    wallMs,
    cpuMs,
    pulledAhead,
    note
  }: {
    readonly model: ScriptedModel
    readonly ledger: Ledger
    readonly conversation: Conversation
    readonly wallMs: number
    readonly cpuMs: number
    readonly pulledAhead: number | undefined
    readonly note: string | undefined
  }
): Observation => ({
  wallMs,
  cpuMs,
  events: transcript.events,
  outcomes: transcript.outcomes,
  lateEffects: ledger.late,
  lateReports: conversation.lateReports(),
  opened: model.opened,
  released: model.released,
  pulledAhead,
  end: transcript.end,
  note
})

/** Starts a conversation, and always ends it. */
export const withConversation = async <A>(
  framework: Framework,
  setup: Setup,
  use: (conversation: Conversation) => Promise<A>
): Promise<A> => {
  const conversation = await framework.start(setup)
  try {
    return await use(conversation)
  } finally {
    await Promise.race([conversation.close(), new Promise((resolve) => setTimeout(resolve, 2_000).unref())])
  }
}
