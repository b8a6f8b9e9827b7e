import { Effect } from "effect"
import { expect, test } from "vitest"
import { assign, setup } from "xstate"
import {
  Clock,
  CrashReport,
  GenServer,
  Observer,
  Process,
  StateMachine,
  Supervisor,
  Sys,
  System,
  Task
} from "../../src/index.ts"
import { hop } from "../double/hop.ts"
import { sleeper } from "../double/inProcess.ts"
import { Crew } from "../double/worker.ts"

/** A system and the crashes reported in it. */
const loud = (clock?: Clock.Clock) => {
  const reports: Array<CrashReport.CrashReport> = []
  const onCrash = (report: CrashReport.CrashReport): void => void reports.push(report)
  return { reports, system: System.make(clock === undefined ? { onCrash } : { onCrash, clock }) }
}

interface Order {
  readonly item: string
}

const shop = GenServer.make<unknown, unknown, Order, never, Order, Order>({
  label: "shop",
  init: (state) => GenServer.ok(state),
  handleCall: () => Promise.reject(new Error("no stock", { cause: new TypeError("row is undefined") })),
  handleCast: () => Effect.fail({ _tag: "OutOfStock" }),
  handleInfo: () => {
    throw new RangeError("no stock")
  }
})

test("a report says who, from whom, at which message, in which state, with whom and when", async () => {
  const clock = Clock.test()
  const { system, reports } = loud(clock)
  await clock.advance(1000)
  const parent = sleeper(system, "parent")
  const pid = GenServer.spawnLink(parent, shop, { sold: 3 }, { name: "till" })
  Process.send(pid, { item: "cup" })
  Process.send(pid, { item: "pot" })
  await hop()
  expect(reports).toEqual([
    {
      pid,
      label: "shop",
      name: "till",
      kind: "server",
      ended: true,
      reason: new RangeError("no stock"),
      message: `shop ${pid} ended: RangeError: no stock`,
      handling: '{ item: "cup" }',
      state: "{ sold: 3 }",
      queueLength: 1,
      parent,
      links: [parent],
      at: 1000
    }
  ])
  await System.stop(system)
})

test("a handler that waited is reported with the message it waited for", async () => {
  const { system, reports } = loud()
  const [called, notified] = [await GenServer.start(system, shop, null), await GenServer.start(system, shop, null)]
  const caller = sleeper(system, "caller")
  const calling = GenServer.call(called, { item: "cup" }, { from: caller })
  GenServer.cast(notified, { item: "pot" })
  await expect(calling).rejects.toMatchObject({ in: "GenServer.call" })
  await hop()
  expect(new Set(reports.map((report) => report.handling))).toEqual(
    new Set([`call { item: "cup" } from caller ${caller}`, 'cast { item: "pot" }'])
  )
  await System.stop(system)
})

test("what a server did before is not what it is reported with", async () => {
  const { system, reports } = loud()
  const later = GenServer.make<void, null, "get", null, never, "go">({
    init: () => GenServer.ok(null),
    handleCall: (_request, _from, state) => GenServer.replying(null, state, { continue: "more" }),
    handleContinue: () => {
      throw new Error("late")
    }
  })
  const pid = await GenServer.start(system, later, undefined)
  await GenServer.call(pid, "get")
  await hop()
  const script = Process.spawn(system, () => Process.exitSelf("boom"))
  await hop()
  expect(reports.map(({ pid: who, handling }) => [who, handling])).toEqual([
    [pid, 'continue "more"'],
    [script, undefined]
  ])
  await System.stop(system)
})

test("of a machine the state and the context are shown", async () => {
  const { system, reports } = loud()
  const machine = setup({}).createMachine({
    initial: "open",
    context: { count: 1 },
    states: {
      open: {
        on: {
          break: {
            actions: assign(() => {
              throw new Error("broken")
            })
          }
        }
      }
    }
  })
  const pid = StateMachine.start(system, machine, { label: "m" })
  Process.send(pid, { type: "break" })
  await hop()
  expect(reports.map(({ state, handling }) => [state, handling])).toEqual([
    ['{ value: "open", context: { count: 1 } }', '{ type: "break" }']
  ])
  await System.stop(system)
})

test("a supervisor that gives up is shown with its children", async () => {
  const { system, reports } = loud()
  const crew = new Crew()
  await Supervisor.start(system, { children: [crew.spec("a")], maxRestarts: 0, label: "top" })
  crew.stop("a", "boom")
  await hop()
  const report = reports.find(({ label }) => label === "top")
  expect(report?.state).toContain('children: [{ id: "a"')
  expect(report?.handling).toMatch(/^the exit of a <0\.\d+\.0>, boom$/)
  await System.stop(system)
})

