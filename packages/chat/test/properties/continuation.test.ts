/** Chats that continue from a stored snapshot of any moment, in a process and under a bare actor, of random conversations. */
import { isDeepStrictEqual } from "node:util"
import { Process, StateMachine } from "@troupe/otp"
import { expect, test } from "vitest"
import { type AnyActorRef, type AnyMachineSnapshot, createActor, type Snapshot } from "xstate"
import type { Event } from "../../src/events/Event.ts"
import { chatMachine } from "../../src/loop/ChatMachine.ts"
import { environment, provide } from "../../src/loop/provide.ts"
import { comparable } from "../double/comparable.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { chanceOf, partsOf, talkThrough, type Talker } from "../double/randomTalk.ts"
import { seedsOf } from "../../../../tooling/verify/volume.ts"

const check = leakCheck()

const programs = 50
const seeds = seedsOf(programs)

/** The seeds of the run, then the others, which the test needs only for kinds of moments that those have not. */
const inOrder = new Set([...seeds, ...Array.from({ length: programs }, (_, index) => index + 1)])

const pointsPerSeed = 5

/** A chat's stored snapshot, as JSON text. */
type Point = string

/** A program that runs the chat. */
interface Program extends Talker {
  readonly persisted: () => Snapshot<unknown>
  readonly events: ReadonlyArray<Event>
  readonly onMoment: (look: () => void) => void
  readonly stop: () => Promise<void>
}

type Run = (seed: number, from?: Point) => Program

const prepared = (seed: number) => {
  const { system, clock } = check.system()
  const events: Array<Event> = []
  let looks = () => {}
  const onMoment = (look: () => void) => {
    looks = look
  }
  const { engine, options } = partsOf(seed, { system, clock, fake: check.fake, moment: () => looks() })
  const all = { ...options, published: (event: Event) => void events.push(event) }
  return { system, clock, events, engine, options: all, onMoment, advance: (ms: number) => clock.advance(ms) }
}

const inProcess: Run = (seed, from) => {
  const { system, events, engine, options, onMoment, advance } = prepared(seed)
  const env = environment(engine, options)
  const started = from === undefined ? { input: { id: "c" } } : { snapshot: JSON.parse(from) as Snapshot<unknown> }
  const pid = StateMachine.start(system, chatMachine, { ...started, env })
  return {
    events,
    onMoment,
    advance,
    state: () => StateMachine.snapshot(pid),
    send: (event) => Process.send(pid, event),
    persisted: () => StateMachine.persisted(pid),
    stop: async () => {
      Process.kill(pid)
      await advance(100)
    }
  }
}

const bare: Run = (seed, from) => {
  const { clock, events, engine, options, onMoment, advance } = prepared(seed)
  const machine = provide(engine, options)
  const actor =
    from === undefined
      ? createActor(machine, { input: { id: "c" }, clock })
      : createActor(machine, { input: { id: "c" }, snapshot: JSON.parse(from) as Snapshot<unknown>, clock })
  actor.start()
  return {
    events,
    onMoment,
    advance,
    state: () => actor.getSnapshot(),
    send: (event) => actor.send(event),
    persisted: () => actor.getPersistedSnapshot(),
    stop: async () => {
      actor.stop()
      await advance(100)
    }
  }
}

/** The contexts of a machine and of the machines below it. */
const contextsOf = (snapshot: unknown): ReadonlyArray<unknown> => {
  const { context, children = {} } = snapshot as Partial<AnyMachineSnapshot>
  const below = Object.values(children as Readonly<Record<string, AnyActorRef | undefined>>)
  return [
    ...(context === undefined ? [] : [context]),
    ...below.flatMap((child) => contextsOf(child?.getSnapshot() ?? {}))
  ]
}

interface End {
  readonly end: unknown
  /** The last `chat_completed` of the program; a program that began after it has none. */
  readonly last?: unknown
}

