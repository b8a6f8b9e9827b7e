import { Clock, Process, System } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { describe, expect, test } from "vitest"
import { ValidationError } from "../../src/errors/ChatError.ts"
import * as Dispatch from "../../src/batch/Dispatch.ts"
import type { ToolResultsMessage } from "../../src/batch/dispatchState.ts"
import { halt } from "../../src/values/HandlerResult.ts"
import { type ToolMessage } from "../../src/model/messageShapes.ts"
import { toolResult } from "../../src/model/Message.ts"
import type { Permissions, Question } from "../../src/gate/permissionRules.ts"
import { type Act, type BatchState, dispatched, resultsOf, tools } from "../double/dispatching.ts"
import { leakCheck } from "../double/leakCheck.ts"
import type { Mode } from "../../src/record/PermissionMode.ts"

leakCheck()

const spend =
  (amount: number) =>
  (state: BatchState): BatchState => ({ ...state, budget: (state.budget ?? 0) + amount })

const mistakes =
  (count: number) =>
  (state: BatchState): BatchState => ({ ...state, consecutiveMistakes: count })

const erring = (state: BatchState): BatchState => ({
  ...state,
  consecutiveMistakes: (state.consecutiveMistakes ?? 0) + 1
})

const planning = (state: BatchState): BatchState => ({ ...state, phase: "plan" })

const reference = (acts: Readonly<Record<string, Act>>, state: BatchState = {}) =>
  dispatched(acts, state, { schedule: "reference" })

const both = ["effects", "reference"] as const