test("format shows it over several lines, with the stack and the causes behind it", async () => {
  const clock = Clock.test()
  const { system, reports } = loud(clock)
  const parent = sleeper(system, "parent")
  const pid = GenServer.spawnLink(parent, shop, { sold: 3 }, { name: "till" })
  const calling = GenServer.call(pid, { item: "cup" })
  await expect(calling).rejects.toThrow()
  const [report] = reports
  const text = report === undefined ? "" : CrashReport.format(report)
  expect(text.split("\n").filter((line) => !line.trim().startsWith("at "))).toEqual([
    `shop ${pid} ended: Error: no stock`,
    "  name      till",
    `  kind      server, started by parent ${parent}`,
    '  handling  call { item: "cup" }',
    "  state     { sold: 3 }",
    `  links     parent ${parent}`,
    "  cause     Error: no stock",
    "            caused by TypeError: row is undefined"
  ])
  expect(text).toContain("  at        1970-01-01T00:00:00.000Z\n")
  expect(text).toMatch(/\n {14}at .*CrashReport\.test\.ts/)
  await System.stop(system)
})

test("SUMM1 SUMM2 a state that is large, deep, circular, or throws when looked at is shown in bounded space", async () => {
  const { system, reports } = loud()
  const circular: Record<string, unknown> = { self: undefined }
  circular["self"] = circular
  const hidden = {
    get secret() {
      throw new Error("do not look")
    }
  }
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const states = [
    Array.from({ length: 100_000 }, (_, index) => ({ index, text: "x".repeat(1000) })),
    circular,
    hidden,
    { map: new Map([["a", new Set([1])]]), bytes: new Uint8Array(1000), when: 3n, run: hop },
    { a: { b: { c: { d: { e: 1 } } } } },
    revoked.proxy,
    `${"a".repeat(118)}😀 and more`
  ]
  for (const state of states) {
    const pid = await GenServer.start(system, shop, state)
    Process.send(pid, { item: "cup" })
  }
  await hop()
  const shown = reports.map((report) => report.state ?? "")
  expect(shown[0]?.length).toBeLessThanOrEqual(600)
  expect(shown.slice(1)).toEqual([
    "{ self: (circular) }",
    "{ secret: (cannot be shown) }",
    '{ map: Map(1) {"a" => Set(1) {1}}, bytes: Uint8Array of 1000 bytes, when: 3n, run: function hop }',
    "{ a: { b: { c: { d: {…} } } } }",
    "(cannot be shown)",
    `"${"a".repeat(118)}…"`
  ])
  await System.stop(system)
})

test("without a subscriber and without a log, no report is made", async () => {
  let looked = 0
  const system = System.make({ silent: true })
  const pid = await GenServer.start(system, shop, {
    get value() {
      return looked++
    }
  })
  Process.send(pid, { item: "cup" })
  await hop()
  expect([Process.isAlive(pid), looked]).toEqual([false, 0])
  await System.stop(system)
})

/** The text of the one report of a system, with what differs from run to run taken out. */
const shown = (reports: ReadonlyArray<CrashReport.CrashReport>): ReadonlyArray<string> =>
  reports.map((report) =>
    CrashReport.format(report)
      .replaceAll(/<0\.\d+\.0>/g, "<>")
      .replaceAll(/at (\S+) \(\S*CrashReport\.test\.ts\S*\)/g, "at $1 here")
  )

test("format names a task as one, the last message of a process, and only the frames of the user's code", async () => {
  const { system, reports } = loud(Clock.test())
  const owner = sleeper(system, "owner")
  Process.trapExit(owner, true)
  Task.async(owner, function resize() {
    throw new RangeError("too large")
  })
  await hop()
  const waiter = Process.spawn<string>(
    system,
    async function wait(self) {
      await Process.receive(self)
      await Process.receive(self)
      throw new Error("enough")
    },
    { label: "waiter" }
  )
  for (const message of ["one", "two", "three"]) Process.send(waiter, message)
  await hop()
  const failing = StateMachine.start(
    system,
    setup({ actors: { work: StateMachine.fromEffect(() => Effect.fail({ _tag: "Offline" })) } }).createMachine({
      initial: "idle",
      states: { idle: { on: { go: "working" } }, working: { invoke: { src: "work" } } }
    }),
    { label: "loader" }
  )
  Process.send(failing, { type: "go" })
  await hop()
  expect(shown(reports)).toEqual([
    [
      "task <> ended: RangeError: too large",
      "  kind      task, started by owner <>",
      "  at        1970-01-01T00:00:00.000Z",
      "  links     owner <>",
      "  cause     RangeError: too large",
      "              at resize here"
    ].join("\n"),
    [
      "waiter <> ended: Error: enough",
      "  kind      process",
      "  at        1970-01-01T00:00:00.000Z",
      '  handling  "two"',
      "  queue     1 not taken",
      "  cause     Error: enough",
      "              at wait here"
    ].join("\n"),
    [
      'loader <> ended: {"_tag":"Offline"}',
      "  kind      machine",
      "  at        1970-01-01T00:00:00.000Z",
      '  handling  { type: "go" }',
      '  state     { value: "working", context: {} }',
      '  cause     { _tag: "Offline" }'
    ].join("\n")
  ])
  Process.kill(owner)
  await System.stop(system)
})

