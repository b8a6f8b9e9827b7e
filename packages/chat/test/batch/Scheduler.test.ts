import { it } from "@effect/vitest"
import { Schema } from "effect"
import { describe, expect, test } from "vitest"
import type { HaltOrder, Schedule } from "../../src/options/ChatOptions.ts"
import { type CallEnd, type CallOwner, Scheduler, type SchedulerState, type Slots } from "../../src/batch/Scheduler.ts"
import { accessOf, NaiveScheduler } from "./naiveScheduler.ts"
import { runsOf } from "../../../../tooling/verify/volume.ts"

interface Rules {
  readonly schedule?: Schedule
  readonly haltOrder?: HaltOrder
  readonly limit?: number
  readonly slots?: Slots
  readonly refused?: ReadonlyMap<number, CallEnd>
  readonly state?: SchedulerState
}

/** A scheduler of calls in short (`ra`, `w`), and the log of what its owner did. */
const scheduling = (words: ReadonlyArray<string>, rules: Rules = {}) => {
  const { schedule = "effects", haltOrder, limit = 100, slots, refused, state = words.length } = rules
  const log: Array<string> = []
  const owner: CallOwner = {
    refuse: (index) => refused?.get(index),
    run: (index) => log.push(`run ${index}`),
    skip: (index, reason) => log.push(`skip ${index} ${reason}`),
    cancel: (index) => log.push(`cancel ${index}`),
    restart: (index) => log.push(`restart ${index}`),
    over: () => log.push("over")
  }
  const scheduler = new Scheduler(state, { schedule, haltOrder, limit }, owner)
  return {
    scheduler,
    begin: () => scheduler.begin(words.map(accessOf), slots),
    /** The log since the last call of this function. */
    since: () => log.splice(0)
  }
}

/** A scheduler that has begun; the calls that it started have begun, too. */
const begun = (words: ReadonlyArray<string>, rules: Rules = {}) => {
  const started = scheduling(words, rules)
  started.begin()
  words.forEach((_, index) => started.scheduler.begun(index))
  return started
}

describe("SCHED6", () => {
  test("no call starts before `begin`", () => {
    const { begin, since } = scheduling(["r", "w"])
    expect(since()).toEqual([])
    begin()
    expect(since()).toEqual(["run 0"])
  })

  test("a call that ended before `begin` is not started, and no call waits for it", () => {
    const { scheduler, begin, since } = scheduling(["w", "w"])
    scheduler.ended(0)
    begin()
    expect(since()).toEqual(["run 1"])
  })

  test("a call that its owner refuses at its turn is over, and the next call starts", () => {
    const { since } = begun(["w", "w"], { refused: new Map([[0, {}]]) })
    expect(since()).toEqual(["run 1"])
  })

  test("a call that its owner cancels when it should refuse it is skipped, and not started", () => {
    const log: Array<string> = []
    const scheduler: Scheduler = new Scheduler(
      2,
      { schedule: "effects", limit: 2 },
      {
        refuse: () => {
          scheduler.cancel()
          return undefined
        },
        run: (index) => log.push(`run ${index}`),
        skip: (index) => log.push(`skip ${index}`),
        over: () => log.push("over")
      }
    )
    scheduler.begin(["r", "r"].map(accessOf))
    expect(log).toEqual(["skip 0", "skip 1", "over"])
  })

  test("calls that end while they are started do not deepen the stack", () => {
    let isOver = false
    const count = 100_000
    const scheduler: Scheduler = new Scheduler(
      count,
      { schedule: "effects", limit: 1 },
      {
        run: (index) => scheduler.ended(index),
        skip: () => undefined,
        over: () => {
          isOver = true
        }
      }
    )
    scheduler.begin(Array.from({ length: count }, () => accessOf("w")))
    expect(isOver).toBe(true)
  })
})

describe("SCHED7", () => {
  test("at most `limit` calls have a place; the next call starts when one has ended", () => {
    const { scheduler, since } = begun(["r", "r", "r"], { limit: 2 })
    expect(since()).toEqual(["run 0", "run 1"])
    scheduler.ended(1)
    expect(since()).toEqual(["run 2"])
  })

  test("without a free slot a call waits until one is granted; a refused call needs none", () => {
    let free = 1
    const slots: Slots = {
      take: () => free > 0 && free-- > 0,
      release: () => free++,
      rest: () => undefined
    }
    const { scheduler, since } = begun(["r", "r", "r"], { slots, refused: new Map([[1, {}]]) })
    expect(since()).toEqual(["run 0"])
    free++
    scheduler.slotGranted()
    expect(since()).toEqual(["run 2"])
    scheduler.ended(0)
    scheduler.ended(2)
    expect(free).toBe(2)
  })

  test("when no call may start, the batch leaves the queue for slots", () => {
    let rests = 0
    const slots: Slots = { take: () => true, release: () => undefined, rest: () => rests++ }
    begun(["w", "w"], { slots })
    expect(rests).toBe(1)
  })
})