describe.each(both)("any schedule (%s)", (schedule) => {
  const running = (acts: Readonly<Record<string, Act>>, state: BatchState = {}) => dispatched(acts, state, { schedule })

  test("1 an empty batch is over at once, with the state as it is", async () => {
    const state = { tools, consecutiveMistakes: 1, budget: 7 }
    expect(await Dispatch.run([], state, () => [1, state], { schedule })).toEqual({ type: "ok", results: [], state })
  })

  test("4, DISP1 results come in call order, whatever ends first", async () => {
    const seen = await running({ r1: { ms: 90 }, r2: { ms: 50 }, r3: { ms: 10 } })
    expect(resultsOf(seen)).toEqual(["r1 done", "r2 done", "r3 done"])
    expect(seen.trace).toEqual(["start r1", "start r2", "start r3", "end r3", "end r2", "end r1"])
  })

  test("58-60, DISP1 calls of one id have a result each", async () => {
    const calls = ["r", "w", "r"].map((name, place) => ({ id: "same", name, arguments: { place } }))
    const run = await Dispatch.run(calls, { tools }, (call, state) => [call.arguments?.["place"], state], { schedule })
    expect(run.type === "ok" && run.results).toEqual([0, 1, 2])
  })

  test("7, 8 a tool that is unknown or says nothing of its effect writes", async () => {
    const { trace } = await running({ plain1: { ms: 5 }, nobody2: { ms: 5 }, r3: {} })
    expect(trace).toEqual(["start plain1", "end plain1", "start nobody2", "end nobody2", "start r3", "end r3"])
  })

  test("9 of two tools of one name the first counts", async () => {
    const { trace } = await running({ twice1: { ms: 5 }, twice2: {} })
    expect(trace.slice(0, 2)).toEqual(["start twice1", "start twice2"])
  })

  test("11 an error result stops nothing", async () => {
    const seen = await running({ r1: { result: "bad" }, w2: { result: "worse" }, w3: {} })
    expect(resultsOf(seen)).toEqual(["bad", "worse", "w3 done"])
  })

  test("12, 14, 16, FOLD1, LEDG3 writes hand the state on, whatever its fields", async () => {
    const { run, given } = await running(
      {
        w1: { change: (state) => erring(spend(10)(state)) },
        w2: { change: (state) => planning(erring(state)) },
        w3: {}
      },
      { budget: 100, consecutiveMistakes: 1 }
    )
    expect(given["w3"]).toMatchObject({ budget: 110, consecutiveMistakes: 3, phase: "plan" })
    expect(run.state).toEqual(given["w3"])
  })

  test("36, 37 a halt has any reason, and only an object of that type with a reason is one", async () => {
    expect((await running({ w1: { result: Dispatch.halt(null) } })).run).toMatchObject({ type: "halt", reason: null })
    expect((await running({ w1: { result: halt("enough") } })).run).toMatchObject({ type: "halt", reason: "enough" })
    const others = ["halt", ["halt", 1, 2], { type: "halt" }]
    const seen = await running({ w1: { result: others[0] }, w2: { result: others[1] }, w3: { result: others[2] } })
    expect(resultsOf(seen)).toEqual(others)
  })

  test("39-42 so many calls run at once as the state says, by default four, at least one", async () => {
    const most = async (limit: number | null) => {
      const reads = Object.fromEntries([1, 2, 3, 4, 5, 6].map((index) => [`r${index}`, { ms: index }]))
      const { trace } = await running(reads, { maxConcurrency: limit })
      return trace.findIndex((mark) => mark.startsWith("end"))
    }
    expect(await Promise.all([null, 2, 1, 0, -3, Infinity].map(most))).toEqual([4, 2, 1, 1, 1, 6])
  })

  test("43, 46, DISP3 a late read is an error result under its own id, counted from its start, and is reported", async () => {
    const seen = await running(
      { r1: { ms: 2_000 }, r2: { ms: 55 }, r3: { ms: 55 } },
      { toolTimeoutMs: 60, maxConcurrency: 1 }
    )
    expect(resultsOf(seen)).toEqual(["c0 timed_out", "r2 done", "r3 done"])
    expect(seen.signals["r1"]?.aborted).toBe(true)
    expect(seen.signals["r2"]?.aborted).toBe(false)
  })

  test("52, 53, DISP2 what a read throws or exits with is its error result, and its siblings go on", async () => {
    const seen = await running({
      r1: { throws: new Error("boom") },
      r2: { throws: "thrown" },
      r3: { throws: Process.exitWith("gone") },
      r4: { returns: "no pair" },
      r5: { ms: 40 }
    })
    expect(resultsOf(seen)).toEqual(["c0 failed", "c1 failed", "c2 failed", "c3 failed", "r5 done"])
    expect((seen.run.results ?? []).filter(Dispatch.isFailure).map(({ error }) => error.reason)).toEqual([
      "handler_raised",
      "handler_raised",
      "handler_exit",
      "invalid_return"
    ])
  })

  test("DISP2 results and states that cannot be looked at are a read's own failure", async () => {
    const odd = {
      get type(): string {
        throw new Error("no look")
      }
    }
    const oddState = {
      get budget(): number {
        throw new Error("no look")
      }
    }
    const seen = await running({ r1: { result: odd }, r2: { returns: ["ok", oddState] }, r3: {} })
    expect(resultsOf(seen)).toEqual(["c0 failed", "c1 failed", "r3 done"])
  })

  test("a runner may be an Effect; one that is late is interrupted", async () => {
    const clock = Clock.test()
    const calls = ["r", "r", "r"].map((name, index) => ({ id: `c${index}`, name, arguments: {} }))
    const ended: Array<string> = []
    const run = Dispatch.run(
      calls,
      { tools, toolTimeoutMs: 60 },
      ({ id }, state) => {
        const result = Effect.succeed([id, state] as const)
        if (id === "c0") return Effect.delay(result, 20)
        if (id === "c1") return Effect.fail("boom")
        return Effect.onInterrupt(Effect.delay(result, 90), () => Effect.sync(() => ended.push(id)))
      },
      { schedule, system: System.make({ clock }) }
    )
    const { results = [] } = await clock.run(run)
    expect(results.map((result) => (Dispatch.isFailure(result) ? result.error.cause : result))).toEqual([
      "c0",
      "boom",
      undefined
    ])
    expect(ended).toEqual(["c2"])
  })

  test("DISP6 a batch that is over leaves no timer", async () => {
    const { clock } = await running({ r1: { ms: 5 }, r2: {}, w3: {} })
    expect(clock.pending).toBe(0)
  })

  test("an aborted signal ends the batch with its reason, aborts the running calls, and starts none", async () => {
    const stop = new AbortController()
    const signals: Array<AbortSignal> = []
    const calls = ["w", "r"].map((name, index) => ({ id: `c${index}`, name, arguments: {} }))
    const run = Dispatch.run(
      calls,
      { tools },
      (_call, _state, { signal }) => {
        signals.push(signal)
        return new Promise<never>(() => undefined)
      },
      { schedule, signal: stop.signal }
    )
    stop.abort("enough")
    await expect(run).rejects.toBe("enough")
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    await expect(Dispatch.run(calls, { tools }, (_, state) => [1, state], { signal: stop.signal })).rejects.toBe(
      "enough"
    )
  })
})

