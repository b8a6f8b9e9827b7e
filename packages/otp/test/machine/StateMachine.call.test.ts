/** Calls of machines, from a table and by XState. */
import { Effect, Fiber } from "effect"
import { expect, test } from "vitest"
import { createActor, setup } from "xstate"
import { Clock, GenServer, Process, StateMachine, System } from "../../src/index.ts"
import { hop } from "../double/hop.ts"

type From<Reply> = StateMachine.From<Reply>

type Event =
  | { readonly type: "next"; readonly from: From<number> }
  | { readonly type: "take"; readonly item: string; readonly from: From<string> }
  | { readonly type: "keep"; readonly from: From<string> }
  | { readonly type: "ignored"; readonly from: From<never> }
  | { readonly type: "crash"; readonly from: From<never> }
  | { readonly type: "itself"; readonly from: From<string> }
  | { readonly type: "open" | "tell" }

const machine = StateMachine.hosted(
  setup({
    types: { context: {} as { readonly n: number; readonly kept?: From<string> }, events: {} as Event },
    actions: {
      add: StateMachine.assign({ n: ({ context }) => context.n + 1 }),
      answer: StateMachine.reply(({ context }) => context.n),
      give: StateMachine.reply((_, { item }: { readonly item: string }) => `a ${item}`),
      keep: StateMachine.assign({ kept: ({ event }) => (event.type === "keep" ? event.from : undefined) }),
      answerKept: StateMachine.reply("at last", ({ context }) => context.kept),
      postpone: StateMachine.postpone,
      crash: () => {
        throw new Error("boom")
      }
    }
  }).createMachine({
    context: { n: 41 },
    initial: "closed",
    on: {
      next: { actions: ["add", "answer"] },
      keep: { actions: "keep" },
      tell: { actions: "answerKept" },
      crash: { actions: "crash" }
    },
    states: {
      closed: { on: { take: { actions: "postpone" }, open: "open" } },
      open: { on: { take: { actions: { type: "give", params: ({ event }) => ({ item: event.item }) } } } }
    }
  })
)

const hosts = [
  ["from its table", {}],
  ["with strict code", { strict: true }],
  ["by XState", { inspect: () => {} }]
] as const

const run = (options: StateMachine.Options<typeof machine>) => {
  const clock = Clock.test()
  const system = System.make({ clock, onCrash: () => {} })
  return { clock, system, pid: StateMachine.start(system, machine, options) }
}

/** The reason why a call failed. */
const failed = (call: Promise<unknown>) => call.catch((error: unknown) => Object(error).reason as unknown)

test.each(hosts)(
  "QACT2 a call %s gets the reply of an action, at once, later, or after it was postponed",
  async (_, options) => {
    const { system, pid } = run(options)
    expect(await StateMachine.call(pid, { type: "next" })).toBe(42)
    const taken = [
      StateMachine.call(pid, { type: "take", item: "ball" }),
      StateMachine.call(pid, { type: "take", item: "bat" })
    ]
    const kept = StateMachine.call(pid, { type: "keep" })
    Process.send(pid, { type: "tell" })
    Process.send(pid, { type: "open" })
    expect(await Promise.all([...taken, kept])).toEqual(["a ball", "a bat", "at last"])
    await System.stop(system)
    expect(System.stats(system)).toEqual({ processes: 0, fibers: 0, timers: 0, closing: 0 })
  }
)

test.each(hosts)(
  "QACT2 a call %s ends with its timeout, the end of the machine, or the end of the caller",
  async (_, options) => {
    const { clock, system, pid } = run(options)
    const late = failed(StateMachine.call(pid, { type: "ignored" }, { timeout: 50 }))
    await clock.advance(50)
    expect(await late).toBe("timeout")
    const caller = Process.spawn(system, () => new Promise(() => {}))
    let isOver = false
    void StateMachine.call(pid, { type: "keep" }, { from: caller }).finally(() => (isOver = true))
    Process.kill(caller)
    Process.send(pid, { type: "tell" })
    await hop()
    expect(isOver).toBe(false)
    const waiting = failed(StateMachine.call(pid, { type: "ignored" }))
    expect(await failed(StateMachine.call(pid, { type: "crash" }))).toEqual(new Error("boom"))
    expect(await waiting).toEqual(new Error("boom"))
    expect(await failed(StateMachine.call(pid, { type: "next" }))).toBe("noproc")
    expect(await failed(StateMachine.call(Process.named(system, "nobody"), { type: "next" }))).toBe("noproc")
    await System.stop(system)
  }
)

test("QACT2 when a machine calls itself in its turn, the call fails at once", async () => {
  let outcome: Promise<unknown> | undefined
  const own = StateMachine.hosted(
    setup({
      types: { events: {} as { readonly type: "go" } | { readonly type: "ask"; readonly from: From<string> } },
      actions: { ask: StateMachine.effect(() => (outcome = failed(StateMachine.call(pid, { type: "ask" })))) }
    }).createMachine({ on: { go: { actions: "ask" } } })
  )
  const system = System.make()
  const pid = StateMachine.start(system, own)
  Process.send(pid, { type: "go" })
  await hop()
  expect(await outcome).toBe("calling_self")
  await System.stop(system)
})

test("QACT2 a call as an effect is cancelled by its interruption, and replied to by GenServer.reply too", async () => {
  const { system, pid } = run({})
  expect(await Effect.runPromise(StateMachine.callEffect(pid, { type: "next" }))).toBe(42)
  const fiber = Effect.runFork(StateMachine.callEffect(pid, { type: "keep" }))
  await hop()
  await Effect.runPromise(Fiber.interrupt(fiber))
  Process.send(pid, { type: "tell" })
  const kept = StateMachine.call(pid, { type: "keep" })
  await hop()
  const { kept: from } = StateMachine.snapshot(pid).context
  if (from !== undefined) GenServer.reply(from, "from outside")
  expect(await kept).toBe("from outside")
  await System.stop(system)
})

test("QACT3 when a stored machine goes on, it replies to no caller of its earlier life", async () => {
  const { system, pid } = run({})
  const waiting = [
    StateMachine.call(pid, { type: "take", item: "ball" }),
    StateMachine.call(pid, { type: "keep" })
  ].map(failed)
  await hop()
  const snapshot = JSON.parse(JSON.stringify(StateMachine.persisted(pid))) as ReturnType<typeof StateMachine.persisted>
  Process.kill(pid)
  expect(await Promise.all(waiting)).toEqual(["killed", "killed"])
  const again = StateMachine.start(system, machine, { snapshot })
  Process.send(again, { type: "open" })
  Process.send(again, { type: "tell" })
  expect(await StateMachine.call(again, { type: "next" })).toBe(42)
  await System.stop(system)
})

test("QACT2 under a bare createActor, `reply` answers a caller that the event has", () => {
  const answers: Array<unknown> = []
  const actor = createActor(machine).start()
  const from = { answer: (value: unknown) => void answers.push(value) }
  actor.send({ type: "take", item: "ball", from } as never)
  actor.send({ type: "open" })
  expect(answers).toEqual(["a ball"])
})