describe("SCHED8", () => {
  const halting = (schedule: Schedule, halt: "halt" | "question" = "halt") => {
    const { scheduler, since } = begun(["w", "wa", "r", "w"], { schedule, limit: 1 })
    const [first = ""] = since()
    scheduler.ended(Number(first.split(" ")[1]), { halt })
    return since()
  }

  test("under `effects` a halt skips the later calls that have not begun", () => {
    expect(halting("effects")).toEqual(["skip 1 not_started", "skip 2 not_started", "skip 3 not_started", "over"])
  })

  test("under `effects` a call before the halt still starts, and running calls are not cancelled", () => {
    const { scheduler, since } = begun(["wa", "wa", "wb", "wc", "wb"])
    since()
    scheduler.ended(2, { halt: "halt" })
    expect(since()).toEqual(["skip 4 not_started"])
    scheduler.ended(0)
    expect(since()).toEqual(["run 1"])
  })

  test("under `reference` a halt skips every call that has not begun, also earlier reads", () => {
    const { scheduler, since } = begun(["r", "w", "r"], { schedule: "reference" })
    expect(since()).toEqual(["run 1"])
    scheduler.ended(1, { halt: "halt" })
    expect(since()).toEqual(["skip 0 not_started", "skip 2 not_started", "over"])
  })

  test("under `concurrent` a halt skips no call", () => {
    expect(halting("concurrent")).toEqual(["run 1"])
  })

  test("a question skips no call", () => {
    expect(halting("effects", "question")).toEqual(["run 1"])
  })

  test("a halt of a refused call counts as any halt", () => {
    const { scheduler, since } = begun(["w", "w"], { refused: new Map([[0, { halt: "halt" } as const]]) })
    expect(since()).toEqual(["skip 1 not_started", "over"])
    expect(scheduler.halts).toEqual([0])
  })
})

test("SCHED9 a cancel skips the calls that have not begun, and cancels each running call once", () => {
  const { scheduler, since } = begun(["r", "r", "w"])
  scheduler.cancelCalls([0])
  scheduler.cancel()
  scheduler.cancel()
  expect(since()).toEqual(["run 0", "run 1", "cancel 0", "skip 2 cancelled", "cancel 1"])
  scheduler.ended(0)
  scheduler.ended(1)
  expect(since()).toEqual(["over"])
})

test("SCHED9 after a cancel before `begin` nothing starts", () => {
  const { scheduler, begin, since } = scheduling(["r"])
  scheduler.cancel()
  begin()
  expect(since()).toEqual(["skip 0 cancelled", "over"])
})

test("SCHED9 a call that waited only for a skipped call starts at once, others wait on", () => {
  const { scheduler, since } = begun(["wa", "r", "wb", "wa"])
  expect(since()).toEqual(["run 0"])
  scheduler.cancelCalls([1])
  expect(since()).toEqual(["skip 1 cancelled", "run 2"])
})

test("SCHED7 only running calls that are not cancelled are restarted", () => {
  const { scheduler, since } = begun(["ra", "rb", "wa"])
  since()
  scheduler.cancelCalls([1])
  scheduler.restart([0, 1, 2])
  expect(since()).toEqual(["cancel 1", "restart 0"])
})

test("SCHED7 a call that is skipped while it starts is over at once, and keeps its place until its end", () => {
  const { scheduler, begin, since } = scheduling(["w", "w"], { limit: 1 })
  begin()
  scheduler.cancelCalls([0])
  expect(since()).toEqual(["run 0", "skip 0 cancelled"])
  expect(scheduler.isOver(0)).toBe(true)
  expect(scheduler.begun(0)).toBe(false)
  scheduler.ended(0)
  expect(since()).toEqual(["run 1"])
})

test("SCHED8 of two halts the first in call order counts, under `observed` the first that was notified", () => {
  const haltsOf = (haltOrder: HaltOrder | undefined) => {
    const { scheduler } = begun(["r", "r"], haltOrder === undefined ? {} : { haltOrder })
    scheduler.ended(1, { halt: "question" })
    scheduler.ended(0, { halt: "halt" })
    return scheduler.halts
  }
  expect([haltsOf(undefined), haltsOf("call"), haltsOf("observed")]).toEqual([
    [0, 1],
    [0, 1],
    [1, 0]
  ])
})