describe("effects", () => {
  test("a read sees what is written in front of it, and not what is written behind it", async () => {
    const { trace } = await dispatched({ r1: { ms: 9 }, r2: { ms: 5 }, w3: {}, r4: {}, r5: {} })
    expect(trace.slice(0, 6)).toEqual(["start r1", "start r2", "end r2", "end r1", "start w3", "end w3"])
    expect(trace.slice(6, 8)).toEqual(["start r4", "start r5"])
  })

  test("writes of different keys overlap, those of one key never", async () => {
    const { trace } = await dispatched({ "w.a1": { ms: 9 }, "w.b2": { ms: 5 }, "w.a3": {}, "r.b4": {} })
    expect(trace).toEqual([
      "start w.a1",
      "start w.b2",
      "end w.b2",
      "start r.b4",
      "end r.b4",
      "end w.a1",
      "start w.a3",
      "end w.a3"
    ])
  })

  test("a call whose key throws or is no text fails without having run, and holds nobody up", async () => {
    const keyed = (name: string, key: () => unknown) => ({ name, effect: "write" as const, key: key as () => string })
    const boom = () => {
      throw new Error("boom")
    }
    const seen = await dispatched(
      { thrown1: {}, number2: {}, w3: {} },
      { tools: [...tools, keyed("thrown", boom), keyed("number", () => 1)] }
    )
    expect(resultsOf(seen)).toEqual(["c0 failed", "c1 failed", "w3 done"])
    expect(seen.trace).toEqual(["start w3", "end w3"])
    expect(seen.run.state.consecutiveMistakes).toBe(2)
  })

  test("17, 24, 25, FOLD2 nothing that was spent side by side is lost, whoever ends last", async () => {
    for (const [first, second] of [
      [10, 60],
      [60, 10]
    ] as const) {
      const { run } = await dispatched(
        { r1: { ms: first, change: spend(10) }, r2: { ms: second, change: spend(20) }, r3: { ms: 70 } },
        { budget: 100 }
      )
      expect(run.state.budget).toBe(130)
    }
  })

  test("FOLD2, FOLD4 a budget of several numbers is put together number by number, one that was dropped stays", async () => {
    const use = (field: string, amount: number) => (state: BatchState) => {
      const budget = (state as unknown as { budget: Record<string, number> }).budget
      return { ...state, budget: { ...budget, [field]: (budget[field] ?? 0) + amount } as never }
    }
    const { run } = await dispatched(
      {
        r1: { change: use("tokens", 5) },
        r2: { change: use("tokens", 7) },
        r3: { change: use("cost", 1) },
        r4: { change: use("cost", 2) },
        r5: { change: (state) => ({ ...state, budget: null }) }
      },
      { budget: { tokens: 1 } as never }
    )
    expect(run.state.budget).toEqual({ tokens: 13, cost: 3 })
  })

  test("19-22, FOLD3 mistakes add up, and a reset undoes those of the calls in front of it", async () => {
    const folded = async (...changes: ReadonlyArray<(state: BatchState) => BatchState>) => {
      const acts = changes.map((change, index): [string, Act] => [`r${index}`, { change, ms: 50 - index }])
      return (await dispatched(Object.fromEntries(acts), { consecutiveMistakes: 5 })).run.state.consecutiveMistakes
    }
    expect(await folded(erring, erring)).toBe(7)
    expect(await folded(erring, mistakes(0))).toBe(0)
    expect(await folded(mistakes(0), erring)).toBe(1)
    expect(await folded(mistakes(3), mistakes(4))).toBe(3)
  })

  test("18, FOLD2 of other fields the last in call order counts, and lists grow by what each call added", async () => {
    const note = (text: string, phase: Mode) => (state: BatchState) => ({
      ...state,
      phase,
      notes: [...(state.notes ?? []), text]
    })
    const { run } = await dispatched(
      { r1: { ms: 9, change: note("one", "plan") }, r2: { change: note("two", "trusted") } },
      { notes: ["zero"] }
    )
    expect(run.state).toMatchObject({ phase: "trusted", notes: ["zero", "one", "two"] })
  })

  test("LEDG1 a call starts with what the calls in front of it made of the state, as far as they are over in a row", async () => {
    const { given } = await dispatched(
      {
        r1: { ms: 20, change: spend(1) },
        r2: { change: spend(2) },
        r3: { change: spend(4) },
        r4: { change: spend(8) }
      },
      { budget: 0, maxConcurrency: 2 }
    )
    expect(Object.values(given).map(({ budget }) => budget)).toEqual([0, 0, 0, 0])
    const serial = await dispatched(
      { r1: { change: spend(1) }, r2: { change: spend(2) } },
      { budget: 0, maxConcurrency: 1 }
    )
    expect(Object.values(serial.given).map(({ budget }) => budget)).toEqual([0, 1])
  })

  test("29, 77, DISP4 behind a halt no call starts, those that run are waited for, and every call has a result", async () => {
    const seen = await dispatched(
      { r1: { ms: 50, change: spend(1) }, r2: { result: Dispatch.halt("stop"), change: spend(2) }, w3: {}, r4: {} },
      { budget: 0 }
    )
    expect(seen.run).toMatchObject({ type: "halt", reason: "stop", state: { budget: 3 } })
    expect(resultsOf(seen)).toEqual(["r1 done", { type: "halt", reason: "stop" }, "c2 not_started", "c3 not_started"])
    expect(seen.trace).toEqual(["start r1", "start r2", "end r2", "end r1"])
    expect(seen.signals["r1"]?.aborted).toBe(false)
  })

  test("DISP4 a call in front of a halt starts after it, where it had to wait", async () => {
    const seen = await dispatched({
      "w.a1": { ms: 50 },
      "w.a2": { ms: 5 },
      "w.b3": { result: Dispatch.halt("stop") },
      "w.b4": {}
    })
    expect(resultsOf(seen)).toEqual(["w.a1 done", "w.a2 done", { type: "halt", reason: "stop" }, "c3 not_started"])
  })

  test("33 of several halts the first in call order counts", async () => {
    const { run } = await dispatched({
      r1: { ms: 80, result: Dispatch.halt("first") },
      r2: { ms: 10, result: Dispatch.halt("second") }
    })
    expect(run).toMatchObject({ type: "halt", reason: "first" })
  })

  test("BATCH11 each call beyond `maxCallsPerReply` fails with the bound, and its runner is not called", async () => {
    const ran: Array<string> = []
    const calls = ["a", "b", "c"].map((id) => ({ id, name: "t", arguments: {} }))
    const run = await Dispatch.run(calls, { maxCallsPerReply: 2 }, (toolCall, state) => {
      ran.push(toolCall.id)
      return [toolCall.id, state]
    })
    expect(ran).toEqual(["a", "b"])
    expect(run.results?.[2]).toMatchObject({ outcome: "not_started", error: { reason: "too_many_calls" } })
  })

  test("33, SCHED8 of several halts the first in time counts, if so asked; all calls have their results", async () => {
    const seen = await dispatched(
      {
        r1: { ms: 80, result: Dispatch.halt("first") },
        r2: { ms: 10, result: Dispatch.halt("second") },
        r3: { ms: 90 }
      },
      {},
      { haltOrder: "observed" }
    )
    expect(seen.run).toMatchObject({ type: "halt", reason: "second" })
    expect(resultsOf(seen)).toEqual([Dispatch.halt("first"), Dispatch.halt("second"), "r3 done"])
  })

  test("a halt order that is none is refused", async () => {
    const options = { haltOrder: "time" as "call" }
    await expect(Dispatch.run([], {}, () => [1, {}], options)).rejects.toMatchObject({
      errors: [{ field: ["haltOrder"] }]
    })
  })

  test("45, 49 a write that is late or throws is an error result, and the batch goes on", async () => {
    const seen = await dispatched({ w1: { ms: 100 }, w2: { throws: new Error("boom") }, w3: {} }, { toolTimeoutMs: 60 })
    expect(resultsOf(seen)).toEqual(["c0 timed_out", "c1 failed", "w3 done"])
  })

  test("48 a call that failed without a result is reported, as a mistake", async () => {
    const events: Array<unknown> = []
    const { run } = await dispatched(
      { r1: { throws: new Error("boom") }, r2: { ms: 100 } },
      { toolTimeoutMs: 60, onEvent: (event) => events.push(event) }
    )
    expect(run.state.consecutiveMistakes).toBe(2)
    expect(events).toEqual([
      {
        type: "tool_result",
        toolCallId: "c0",
        content: '{"error":"handler_raised: r: the runner raised: boom"}',
        isError: true
      },
      {
        type: "tool_result",
        toolCallId: "c1",
        content: '{"error":"timeout: r: no result within 60 ms; nobody waits for it"}',
        isError: true
      }
    ])
  })

  test("56, 57 any value is a result", async () => {
    const seen = await dispatched({ r1: { result: null }, w2: { result: false } })
    expect(resultsOf(seen)).toEqual([null, false])
  })

  test("a tool's own deadline counts in place of the state's", async () => {
    const hasty = [{ name: "hasty", effect: "read" as const, timeoutMs: 5 }]
    expect(resultsOf(await dispatched({ hasty1: { ms: 10 } }, { tools: hasty, toolTimeoutMs: 60 }))).toEqual([
      "c0 timed_out"
    ])
  })

  test("a state and options that make no sense are refused, by name", async () => {
    const refused = async (state: object, options: object) =>
      Dispatch.run([], state, () => [1, state], options).catch((thrown: unknown) => thrown)
    const findings = async (state: object, options: object) => {
      const thrown = await refused(state, options)
      return thrown instanceof ValidationError ? thrown.errors.map(({ field }) => field.join(".")) : thrown
    }
    expect(await findings({ maxConcurrency: "4" }, {})).toEqual(["state.maxConcurrency"])
    expect(await findings({ toolTimeoutMs: NaN }, { schedule: "any" })).toEqual(["state.toolTimeoutMs", "schedule"])
    expect(await findings({ toolTimeoutMs: -1, maxConcurrency: 1.5 }, {})).toEqual([
      "state.maxConcurrency",
      "state.toolTimeoutMs"
    ])
    const odd = [{ name: "a", effect: "reads", key: "k", timeoutMs: NaN }, { effect: "read" }]
    expect(await findings({ tools: odd, onEvent: 1, context: [] }, {})).toEqual([
      "state.tools.0.effect",
      "state.tools.0.key",
      "state.tools.0.timeoutMs",
      "state.tools.1",
      "state.context",
      "state.onEvent"
    ])
    expect(await findings({ tools: {} }, { signl: 1, signal: {}, system: 1 })).toEqual([
      "state.tools",
      "signl",
      "system",
      "signal"
    ])
    expect(await findings(undefined as never, null as never)).toEqual(["state", ""])
  })

  test("calls and a runner that are none are refused, by their place", async () => {
    const call = { id: "c0", name: "a", arguments: {} }
    const findings = async (calls: unknown, runner: unknown) => {
      const thrown: unknown = await Dispatch.run(calls as never, {}, runner as never).catch((error: unknown) => error)
      return thrown instanceof ValidationError ? thrown.errors.map(({ field }) => field.join(".")) : thrown
    }
    const runner = (_call: unknown, state: object) => [1, state]
    expect(await findings([call, {}, { ...call, arguments: "{}" }, null], runner)).toEqual([
      "calls.1",
      "calls.2",
      "calls.3"
    ])
    expect(await findings("calls", 5)).toEqual(["calls", "runner"])
    expect(await findings(undefined, undefined)).toEqual(["calls", "runner"])
    await expect(Dispatch.preToolGate({} as never, {})).rejects.toMatchObject({ reason: "invalid_options" })
  })
})

