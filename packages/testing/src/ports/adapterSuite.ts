/**
 * The laws of an adapter, checked through its stream alone.
 *
 * TEXT1. A text that starts with a `text_delta`, even an empty one, is completed by exactly one `text_completed` with the
 *        same text, before `message_completed`. A reply without a text has no `text_completed`.
 */
import { Clock, EventLoop } from "@troupe/otp"
import { AdapterError, describe, StreamError } from "@troupe/chat/errors"
import { AdapterEvent, StreamCollector } from "@troupe/chat/events"
import { Adapter, type Request } from "@troupe/chat/models"
import { holds, type Law, law } from "../law/index.ts"

type AdapterStream = Parameters<typeof Adapter.eventsOf>[0]
type Reason = AdapterError["reason"]

/** An adapter whose provider behaves in one certain way. */
interface AdapterSituation {
  readonly adapter: Adapter.Adapter
  /** The request to send. Default: one user message. */
  readonly request?: Request | undefined
  /** How many requests the provider holds open, if that can be observed. */
  readonly open?: (() => number) | undefined
}

/**
 * The situations in which an adapter is checked; each law makes its own. Laws of absent situations are left out.
 *
 * - `text`: the model sends text, in more than one fragment, and stops
 * - `emptyText`: the provider sends an empty text fragment, and the model stops
 * - `toolCalls`: the model makes at least one call
 * - `refusals`: the provider refuses the request, by reason
 * - `breaks`: the provider fails after its stream has opened
 * - `endless`: the model sends text and never stops
 */
export interface AdapterSituations {
  readonly text: () => AdapterSituation | Promise<AdapterSituation>
  readonly emptyText?: (() => AdapterSituation | Promise<AdapterSituation>) | undefined
  readonly toolCalls?: (() => AdapterSituation | Promise<AdapterSituation>) | undefined
  readonly refusals?: Partial<Record<Reason, () => AdapterSituation | Promise<AdapterSituation>>> | undefined
  readonly breaks?: (() => AdapterSituation | Promise<AdapterSituation>) | undefined
  readonly endless?: (() => AdapterSituation | Promise<AdapterSituation>) | undefined
}

/** How long the release of a transport may take, in milliseconds of the host. */
const releaseMs = 500

const question: Request = { messages: [{ role: "user", content: "hello" }], tools: [] }

const elementsOf = async (
  { adapter, request = question }: AdapterSituation,
  abort = new AbortController()
): Promise<AdapterStream> => {
  const options: Adapter.AdapterOptions = {
    signal: abort.signal,
    requestId: "conformance",
    includeRawChunks: false,
    adapterOptions: {}
  }
  return adapter.stream(request, options)
}

const opened = async (situation: AdapterSituation, abort?: AbortController): Promise<AsyncIterator<AdapterEvent>> =>
  Adapter.eventsOf(await elementsOf(situation, abort))[Symbol.asyncIterator]()

const all = async (situation: AdapterSituation): Promise<ReadonlyArray<AdapterEvent>> => {
  const events: Array<AdapterEvent> = []
  const iterator = await opened(situation)
  for (let next = await iterator.next(); next.done !== true; next = await iterator.next()) events.push(next.value)
  return events
}

const tagsOf = (events: ReadonlyArray<AdapterEvent>): string => events.map(({ type }) => type).join(" ")

const count = (events: ReadonlyArray<AdapterEvent>, type: AdapterEvent["type"]): number =>
  events.filter((event) => event.type === type).length

const inTime = async (what: string, work: Promise<unknown>): Promise<void> => {
  let timer: unknown
  const late = new Promise<never>((_, reject) => {
    timer = Clock.live.setTimeout(() => reject(new Error(`${what} took longer than ${releaseMs} ms`)), releaseMs)
  })
  try {
    await Promise.race([work, late])
  } finally {
    Clock.live.clearTimeout(timer)
  }
}

const openCount = ({ open }: AdapterSituation): number => open?.() ?? 0

