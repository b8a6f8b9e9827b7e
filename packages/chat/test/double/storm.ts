/**
 * A random program under a seed: what a person does to a chat whose every await goes on, fails, answers late or never, while its
 * processes and its programs end.
 *
 * Owns: the programs of one conversation, one after another, and what is known of them. Does not own the chat, which a target starts.
 */
import { Clock } from "@troupe/otp"
import type { Message } from "../../src/model/messageShapes.ts"
import type { Conversation } from "../../src/record/Conversation.ts"
import { memory } from "../../src/store/Store.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"
import { turnsOfLoop } from "./pausing.ts"
import { isOfStore, type Point, Points } from "./points.ts"
import { anyOf, pick, type Some } from "./randomParts.ts"
import { chanceOf } from "./randomTalk.ts"
import { Deeds, optionsOf } from "./stormModel.ts"
import { Person } from "./stormPerson.ts"
import { StormRecord } from "./stormRecord.ts"

/**
 * What happens at a point, other than that it goes on.
 *
 * - `fails`: nothing is done, and the answer is an error
 * - `is lost`: it is done, and the answer is an error
 * - `is late`: it is done and answered after others, or when nobody waits for it
 * - `is silent`: nothing is done, and there is no answer
 */
type Fate = "fails" | "is lost" | "is late" | "is silent"

/** A program with the chat `c`, and how it ends. */
interface StormProgram {
  readonly chat: LocalChatRef
  /** Kills one of its processes, and returns its name; `undefined` if it has none. */
  readonly kill: (chance: () => number) => string | undefined
  /** Stops the program as its host would. */
  readonly stop: () => Promise<void>
  /** Forgets the program, whose points answer no more. */
  readonly drop: () => void
}

/** A kind of chat that storms run against. */
export interface StormTarget {
  /** Starts a program; its random numbers are those of the seed. */
  readonly open: (options: TroupeOptions, clock: Clock.TestClock, seed: number) => Promise<StormProgram>
  /** The fates that the chat withstands at a point of this name. */
  readonly fatesOf: (name: string) => Some<Fate>
}

/** What is known of a storm that is over. */
export interface Storm {
  /** What happened, in order. */
  readonly trace: ReadonlyArray<string>
  readonly person: Person
  readonly deeds: Deeds
  /** The thread that the chat shows, and the record in the store. */
  readonly thread: ReadonlyArray<Message>
  readonly record: Conversation | undefined
  /** How often this happened. */
  readonly count: (what: string) => number
}

interface Outcome<A> {
  isOver: boolean
  value: A | undefined
}

/** The outcome of a promise: over, and with its value unless it was rejected, once it has settled. */
const outcomeOf = <A>(promise: Promise<A> | undefined): Outcome<A> => {
  const outcome: Outcome<A> = { isOver: promise === undefined, value: undefined }
  const settled = (value?: A): void => void Object.assign(outcome, { isOver: true, value })
  promise?.then(settled, () => settled())
  return outcome
}

/** How many rounds a storm may take until its chat is at rest without faults. */
const mostRounds = 300