describe("reference", () => {
  test("5, 10 all that are no reads run first, one by one; then the reads together", async () => {
    const { trace, run } = await reference({ r1: { ms: 5 }, w2: { ms: 5 }, r3: {}, w4: {} })
    expect(trace.slice(0, 6)).toEqual(["start w2", "end w2", "start w4", "end w4", "start r1", "start r3"])
    expect(run.type === "ok" && run.results).toEqual(["r1 done", "w2 done", "r3 done", "w4 done"])
  })

  test("13 a phase that a write sets is there for later writes, and for every read", async () => {
    const { given } = await reference({ r1: {}, w2: { change: planning }, w3: {}, r4: {} })
    expect(Object.entries(given).map(([label, { phase }]) => [label, phase])).toEqual([
      ["w2", undefined],
      ["w3", "plan"],
      ["r1", "plan"],
      ["r4", "plan"]
    ])
  })

  test("15, 26 a budget that a write drops is gone; one that a read drops stays", async () => {
    const drop = (state: BatchState): BatchState => ({ ...state, budget: null })
    expect((await reference({ w1: { change: drop } }, { budget: 100 })).run.state.budget).toBe(null)
    expect((await reference({ r1: { change: drop } }, { budget: 100 })).run.state.budget).toBe(100)
  })

  test("17, LEDG4 every read starts with the same state, one at a time as well", async () => {
    const change = (state: BatchState) => erring(spend(5)(state))
    const { given, run } = await reference(
      { r1: { change }, r2: { change }, r3: { change } },
      { consecutiveMistakes: 1, budget: 50, maxConcurrency: 1 }
    )
    expect(new Set(Object.values(given)).size).toBe(1)
    expect(run.state).toMatchObject({ consecutiveMistakes: 1, budget: 55 })
  })

  test("18-23, LEDG4 of a read's changes count a lower mistake counter and the budget, that of the last to end", async () => {
    const { run } = await reference(
      {
        r1: { ms: 60, change: (state) => planning(mistakes(4)(spend(10)(state))) },
        r2: { ms: 10, change: (state) => mistakes(3)(spend(20)(state)) },
        r3: { change: erring }
      },
      { consecutiveMistakes: 5, budget: 100 }
    )
    expect(run.state).toEqual({ tools, consecutiveMistakes: 3, budget: 110 })
  })

  test("28 a state without a budget or a counter changes neither", async () => {
    const { run } = await reference({ r1: { change: () => ({}) } }, { consecutiveMistakes: 2, budget: 9 })
    expect(run.state).toEqual({ tools, consecutiveMistakes: 2, budget: 9 })
  })

  test("29, LEDG3 a write's halt ends the batch with its own state; nothing more starts, and there are no results", async () => {
    const { run, trace } = await reference({
      r1: {},
      w2: { change: erring },
      w3: { change: (state) => planning(erring(state)), result: Dispatch.halt("stop") },
      w4: {}
    })
    expect(run).toEqual({ type: "halt", reason: "stop", state: { tools, consecutiveMistakes: 2, phase: "plan" } })
    expect(trace).toEqual(["start w2", "end w2", "start w3", "end w3"])
  })

  test("31, DISP4 a read's halt drops its own changes, and aborts siblings without waiting for them", async () => {
    const { run, trace, signals, clock } = await reference(
      {
        r1: { ms: 10, change: (state) => mistakes(0)(spend(3)(state)), result: Dispatch.halt("enough") },
        r2: { ms: 400 }
      },
      { consecutiveMistakes: 1, budget: 5 }
    )
    expect(run).toEqual({ type: "halt", reason: "enough", state: { tools, consecutiveMistakes: 1, budget: 5 } })
    expect(trace).toEqual(["start r1", "start r2", "end r1"])
    expect(signals["r2"]?.aborted).toBe(true)
    expect(clock.now()).toBe(10)
  })

  test("32-35, 38 the first halt in time counts, and what ended before it", async () => {
    const late = await reference(
      {
        r1: { ms: 10, change: spend(3) },
        r2: { ms: 80, result: Dispatch.halt("late") },
        r3: { ms: 90, result: Dispatch.halt("never") }
      },
      { budget: 5 }
    )
    expect(late.run).toMatchObject({ reason: "late", state: { budget: 8 } })
    const one = await reference({ r1: { result: Dispatch.halt("h") }, r2: {}, r3: {} }, { maxConcurrency: 1 })
    expect(one.trace).toEqual(["start r1", "end r1"])
  })

  test("45 a call that is no read has no timeout", async () => {
    expect(resultsOf(await reference({ w1: { ms: 150_000 } }, { toolTimeoutMs: 30 }))).toEqual(["w1 done"])
  })

  test("47, 48 a late read costs nothing: no event, no mistake", async () => {
    const events: Array<unknown> = []
    const { run } = await reference(
      { r1: { ms: 1_000 }, w2: { change: spend(5) } },
      { toolTimeoutMs: 40, budget: 10, onEvent: (event) => events.push(event) }
    )
    expect(run.state).toMatchObject({ budget: 15 })
    expect(run.state.consecutiveMistakes).toBe(undefined)
    expect(events).toEqual([])
  })

  test("49, 50 what a call that is no read throws reaches the caller as it is; no later call starts", async () => {
    const seen: Array<string> = []
    for (const thrown of [new Error("boom"), "thrown"]) {
      const calls = ["r", "w", "w"].map((name, index) => ({ id: `c${index}`, name, arguments: {} }))
      const run = Dispatch.run(
        calls,
        { tools },
        ({ id }) => {
          seen.push(id)
          throw thrown
        },
        { schedule: "reference" }
      )
      await expect(run).rejects.toBe(thrown)
    }
    expect(seen).toEqual(["c1", "c1"])
  })

  test("56, 57 nothing and false are no results", async () => {
    const seen = await reference({ r1: { result: null }, w2: { result: false, change: spend(1) } })
    expect(resultsOf(seen)).toEqual(["c0 failed", "c1 failed"])
    expect(seen.run.state.budget).toBe(1)
  })
})