/**
 * Stores the snapshots of a program: before and after its time passes, and in the microtasks after a request, a tool, a
 * hook, a question or a commit began, when some of its events are on their way.
 */
const watched = (program: Program, points: Set<Point>): Program => {
  const look = () => {
    const persisted = program.persisted()
    const text = JSON.stringify(persisted)
    if (points.has(text) || isInterrupting(text)) return
    points.add(text)
    expect(JSON.stringify(structuredClone(persisted))).toBe(text)
    for (const context of contextsOf(program.state())) {
      expect(JSON.stringify(structuredClone(context))).toBe(JSON.stringify(context))
    }
  }
  const lookOn = async (): Promise<void> => {
    for (let task = 0; task < 8; task++) {
      await Promise.resolve()
      look()
    }
  }
  program.onMoment(() => void lookOn())
  const advance = async (ms: number): Promise<void> => {
    await lookOn()
    await program.advance(ms)
    look()
  }
  return { ...program, advance }
}

/**
 * Whether a cancel interrupts a handler at this moment. The program that was stored ends the call as `cancelled`. The one
 * that continues does not run the handler again, and ends the call as `abandoned` (BATCH10).
 */
const isInterrupting = (text: Point): boolean => text.includes('"name":"waits"') && /\{"cancelled":true\}/u.test(text)

/** Runs a conversation to its end; gives the end, and with `points` the stored snapshots of its moments. */
const talked = async (run: Run, seed: number, from?: Point, points?: Set<Point>): Promise<End> => {
  const program = run(seed, from)
  try {
    const end = await talkThrough(seed, points === undefined ? program : watched(program, points))
    return comparable({ end, last: program.events.findLast(({ type }) => type === "chat_completed") }) as End
  } finally {
    await program.stop()
  }
}

/** What the points of a kind of moment say. */
const moments = {
  "a request that streams": '"value":"streaming"',
  "the calls of a reply": '"phaseB"',
  "calls that run": '"src":"toolCall"',
  "calls that end after a cancel": '"value":"cancelling"',
  "a turn that is cancelled": '"stopped":"cancelled"',
  "a question": '"value":"awaitingUser"',
  "an approval": '"value":"awaitingApproval"',
  "calls of the caller": '"value":"awaitingTools"',
  "a commit": '"committing"'
}

/** Different points at random: first one of each kind of moment that no point has been of, if there is any. */
const some = (points: ReadonlySet<Point>, missing: Set<string>, chance: () => number): ReadonlyArray<Point> => {
  const left = [...points]
  const taken: Array<Point> = []
  const take = (from: ReadonlyArray<Point>): void => {
    const point = from[Math.floor(chance() * from.length)]
    if (point === undefined) return
    taken.push(point)
    left.splice(left.indexOf(point), 1)
    for (const kind of missing) if (point.includes(kind)) missing.delete(kind)
  }
  for (const kind of missing) take(left.filter((point) => point.includes(kind)))
  while (taken.length < pointsPerSeed && left.length > 0) take(left)
  return taken
}

test.each([
  ["in a process", inProcess],
  ["under a bare actor", bare]
] as const)(
  "BATCH10, PERSIST3 a chat %s continues from random moments of random conversations to the same end",
  { timeout: 300_000 },
  async (_where, run) => {
    let tried = 0
    const missing = new Set(Object.values(moments))
    for (const seed of inOrder) {
      if (missing.size === 0 && !seeds.includes(seed)) break
      const points = new Set<Point>()
      const end = await talked(run, seed, undefined, points)
      for (const point of some(points, missing, chanceOf("points", seed))) {
        tried++
        const continued = { ...end, ...(await talked(run, seed, point)) }
        if (!isDeepStrictEqual(continued, end)) expect(continued, `seed ${seed} from ${point}`).toEqual(end)
      }
    }
    expect(tried).toBeGreaterThanOrEqual(4 * seeds.length)
    expect(Object.entries(moments).filter(([, text]) => missing.has(text))).toEqual([])
  }
)
