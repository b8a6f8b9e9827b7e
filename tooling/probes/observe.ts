/** Runs a turn and writes down what is heard. */
import type { Conversation, Framework, Heard, Setup } from "./framework.ts"
import type { ScriptedModel } from "./scriptedModel.ts"
import type { Ledger } from "./toolbox.ts"

/** What a probe saw. */
export interface Observation {
  readonly wallMs: number
  /** Processor time of the whole program. */
  readonly cpuMs: number
  /** Tags in the order heard, texts as one. */
  readonly events: ReadonlyArray<string>
  readonly outcomes: Readonly<Record<string, ReadonlyArray<string>>>
  /** Side effects after the end, and how many of them the framework told of. */
  readonly lateEffects: number
  readonly lateReports: number
  /** Model streams opened and given back. */
  readonly opened: number
  readonly released: number
  /** Words taken from the model that the reader had not heard; `undefined` where that is not what is probed. */
  readonly pulledAhead: number | undefined
  /** Why the turn ended; `"cut"` if the probe had to stop waiting. */
  readonly end: string
  readonly note: string | undefined
}

/** What was heard so far. */
export class Hearing {
  readonly events: Array<string> = []
  readonly outcomes: Record<string, Array<string>> = {}
  texts = 0
  end = ""

  hear(heard: Heard): void {
    if (heard.type === "text") this.texts++
    if (heard.type === "outcome") (this.outcomes[heard.callId] ??= []).push(heard.outcome)
    if (heard.type === "end") this.end = heard.reason
    const tag = tagOf(heard)
    if (this.events.at(-1) !== tag) this.events.push(tag)
  }
}

const tagOf = (heard: Heard): string => {
  switch (heard.type) {
    case "outcome":
      return `${heard.callId}:${heard.outcome}`
    case "other":
      return heard.name
    default:
      return heard.type
  }
}

/** Reads to the end, at most `cutMs`; `onHeard` may answer `"leave"`. */
export const read = async (
  events: AsyncIterable<Heard>,
  hearing: Hearing,
  cutMs: number,
  onHeard: (heard: Heard) => "leave" | undefined = () => undefined
): Promise<void> => {
  const { promise: cut, resolve } = Promise.withResolvers<"cut">()
  const timer = setTimeout(() => resolve("cut"), cutMs)
  const reading = async (): Promise<"read"> => {
    for await (const heard of events) {
      hearing.hear(heard)
      if (onHeard(heard) === "leave") break
    }
    return "read"
  }
  try {
    const how = await Promise.race([reading(), cut])
    if (how === "cut") hearing.end = "cut"
  } catch (error) {
    hearing.end = `threw ${error instanceof Error ? error.message : String(error)}`
  } finally {
    clearTimeout(timer)
  }
}

/** What came of it. */
export const observed = (
  hearing: Hearing,
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
  events: hearing.events,
  outcomes: hearing.outcomes,
  lateEffects: ledger.late,
  lateReports: conversation.lateReports(),
  opened: model.opened,
  released: model.released,
  pulledAhead,
  end: hearing.end,
  note
})

/** Starts a conversation, and ends it whatever happens. */
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