describe("the gate", () => {
  const call = (name: string, id = "c0") => ({ id, name, arguments: {} })

  test("61 a call is judged by the lists, the phase, the question and the hooks, in this order", async () => {
    const asked: Array<string> = []
    const ask = ({ toolCall }: Question) => {
      asked.push(toolCall.id)
      return "allow" as const
    }
    const hooks = { PreToolUse: [() => ({ type: "deny" as const, reason: "no writes" })] }
    const verdict = (state: Dispatch.DispatchState, name = "w") => Dispatch.preToolGate(call(name), { tools, ...state })
    expect(await verdict({})).toEqual({ type: "allow", toolCall: call("w") })
    expect(await verdict({ permissions: { deny: ["w"], ask }, hooks })).toMatchObject({
      denial: { code: "user_denied" }
    })
    expect(await verdict({ phase: "plan", permissions: { ask }, hooks })).toMatchObject({
      denial: { code: "phase_gated" }
    })
    expect(asked).toEqual([])
    expect(await verdict({ permissions: { ask }, hooks })).toEqual({
      type: "deny",
      reason: "no writes",
      denial: undefined
    })
    expect(asked).toEqual(["c0"])
    expect(await verdict({ phase: "plan" }, "r")).toMatchObject({ type: "allow" })
  })

  test("67, 68 a question may halt, put other arguments in, or leave the call waiting; a hook that throws is a halt", async () => {
    const answered = (answer: Awaited<ReturnType<NonNullable<Permissions["ask"]>>>) =>
      Dispatch.preToolGate(call("w"), { permissions: { ask: () => answer } })
    expect(await answered({ type: "halt", reason: "stop" })).toEqual({ type: "halt", reason: "stop" })
    expect(await answered({ type: "allow", arguments: { x: 1 } })).toMatchObject({ toolCall: { arguments: { x: 1 } } })
    expect(await answered("suspend")).toEqual({ type: "suspend" })
    const boom = () => {
      throw new Error("boom")
    }
    expect(await Dispatch.preToolGate(call("w"), { hooks: { PreToolUse: [boom] } })).toMatchObject({
      type: "halt",
      reason: "hook_crashed"
    })
  })

  test("an aborted signal ends the wait for an answer with its reason", async () => {
    const stop = new AbortController()
    const signals: Array<AbortSignal> = []
    const ask = ({ signal }: Question) => {
      signals.push(signal)
      return new Promise<never>(() => undefined)
    }
    const waiting = Dispatch.preToolGate(call("w"), { permissions: { ask } }, { signal: stop.signal })
    const batch = Dispatch.run([call("w")], { permissions: { ask } }, () => [1, {}], { signal: stop.signal })
    stop.abort("enough")
    await expect(waiting).rejects.toBe("enough")
    await expect(batch).rejects.toBe("enough")
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, true])
  })

  test("79-82, DISP5 all calls are judged before one starts, one at a time, by their ids, and not on their deadline", async () => {
    const thinkingMs = 500
    const log: Array<string> = []
    const clock = Clock.test()
    const ask = async ({ toolCall }: Question) => {
      log.push(`ask ${toolCall.id}`)
      await new Promise<void>((resolve) => clock.setTimeout(resolve, thinkingMs))
      log.push(`answer ${toolCall.id}`)
      return "allow" as const
    }
    const run = Dispatch.run(
      [call("r", "a"), call("w", "b")],
      { tools, toolTimeoutMs: 60, permissions: { ask } },
      ({ id }, state) => {
        log.push(`run ${id}`)
        return [id, state]
      },
      { system: System.make({ clock }) }
    )
    expect(await clock.run(run)).toMatchObject({ type: "ok", results: ["a", "b"] })
    expect(log).toEqual(["ask a", "answer a", "ask b", "answer b", "run a", "run b"])
  })

  test("DISP5 a refused call does not run: it is reported as a mistake, and the model reads the reason; its siblings run", async () => {
    const events: Array<string> = []
    const seen = await dispatched(
      { r1: {}, w2: {}, r3: {} },
      { permissions: { deny: ["w"] }, onEvent: (event) => events.push(event.type) }
    )
    expect(resultsOf(seen)).toEqual(["r1 done", "c1 denied", "r3 done"])
    expect(seen.trace).toEqual(["start r1", "start r3", "end r1", "end r3"])
    expect(seen.run.state.consecutiveMistakes).toBe(1)
    expect(seen.run.results?.filter(Dispatch.isFailure).map(({ message }) => message.content)).toEqual([
      "w is on the list of tools that may not be called"
    ])
    expect(events).toEqual(["tool_call", "tool_result"])
  })

  test("a call runs with the arguments that the gate left, and under their key", async () => {
    const permissions = {
      ask: ({ toolCall }: Question) => ({
        type: "allow" as const,
        arguments: { key: "one", was: toolCall.arguments?.["key"] }
      })
    }
    const { trace, run } = await dispatched({ "w.a1": { ms: 9 }, "w.b2": {} }, { permissions })
    expect(trace).toEqual(["start w.a1", "end w.a1", "start w.b2", "end w.b2"])
    expect(run.type).toBe("ok")
  })

  test("a halt of the gate starts nothing: its call is denied, one that waits for an answer is not started", async () => {
    const ask = ({ toolCall }: Question) =>
      toolCall.id === "c2" ? ({ type: "halt", reason: "stop" } as const) : toolCall.id === "c1" ? "suspend" : "deny"
    const seen = await dispatched({ r1: {}, r2: {}, r3: {}, r4: {} }, { permissions: { ask } })
    expect(seen.run).toMatchObject({ type: "halt", reason: "stop" })
    expect(resultsOf(seen)).toEqual(["c0 denied", "c1 not_started", "c2 denied", "c3 not_started"])
    expect(seen.trace).toEqual([])
    const waiting = await dispatched(
      { r1: {}, r2: {} },
      { permissions: { ask: ({ toolCall }) => (toolCall.id === "c1" ? "suspend" : "allow") } }
    )
    expect(resultsOf(waiting)).toEqual(["r1 done", "c1 not_started"])
  })

  test("reference leaves the gate to the runner", async () => {
    expect(resultsOf(await reference({ w1: {} }, { permissions: { deny: ["w"] } }))).toEqual(["w1 done"])
  })

  test("hooks are called for a call that ran without a result, and for no refused one", async () => {
    const notified: Array<string> = []
    const hooks = {
      PostToolUseFailure: [
        ({ toolCall, outcome }: { toolCall: { id: string }; outcome: string }) =>
          void notified.push(`${toolCall.id} ${outcome}`)
      ]
    }
    await dispatched(
      { r1: { throws: "boom" }, w2: {}, r3: { ms: 90 } },
      { hooks, permissions: { deny: ["w"] }, toolTimeoutMs: 60 }
    )
    expect(notified).toEqual(["c0 failed", "c2 timed_out"])
  })

  test("a state whose gate makes no sense is refused, by name", async () => {
    const state = { phase: "any", permissions: { mode: "any" }, hooks: { Any: [] } }
    const thrown = await Dispatch.preToolGate(call("w"), state as object).catch((error: unknown) => error)
    expect(thrown instanceof ValidationError && thrown.errors.map(({ field }) => field.join("."))).toEqual([
      "state.phase",
      "state.permissions.mode",
      "state.hooks.Any"
    ])
  })
})