/** Runs the storm of this seed until its chat is at rest without faults. */
export const stormOf = async (target: StormTarget, seed: number): Promise<Storm> => {
  const chance = chanceOf("storm", seed)
  const odds = (share: number): boolean => chance() < share
  const share = {
    faults: pick(chance, [0, 0.05, 0.15]),
    ends: pick(chance, [0, 0.02, 0.05]),
    atOnce: pick(chance, [0, 0, 0.4])
  }
  const drainMs = pick(chance, [0, 1_000])
  const schedule = pick(chance, ["effects", "effects", "concurrent"] as const)
  const store = memory({ clock: Clock.test() })
  const record = new StormRecord(store)
  const deeds = new Deeds()
  const { wrong } = deeds
  const trace: Array<string> = []
  let now = 0
  let programs = 0
  let isClosing = false
  /** Whether the model calls no more tools. */
  let isTired = false
  /** The writes of ended programs that the store may still get. */
  let landing: ReadonlyArray<Point> = []
  /** The chat may differ from its record, after a write failed or was late, until a turn completes that began later. */
  let doubts = 0
  let isUnsure = false

  let points = new Points()
  let clock = Clock.test()
  let tasks: Array<() => void> = []
  let program: StormProgram | undefined

  const doubt = (): void => {
    doubts += 1
    isUnsure = true
  }
  const turnBegins = () => {
    const before = doubts
    return () => {
      if (before === doubts) isUnsure = false
    }
  }
  const tick = () => (now += 1)
  const person = new Person({ chance, tick, record, trace, wrong, turnBegins, endTask: () => tasks.shift()?.() })

  const go = (point: Point): void => {
    points.take(point)
    const fate = isClosing || !odds(share.faults) ? "goes on" : pick(chance, target.fatesOf(point.name))
    trace.push(`${point.name} ${fate}`)
    // A write that waits behind it may be given up.
    if (isOfStore(point) && fate !== "goes on") doubt()
    if (fate === "goes on") point.goOn()
    else if (fate === "fails") point.fail()
    else if (fate === "is lost") point.lose()
    else if (fate === "is late") points.sleep(point)
  }

  /** A point answers late, and the store gets a write of an ended program. */
  const wake = (): void => {
    const late = anyOf(chance, points.asleep)
    const landed = anyOf(chance, landing)
    if (late !== undefined) points.take(late)
    landing = landing.filter((other) => other !== landed)
    for (const point of [late, landed]) {
      if (point === undefined) continue
      trace.push(`${point.name} ${point === late ? "late" : "landed"}`)
      point.goOn()
    }
  }

  /** Time passes, in steps shorter than anybody waits for the store. */
  const passes = async (ms: number): Promise<void> => {
    trace.push("time")
    let isLate = false
    for (let left = ms; left > 0; left -= 500) {
      await turnsOfLoop(2)
      for (const point of points.waiting.filter(isOfStore)) {
        isLate = true
        if (!target.fatesOf(point.name).includes("is late")) points.take(point)
      }
      isLate ||= isUnsure
      if (isLate) doubt()
      await clock.advance(Math.min(left, 500))
      isLate ||= points.waiting.some(isOfStore)
    }
    if (isLate) doubt()
  }

  const begin = async (): Promise<void> => {
    clock = Clock.test()
    points = new Points()
    tasks = []
    programs += 1
    person.programBegins()
    const around = { chance, deeds, tick, record, points, tasks, schedule, isTired: () => isTired }
    const options = { ...optionsOf(around), drainMs, store: points.store(store, () => odds(share.atOnce)) }
    const opening = outcomeOf(target.open(options, clock, seed * 1_000 + programs))
    for (let round = 1; !opening.isOver; round++) {
      await turnsOfLoop(2)
      for (const point of points.waiting.slice(0, 1)) go(point)
      if (round % 10 === 0) await passes(6_000)
    }
    program = opening.value
    if (program !== undefined) return
    trace.push("no start")
    landing = [...landing, ...points.end()]
    await begin()
  }

  /** Ends the program. What is on its way to the store may still get there. */
  const end = async (): Promise<void> => {
    landing = [...landing, ...points.end().filter(() => odds(0.5))]
    program?.drop()
    program = undefined
    await begin()
    doubt()
  }

  const stop = async (): Promise<void> => {
    const stopping = outcomeOf(program?.stop())
    for (let round = 0; !stopping.isOver && round < 30; round++) {
      await turnsOfLoop(2)
      const point = anyOf(chance, points.waiting)
      if (point === undefined) await passes(2_000)
      else go(point)
    }
    await end()
  }

  const contextNow = () => program?.chat.getSnapshot()?.context

  /** At rest, the chat shows what the store has. What an interrupted chat makes of its record is stored with its next turn. */
  const compare = (): void => {
    const context = contextNow()
    const isOpen = [...points.waiting, ...points.asleep].some(isOfStore)
    if (context === undefined || program?.chat.pid === undefined || isUnsure || isOpen) return
    if (context.turn !== undefined || ["committing", "interrupted"].includes(context.phase)) return
    const { thread, open, pendingQuestion } = record.record ?? {}
    const shown = JSON.stringify([context.thread.messages, context.open, context.pendingQuestion])
    const stored = JSON.stringify([thread?.messages ?? [], open, pendingQuestion])
    if (shown !== stored)
      wrong.push(`${context.phase} at step ${trace.length}, the chat shows ${shown}, the store has ${stored}`)
  }

  const happens = async ({ chat, kill }: StormProgram): Promise<void> => {
    const dice = chance()
    if (dice < 0.18) person.act(chat)
    else if (dice < 0.18 + share.ends) {
      trace.push(`kill ${kill(chance)}`)
      doubt()
    } else if (dice < 0.18 + 1.7 * share.ends) {
      trace.push("program ends")
      await end()
    } else if (dice < 0.18 + 2 * share.ends) {
      trace.push("program stops")
      await stop()
    } else if (dice < 0.31) wake()
    else if (dice < 0.34) await passes(pick(chance, [10, 2_000, 6_000]))
    else {
      for (let left = pick(chance, [1, 1, 2, 3]); left > 0; left--) {
        const point = anyOf(chance, points.waiting)
        if (point !== undefined) go(point)
        await turnsOfLoop(pick(chance, [0, 1, 2]))
      }
    }
    await turnsOfLoop(pick(chance, [0, 1, 2, 3]))
  }

  /** The person does what lets the chat come to rest; returns whether it is. */
  const settle = (quiet: number): boolean => {
    const chat = program?.chat
    const context = contextNow()
    if (chat === undefined) return false
    chat.resume()
    if (chat.pid === undefined) {
      if (quiet % 4 === 3) person.does(chat.thread.messages.length > 0 ? "retry" : "send", chat)
    } else if (context?.turn !== undefined) {
      if (quiet % 8 === 6) person.does("cancel", chat)
    } else if (context?.phase === "interrupted") person.does("retry", chat)
    else if ((context?.pendingApprovals.length ?? 0) > 0) person.does("decide", chat)
    else if ((context?.pendingToolCalls.length ?? 0) > 0) person.does("submit", chat)
    else if (context?.pendingQuestion !== undefined) person.does("send", chat)
    else if (person.unsettled.length > 0) return false
    // The next turn stores what is not stored.
    else if (isUnsure) person.does("send", chat)
    else return context?.phase === "idle"
    return false
  }

  await begin()
  for (let left = 20 + Math.floor(chance() * 50); left > 0; left--) {
    if (program !== undefined) await happens(program)
    if (left % 4 === 0) compare()
  }
  trace.push("closing")
  isClosing = true
  for (let round = 0, quiet = 0, still = 0; still < 3; round++) {
    isTired = round > 10
    if (odds(0.3)) wake()
    for (const task of tasks.splice(0)) task()
    for (const point of points.waiting) go(point)
    await turnsOfLoop(4)
    if (points.waiting.length === 0) {
      quiet += 1
      if (quiet % 8 === 7) await passes(6_000)
      if (settle(quiet)) {
        // The next program removes the rows of inputs in the thread that were accepted late.
        if (record.record?.inbox === undefined) still += 1
        else await end()
      }
    }
    if (round < mostRounds) continue
    const { phase, turn } = contextNow() ?? {}
    wrong.push(`no rest: ${JSON.stringify([phase, turn !== undefined, person.unsettled])}`)
    break
  }
  compare()
  const thread = program?.chat.thread.messages ?? []
  points.end()
  program?.drop()
  const count = (what: string) => trace.filter((each) => each === what).length
  return { trace, person, deeds, thread, record: record.record, count }
}
