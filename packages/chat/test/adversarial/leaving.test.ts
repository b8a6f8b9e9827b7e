/** A reader that leaves, in every way, from every stream, at every point of it, leaves nothing behind. */
import type { Clock, System } from "@troupe/otp"
import { Effect, Fiber, Stream } from "effect"
import { expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import * as ChatEffect from "../../src/troupe/ChatEffect.ts"
import * as Engine from "../../src/options/Engine.ts"
import type { Event } from "../../src/events/Event.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import * as Session from "../../src/session/Session.ts"
import { streamToolCalls } from "../../src/session/ToolRunner.ts"
import {
  begins,
  calling,
  countedAdapter,
  type CountedAdapter,
  ends,
  endsCalling,
  saying,
  type Spoken
} from "../double/countedAdapter.ts"
import { hop } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { heldBy } from "../double/processes.ts"
import { refusal } from "../double/refusal.ts"
import { handling, hi } from "../double/scripts.ts"
import { spiedSignal, type SpiedSignal } from "../double/spiedSignal.ts"

const check = leakCheck()

/** The place where everything stands still for ever, so that a reader can leave in the middle of it. */
type Stall = "nowhere" | "model" | "tool" | "deaf tool"

interface Stage {
  readonly system: System.System
  readonly clock: Clock.TestClock
  readonly signal: SpiedSignal
  readonly adapter: CountedAdapter
  readonly engine: Engine.Engine
  /** The signals that handlers were given and have not done with. */
  readonly held: ReadonlySet<AbortSignal>
}

const drainMs = 1_000

const answer: Spoken = [begins, saying("all "), saying("done"), ends]
const requestsTools: Spoken = [
  begins,
  saying("let me "),
  saying("see"),
  calling("c0", "quick"),
  calling("c1", "slow"),
  endsCalling
]

const stage = (stall: Stall): Stage => {
  const { system, clock } = check.system()
  const held = new Set<AbortSignal>()
  const slow = handling("slow", async (_args, { signal }) => {
    held.add(signal)
    if (stall === "tool") await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
    if (stall === "deaf tool") await new Promise(() => {})
    held.delete(signal)
    return ok("slow")
  })
  const stalled: Spoken = [begins, saying("let me "), "hang"]
  const adapter = countedAdapter(stall === "model" ? stalled : requestsTools, answer)
  const engine = Engine.make({ adapter, tools: [handling("quick", () => ok("quick")), slow] })
  return { system, clock, signal: spiedSignal(), adapter, engine, held }
}

type Events = AsyncIterator<Event> & AsyncIterable<Event>

const options = ({ system, signal }: Stage) => ({ system, signal: signal.signal, drainMs })

const toolCalls = ["quick", "slow"].map((name, index) => ({ id: `c${index}`, name, arguments: {} }))

const forms: Readonly<Record<string, (stage: Stage) => Promise<Events>>> = {
  "Chat.stream": (on) => Chat.stream(on.engine, hi, options(on)),
  "Chat.streamStep": (on) => Chat.streamStep(on.engine, hi, options(on)),
  "Chat.streamGenerate": (on) => Chat.streamGenerate(on.engine, hi, options(on)),
  "Session.streamStart": (on) => Session.streamStart(on.engine, hi, options(on)),
  "Session.streamStep": (on) => Session.streamStep(on.engine, Session.make({ thread: hi }), options(on)),
  "ToolRunner.streamToolCalls": async (on) =>
    streamToolCalls(toolCalls, on.engine.tools, { ...options(on), engine: on.engine })
}

/** Reads to the end; a batch that was aborted before it began says so with the signal's reason. */
const readOn = async (stream: Events, asked = stream.next()): Promise<void> => {
  for (let next = await asked.catch(unlessAborted); next.done !== true; next = await stream.next());
}

const unlessAborted = (error: unknown): IteratorResult<Event> => {
  if (error instanceof DOMException && error.name === "AbortError") return { done: true, value: undefined }
  throw error
}

const leave = async (stream: Events): Promise<void> => void (await stream.return?.())

/** How a reader leaves behind so many events. */
const ways: Readonly<Record<string, (stream: Events, on: Stage) => Promise<unknown>>> = {
  return: (stream) => leave(stream),
  "return, asked for an event": (stream) => Promise.all([stream.next(), leave(stream)]),
  "return, twice": (stream) => Promise.all([leave(stream), leave(stream)]),
  throw: (stream) => refusal(() => stream.throw?.(new Error("mine"))),
  "abort, and read on": async (stream, { signal }) => {
    signal.abort()
    await readOn(stream)
  },
  "abort, asked for an event, and read on": async (stream, { signal }) => {
    const asked = stream.next()
    signal.abort()
    await readOn(stream, asked)
  },
  "abort, and read no more": async (_stream, { signal }) => signal.abort(),
  "abort and return": async (stream, { signal }) => {
    signal.abort()
    await leave(stream)
  }
}

/** Reads so many events; `false` when there are not so many, or the next does not come. */
const readSome = async (stream: Events, count: number): Promise<boolean> => {
  for (let read = 0; read < count; read++) {
    const next = stream.next().then(({ done }) => done !== true)
    if (!(await Promise.race([next, hop().then(() => false)]))) return false
  }
  return true
}

/** Everything a reader may have left behind. */
const leftBehind = ({ system, clock, signal, adapter, held }: Stage) => ({
  ...heldBy(system),
  pending: clock.pending,
  listeners: signal.listeners,
  open: adapter.streams.filter(({ released, returned }) => released !== 1 || returned > 1).length,
  unnotified: [...held].filter(({ aborted }) => !aborted).length
})

const nothing = { processes: 0, fibers: 0, timers: 0, closing: 0, pending: 0, listeners: 0, open: 0, unnotified: 0 }

const stalls: ReadonlyArray<Stall> = ["nowhere", "model", "tool", "deaf tool"]
const most = 40

for (const [form, open] of Object.entries(forms)) {
  for (const [way, leaves] of Object.entries(ways)) {
    test(`${form}: a reader that leaves (${way}) leaves nothing behind, wherever it was`, async () => {
      for (const stall of stalls) {
        for (let place = 0; place <= most; place++) {
          const on = stage(stall)
          const stream = await open(on)
          const isThere = await readSome(stream, place)
          const leaving = leaves(stream, on)
          await hop()
          if (stall === "deaf tool") await on.clock.advance(drainMs)
          await leaving
          await hop()
          expect({ stall, place, ...leftBehind(on) }).toEqual({ stall, place, ...nothing })
          if (!isThere) break
        }
      }
    })
  }
}

test("a request that is aborted before it opened leaves nothing behind, and is let go of should it open later", async () => {
  for (const form of ["Chat.stream", "Chat.streamStep", "Chat.streamGenerate", "Session.streamStart"]) {
    const on = stage("nowhere")
    const opens = Promise.withResolvers<void>()
    const adapter = {
      ...on.adapter,
      stream: (...args: Parameters<typeof on.adapter.stream>) => opens.promise.then(() => on.adapter.stream(...args))
    }
    const stream = await forms[form]?.({ ...on, engine: Engine.make({ adapter }) })
    const reading = stream === undefined ? undefined : readOn(stream)
    await hop()
    on.signal.abort()
    await hop()
    await on.clock.advance(drainMs)
    await reading
    await hop()
    expect({ form, ...leftBehind(on) }).toEqual({ form, ...nothing })
    opens.resolve()
    await hop()
    expect(on.adapter.streams).toMatchObject([{ released: 1, returned: 1, aborted: true }])
  }
})

test("ChatEffect.stream: a fiber that is interrupted leaves nothing behind, wherever it was", async () => {
  for (const stall of stalls) {
    for (let place = 0, isThere = true; place <= most && isThere; place++) {
      const on = stage(stall)
      let read = 0
      const reading = ChatEffect.stream(on.engine, hi, options(on)).pipe(
        Stream.runForEach(() => (++read > place ? Effect.never : Effect.void))
      )
      const fiber = Effect.runFork(reading)
      await hop()
      isThere = read > place
      const interrupted = Effect.runPromise(Fiber.interrupt(fiber))
      await hop()
      if (stall === "deaf tool") await on.clock.advance(drainMs)
      await interrupted
      await hop()
      expect({ stall, place, ...leftBehind(on) }).toEqual({ stall, place, ...nothing })
    }
  }
})