test("RECV2 a process that waits again is at no message", async () => {
  const { system, reports } = loud()
  const waiter = Process.spawn<string>(system, async (self) => {
    await Process.receive(self)
    await Process.receive(self, { timeout: 0 })
    throw new Error("nothing more")
  })
  Process.send(waiter, "one")
  await hop()
  expect(reports.map((report) => report.handling)).toEqual([undefined])
  await System.stop(system)
})

const unreadable = (): ReadonlyArray<unknown> => {
  const revoked = Proxy.revocable({}, {})
  revoked.revoke()
  const failing = (name: string): PropertyDescriptorMap => ({
    [name]: {
      get: () => {
        throw new Error("getter")
      }
    }
  })
  return [
    Object.assign(Object.create(null) as object, { n: 1n }),
    revoked.proxy,
    Object.defineProperties({}, failing("_tag")),
    Object.defineProperties(new Error("x"), failing("message")),
    Object.assign(new Error("x"), { stack: 1, name: Symbol("name") }),
    Symbol("reason")
  ]
}

test("CRASH1 a reason that cannot be read is the exit reason as it is, for every subscriber of crashes", async () => {
  for (const [at, bad] of unreadable().entries()) {
    const { system, reports } = loud()
    for (const userCall of [system, System.make()]) {
      const chosen = Process.spawn(userCall, () => Process.exitSelf(bad))
      const thrown = Process.spawn(userCall, () => {
        throw bad
      })
      await hop()
      expect(Process.exitReason(chosen) === bad, `exit ${at}`).toBe(true)
      const reason = Process.exitReason(thrown) as { readonly value?: unknown }
      expect(reason === bad || reason.value === bad, `throw ${at}`).toBe(true)
      await System.stop(userCall)
    }
    expect(reports.map((report) => typeof CrashReport.format(report))).toEqual(["string", "string"])
  }
})

test("CRASH1 a message or a state that cannot be read is said not to be shown", async () => {
  const { system, reports } = loud()
  const revoked = Proxy.revocable({}, {})
  const pid = await GenServer.start(system, shop, revoked.proxy)
  revoked.revoke()
  Process.send(pid, { item: "cup" })
  await hop()
  expect(reports).toEqual([expect.objectContaining({ reason: new RangeError("no stock"), state: "(cannot be shown)" })])
  await System.stop(system)
})

test.each(["in a table", "by XState", "by XState, with an environment"])(
  "CRASH2 what formatStatus of a machine leaves out is in no report, when it is run %s",
  async (run) => {
    const { reports, system } = loud()
    const machine = setup({
      types: { context: {} as { secret: string; opened: number }, events: {} as { type: "open"; code: string } },
      actions: {
        jam: (): void => {
          throw new Error("jammed")
        }
      }
    }).createMachine({
      context: { secret: "gold", opened: 0 },
      initial: "shut",
      states: { shut: { on: { open: { actions: "jam" } } } }
    })
    const vault = StateMachine.hosted(machine, {
      formatStatus: ({ state: { value, context }, message }) => ({
        state: { value, opened: context.opened },
        message: message === undefined ? undefined : "a code"
      })
    })
    const pid = StateMachine.start(system, run.endsWith("environment") ? StateMachine.bind(vault, {}) : vault, {
      ...(run !== "in a table" && { inspect: () => {} })
    })
    const state = '{ value: "shut", opened: 0 }'
    expect((await Sys.status(pid)).state).toEqual({ value: "shut", opened: 0 })
    expect(Observer.inspect(pid)?.state).toBe(state)
    expect(await Sys.getState(pid)).toMatchObject({ context: { secret: "gold" } })
    Process.send(pid, { type: "open", code: "1234" })
    await hop()
    expect(reports).toMatchObject([{ state, handling: '"a code"' }])
    await System.stop(system)
  }
)

test("CRASH2 what formatStatus leaves out is in no crash report, no status and no view of the observer", async () => {
  const { reports, system } = loud()
  const vault = GenServer.make({
    init: (secret: string) => GenServer.ok({ secret, opened: 0 }),
    handleCall: (
      _request: { readonly code: string },
      _from,
      _state
    ): GenServer.CallResult<{ secret: string; opened: number }, 1> => {
      throw new Error("jammed")
    },
    formatStatus: ({ state, message }) => ({
      state: { opened: state.opened },
      message: message === undefined ? undefined : "a code"
    })
  })
  const pid = await GenServer.start(system, vault, "gold")
  expect((await Sys.status(pid)).state).toEqual({ opened: 0 })
  expect(Observer.inspect(pid)?.state).toBe("{ opened: 0 }")
  expect(await Sys.getState(pid)).toEqual({ secret: "gold", opened: 0 })
  await expect(GenServer.call(pid, { code: "1234" })).rejects.toMatchObject({ _tag: "CallExit" })
  expect(reports).toMatchObject([{ state: "{ opened: 0 }", handling: '"a code"' }])
  await System.stop(system)
})