test("SCHED6 a suspended call holds up neither the end nor other calls; a halt before it skips it", () => {
  const { scheduler, begin, since } = scheduling(["w", "w"])
  scheduler.suspend(1)
  begin()
  scheduler.ended(0)
  expect(since()).toEqual(["run 0", "over"])
  const halted = scheduling(["w", "w"])
  halted.scheduler.suspend(1)
  halted.begin()
  halted.scheduler.ended(0, { halt: "halt" })
  expect(halted.since()).toEqual(["run 0", "skip 1 not_started", "over"])
})

test("SCHED6 an empty batch is over when it begins", () => {
  expect(begun([]).since()).toEqual(["over"])
})

const Step = Schema.Struct({
  act: Schema.Literals([
    "begin",
    "begin",
    "end",
    "end",
    "end",
    "halt",
    "ask",
    "cancelOne",
    "grant",
    "cancel",
    "rebuild"
  ]),
  which: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000 }))
})

const Batch = Schema.Struct({
  words: Schema.Array(Schema.Literals(["r", "w", "ra", "wa", "rb", "wb", "wc"])).check(Schema.isMaxLength(12)),
  schedule: Schema.Literals(["effects", "effects", "reference", "concurrent"]),
  haltOrder: Schema.Literals(["call", "observed"]),
  limit: Schema.Literals([1, 2, 3, 100]),
  free: Schema.Literals([1, 2, 100]),
  refused: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))).check(Schema.isMaxLength(2)),
  suspended: Schema.Array(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 20 }))).check(Schema.isMaxLength(2)),
  steps: Schema.Array(Step).check(Schema.isMaxLength(40))
})

it.prop(
  "SCHED1-SCHED15 whatever happens to a batch, its scheduler decides as a model that compares each pair of calls",
  { batch: Batch },
  ({ batch }) => {
    const { words, free, steps, suspended, ...rules } = batch
    const refused = new Map(rules.refused.map((index): [number, CallEnd] => [index, index % 2 ? { halt: "halt" } : {}]))
    const model = new NaiveScheduler(words.map(accessOf), { ...rules, refused }, free)
    let slotsLeft = free
    const slots: Slots = {
      take: () => slotsLeft > 0 && slotsLeft-- > 0,
      release: () => slotsLeft++,
      rest: () => undefined
    }
    const log: Array<string> = []
    let ours = scheduling(words, { ...rules, refused, slots })
    for (const index of suspended.filter((one) => one < words.length)) {
      model.suspend(index)
      ours.scheduler.suspend(index)
    }
    model.proceed()
    ours.begin()
    for (const { act, which } of steps) {
      const pick = (indexes: ReadonlyArray<number>) => indexes[which % Math.max(1, indexes.length)]
      const starting = pick(model.of("starting"))
      const ending = pick([...model.of("running"), ...model.of("cancelling"), ...model.of("releasing")])
      const any = pick(words.map((_, index) => index))
      if (act === "begin" && starting !== undefined) {
        model.begun(starting)
        ours.scheduler.begun(starting)
      } else if ((act === "end" || act === "halt" || act === "ask") && ending !== undefined) {
        const isReleasing = model.phases[ending] === "releasing"
        const end: CallEnd = act === "end" || isReleasing ? {} : { halt: act === "halt" ? "halt" : "question" }
        model.ended(ending, end)
        ours.scheduler.ended(ending, end)
      } else if (act === "cancelOne" && any !== undefined) {
        model.cancelCalls([any])
        ours.scheduler.cancelCalls([any])
      } else if (act === "grant") {
        model.granted()
        slotsLeft++
        ours.scheduler.slotGranted()
      } else if (act === "cancel" && which % 4 === 0 && !ours.scheduler.isCancelled) {
        model.cancel()
        ours.scheduler.cancel()
      } else if (act === "rebuild" && !model.log.includes("over")) {
        log.push(...ours.since())
        const state: SchedulerState = JSON.parse(JSON.stringify(ours.scheduler.state))
        ours = scheduling(words, { ...rules, refused, slots, state })
        ours.begin()
      }
      log.push(...ours.since())
      expect(ours.scheduler.state.phases).toEqual(model.phases)
      expect(log).toEqual(model.log)
      expect(ours.scheduler.halts[0]).toBe(model.halt)
    }
  },
  runsOf(1_000)
)