const freed = async (situation: AdapterSituation): Promise<void> => {
  const until = Clock.live.now() + releaseMs
  while (openCount(situation) > 0 && Clock.live.now() < until) {
    await new Promise<void>((resolve) => EventLoop.nextTurn(resolve))
  }
  holds(openCount(situation) === 0, () => `the provider still holds ${openCount(situation)} requests open`)
}

const isAdapterEvent = (value: unknown): boolean => AdapterEvent.safeParse(value).success

const framed = (events: ReadonlyArray<AdapterEvent>): void => {
  holds(events.every(isAdapterEvent), () => `not all of these are events: ${tagsOf(events)}`)
  holds(
    events[0]?.type === "message_started" && count(events, "message_started") === 1,
    () => `an adapter's stream starts with its one message_started: ${tagsOf(events)}`
  )
  holds(
    events.at(-1)?.type === "message_completed" && count(events, "message_completed") === 1,
    () => `an adapter's stream ends with its one message_completed: ${tagsOf(events)}`
  )
}

const textLaws = (make: AdapterSituations["text"]): ReadonlyArray<Law> => [
  law("a stream starts with one message_started and ends with one message_completed", async () =>
    framed(await all(await make()))
  ),
  law("text_completed comes once, before message_completed, and is what the deltas say", async () => {
    const events = await all(await make())
    const words = events.flatMap((event) => (event.type === "text_delta" ? [event.delta] : [])).join("")
    const completed = events.flatMap((event) => (event.type === "text_completed" ? [event.text] : []))
    holds(words !== "", () => `the situation \`text\` said nothing: ${tagsOf(events)}`)
    holds(
      completed.length === 1 && completed[0] === words && events.at(-2)?.type === "text_completed",
      () => `deltas "${words}", completed ${JSON.stringify(completed)}: ${tagsOf(events)}`
    )
  }),
  law("each element of a stream is an event, or an array of at least one event", async () => {
    for await (const element of await elementsOf(await make())) {
      const events: ReadonlyArray<unknown> = Array.isArray(element) ? element : [element]
      holds(events.length > 0 && events.every(isAdapterEvent), () => `an element of the stream: ${describe(element)}`)
    }
  }),
  law("an answer ends with the finish reason stop", async () => {
    const last = (await all(await make())).at(-1)
    holds(last?.type === "message_completed" && last.finishReason === "stop", () => `the last event: ${describe(last)}`)
  }),
  law("two streams at once keep their events apart", async () => {
    const situation = await make()
    const [one, other] = await Promise.all([all(situation), all(situation)])
    framed(one)
    framed(other)
  }),
  law("a reader that leaves after two events lets go of the transport", async () => {
    const situation = await make()
    const iterator = await opened(situation)
    await iterator.next()
    await iterator.next()
    await inTime("return", Promise.resolve(iterator.return?.()))
    await freed(situation)
    const after = await iterator.next()
    holds(after.done === true, () => `after return came ${describe(after.value)}`)
  }),
  law("a stream that nobody reads lets go of the transport when it is left", async () => {
    const situation = await make()
    const iterator = await opened(situation)
    await inTime("return", Promise.resolve(iterator.return?.()))
    await freed(situation)
  })
]

/** TEXT1, for the replies of one situation. */
const completionLaw = (name: keyof AdapterSituations, make: AdapterSituations["text"]): Law =>
  law(`every text that an adapter starts is completed, in the situation ${name}`, async () => {
    const events = await all(await make())
    const deltas = events.flatMap((event) => (event.type === "text_delta" ? [event.delta] : []))
    const completed = events.flatMap((event) => (event.type === "text_completed" ? [event.text] : []))
    const expected = deltas.length === 0 ? [] : [deltas.join("")]
    holds(
      JSON.stringify(completed) === JSON.stringify(expected),
      () =>
        `the deltas are ${JSON.stringify(deltas)}, the completed texts ${JSON.stringify(completed)}: ${tagsOf(events)}`
    )
  })