describe("events", () => {
  const call = { id: "q", name: "look", arguments: {} }
  const notified = (message: ToolMessage | ToolResultsMessage) => {
    const events: Array<Dispatch.DispatchEvent> = []
    Dispatch.emitEvents({ onEvent: (event) => events.push(event) }, call, message)
    return events
  }

  test("72, 73 the call is reported first, then its result, if it has one", () => {
    expect(notified({ toolResults: undefined }).map(({ type }) => type)).toEqual(["tool_call"])
    expect(notified({ toolResults: [] }).map(({ type }) => type)).toEqual(["tool_call"])
    expect(notified(toolResult("q", "a tree"))).toEqual([
      { type: "tool_call", toolCall: call },
      { type: "tool_result", toolCallId: "q", content: "a tree", isError: false }
    ])
    expect(notified({ ...toolResult("q", "no tree"), outcome: "failed" as const })[1]).toMatchObject({ isError: true })
  })

  test("74, 75 of several results the first is reported, and whatever has a kind and a payload to show", () => {
    const events = notified({
      toolResults: [
        { content: "one", isError: true },
        { toolCallId: "2", content: "two", ui: { kind: "diff", payload: 2 } },
        { toolCallId: "3", content: "three", ui: { kind: "diff" } as never }
      ]
    })
    expect(events.slice(1)).toEqual([
      { type: "tool_result", toolCallId: "q", content: "one", isError: true },
      { type: "tool_ui", toolCallId: "2", kind: "diff", payload: 2 }
    ])
  })

  test("87, 88, EMIT1 a listener's fault is its own, now and later, and nobody waits for it", () => {
    const faulty = [
      () => {
        throw new Error("boom")
      },
      () => Promise.reject(new Error("later")),
      () => new Promise(() => undefined)
    ]
    for (const onEvent of faulty) {
      expect(Dispatch.emitEvents({ onEvent }, call, toolResult("q", "a tree"))).toBe(undefined)
    }
  })
})