const completionLaws = (situations: AdapterSituations): ReadonlyArray<Law> =>
  (["text", "emptyText", "toolCalls", "breaks"] as const).flatMap((name) => {
    const make = situations[name]
    return make === undefined ? [] : [completionLaw(name, make)]
  })

const callLaws = (make: AdapterSituations["text"]): ReadonlyArray<Law> => [
  law("each call is started, then perhaps said in fragments, then completed once", async () => {
    const events = await all(await make())
    framed(events)
    const calls = events.filter((event) => event.type === "tool_call_completed")
    holds(calls.length > 0, () => `the situation \`toolCalls\` made no call: ${tagsOf(events)}`)
    for (const { id } of calls) {
      const own = events.flatMap((event) => ("id" in event && event.id === id ? [event.type] : []))
      const order = own.join(" ")
      holds(
        /^tool_call_started( tool_call_delta)* tool_call_completed$/.test(order),
        () => `the events of the call ${id}: ${order}`
      )
    }
  }),
  law("a call's arguments are its JSON text, or null", async () => {
    for (const event of await all(await make())) {
      if (event.type !== "tool_call_completed" || event.arguments === null) continue
      const { rawArguments } = event
      const parsed: unknown = rawArguments.trim() === "" ? {} : JSON.parse(rawArguments)
      holds(
        JSON.stringify(parsed) === JSON.stringify(event.arguments),
        () => `${rawArguments} was read as ${JSON.stringify(event.arguments)}`
      )
    }
  }),
  law("calls end with the finish reason tool_calls", async () => {
    const collector = new StreamCollector()
    for (const event of await all(await make())) collector.apply(event)
    const { finishReason } = collector.toResponse()
    holds(finishReason === "tool_calls", () => `the finish reason is ${finishReason}`)
  })
]

const refusalLaws = (refusals: NonNullable<AdapterSituations["refusals"]>): ReadonlyArray<Law> =>
  Object.entries(refusals).map(([reason, make]) =>
    law(`a request refused with ${reason} rejects with that AdapterError, before any event`, async () => {
      const situation = await make()
      const refused = await opened(situation).then(
        () => undefined,
        (error: unknown) => error
      )
      holds(
        refused instanceof AdapterError && refused.reason === reason,
        () => `instead of an AdapterError ${reason} came ${refused === undefined ? "a stream" : describe(refused)}`
      )
      await freed(situation)
    })
  )

const breakLaws = (make: AdapterSituations["text"]): ReadonlyArray<Law> => [
  law("a failure after the stream opened is an error event, never a throw, and the stream ends", async () => {
    const situation = await make()
    const events = await all(situation)
    const errors = events.flatMap((event) => (event.type === "error" ? [event.error] : []))
    holds(
      errors.length > 0 && errors.every((error) => error instanceof AdapterError || error instanceof StreamError),
      () => `the errors: ${errors.map(describe).join(", ")}; the events: ${tagsOf(events)}`
    )
    await freed(situation)
  })
]

const endlessLaws = (make: AdapterSituations["text"]): ReadonlyArray<Law> => [
  law("aborting the signal lets go of the transport, also while an event is awaited", async () => {
    const situation = await make()
    const abort = new AbortController()
    const iterator = await opened(situation, abort)
    await iterator.next()
    const waiting = Promise.resolve(iterator.next()).catch(() => undefined)
    abort.abort()
    await inTime(
      "the end after an abort",
      Promise.resolve(iterator.return?.()).then(() => waiting)
    )
    await freed(situation)
  })
]

/** The laws of `Adapter`, for the situations given. */
export const adapterLaws = (situations: AdapterSituations): ReadonlyArray<Law> => {
  const { text, toolCalls, refusals, breaks, endless } = situations
  return [
    ...textLaws(text),
    ...completionLaws(situations),
    ...(toolCalls === undefined ? [] : callLaws(toolCalls)),
    ...(refusals === undefined ? [] : refusalLaws(refusals)),
    ...(breaks === undefined ? [] : breakLaws(breaks)),
    ...(endless === undefined ? [] : endlessLaws(endless))
  ]
}
