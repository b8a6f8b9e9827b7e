/** Features that only XState performs: each is found, and XState runs the machine. */
import { expect, test } from "vitest"
import * as xstate from "xstate"
import { and, type AnyStateMachine, emit, enqueueActions, fromPromise, log, setup } from "xstate"
import { Process, StateMachine, System } from "../../../src/index.ts"
import { hop } from "../../double/hop.ts"

const quiet = StateMachine.fromCallback<unknown>(() => {})

const base = setup({
  actors: { quiet, promise: fromPromise(() => Promise.resolve(1)), other: setup({}).createMachine({}) },
  guards: { yes: () => true },
  actions: {
    emitted: emit({ type: "emitted" }),
    logged: log("logged"),
    theirs: xstate.assign({}),
    toSelf: StateMachine.sendTo(({ self }) => self, { type: "x" }),
    delayed: StateMachine.sendTo("c", { type: "x" }, { delay: 1 }),
    nameless: StateMachine.spawnChild("quiet"),
    known: StateMachine.spawnChild("quiet", { id: "q", systemId: "q" }),
    toChild: StateMachine.sendTo("c", { type: "x" })
  }
})

const two = { initial: "one", states: { one: {}, two: {} } } as const

const machines: Record<string, { readonly machine: AnyStateMachine; readonly reason: string }> = {
  "a parallel state": {
    machine: base.createMachine({ type: "parallel", states: { a: {}, b: {} }, on: { go: {} } }),
    reason: "parallel states"
  },
  "a history state": {
    machine: base.createMachine({ initial: "a", states: { a: {}, h: { type: "history" } } }),
    reason: "history states"
  },
  "a wildcard": { machine: base.createMachine({ ...two, on: { "*": ".two" } }), reason: "wildcard transitions" },
  "a combined guard": {
    machine: base.createMachine({ ...two, on: { go: { guard: and(["yes"]), target: ".two" } } }),
    reason: "combined guards"
  },
  "an inline action": {
    machine: base.createMachine({ ...two, on: { go: { actions: () => {} } } }),
    reason: "an action without a name"
  },
  "an inline action of XState": {
    machine: base.createMachine({ on: { other: { actions: log("x") } } }),
    reason: "the action log, which only XState performs"
  },
  emit: {
    machine: base.createMachine({ on: { go: { actions: "emitted" } } }),
    reason: "the action emitted, which only XState performs"
  },
  log: {
    machine: base.createMachine({ on: { other: { actions: "logged" } } }),
    reason: "the action logged, which only XState performs"
  },
  enqueueActions: {
    machine: setup({ actions: { several: enqueueActions(() => {}) } }).createMachine({
      on: { other: { actions: "several" } }
    }),
    reason: "the action several, which only XState performs"
  },
  "XState's own assign": {
    machine: base.createMachine({ on: { go: { actions: "theirs" } } }),
    reason: "the action theirs, which only XState performs"
  },
  "a target that is computed": {
    machine: base.createMachine({ on: { go: { actions: "toSelf" } } }),
    reason: "the action toSelf, which only XState performs"
  },
  "a delayed send": {
    machine: base.createMachine({ on: { other: { actions: "delayed" } } }),
    reason: "the action delayed, which only XState performs"
  },
  "a child without an id": {
    machine: base.createMachine({ on: { go: { actions: "nameless" } } }),
    reason: "the action nameless, which only XState performs"
  },
  "a child with a system id": {
    machine: base.createMachine({ on: { go: { actions: "known" } } }),
    reason: "the action known, which only XState performs"
  },
  "a child with inline logic": {
    machine: setup({ actions: { inline: StateMachine.spawnChild(quiet) } }).createMachine({
      on: { go: { actions: "inline" } }
    }),
    reason: "the action inline, which only XState performs"
  },
  "an invoked promise": {
    machine: base.createMachine({ invoke: { src: "promise" } }),
    reason: "the actor promise, which only XState runs"
  },
  "an inline invocation": {
    machine: base.createMachine({ invoke: { src: quiet } }),
    reason: "an invoked actor without a name"
  },
  "a child machine that is not hosted": {
    machine: base.createMachine({ invoke: { src: "other" } }),
    reason: "the actor other, which is not hosted"
  },
  "an invocation with a system id": {
    machine: base.createMachine({ invoke: { src: "quiet", systemId: "x" } }),
    reason: "systemId"
  },
  onSnapshot: { machine: base.createMachine({ invoke: { src: "quiet", onSnapshot: {} } }), reason: "onSnapshot" },
  "an entry action that sends to an actor of its state": {
    machine: base.createMachine({ entry: "toChild", invoke: { id: "c", src: "quiet" } }),
    reason: "an entry action that sends to an actor of its state"
  },
  "a limit of steps": {
    machine: base.createMachine({ options: { maxIterations: 10 } }) as AnyStateMachine,
    reason: "maxIterations"
  }
}

test.each(Object.entries(machines))(
  "HOSTABLE1 %s is found, and XState runs the machine",
  async (_name, { machine, reason }) => {
    expect(StateMachine.unhosted(StateMachine.hosted(machine))).toEqual([reason])
    const system = System.make()
    const pid = StateMachine.start(system, machine)
    const actor = xstate.createActor(machine).start()
    await hop()
    Process.send(pid, { type: "go" })
    actor.send({ type: "go" })
    await hop()
    const [snapshot, expected] = [StateMachine.snapshot(pid), actor.getSnapshot()]
    expect([snapshot.status, snapshot.value, Object.keys(snapshot.children).length]).toEqual([
      expected.status,
      expected.value,
      Object.keys(expected.children).length
    ])
    expect(StateMachine.actor(pid)).toBeInstanceOf(xstate.Actor)
    await System.stop(system)
  }
)

test("a problem of a child machine is a problem of its parent", () => {
  const child = machines["a history state"]?.machine
  if (child === undefined) throw new Error("there is no such machine")
  StateMachine.hosted(child)
  const parent = setup({ actors: { child } }).createMachine({ invoke: { src: "child" } })
  expect(StateMachine.unhosted(parent)).toEqual(["child: history states"])
})

test("STRICT1 strict code that reads `self` or keeps the context fails", async () => {
  const machine = StateMachine.hosted(
    setup({
      types: { context: {} as { readonly list: Array<number> }, events: {} as { readonly type: string } },
      guards: { reads: (args) => "self" in args && args.self !== undefined },
      actions: {
        shared: StateMachine.effect<object>(() => {}),
        pushes: StateMachine.assign(({ context }) => ({ list: [context.list.push(1)] }))
      }
    }).createMachine({
      context: () => ({ list: [] }),
      on: {
        reads: { guard: "reads" },
        shares: { actions: { type: "shared", params: ({ context }) => ({ context }) } },
        pushes: { actions: "pushes" }
      }
    })
  )
  const system = System.make()
  for (const type of ["reads", "shares", "pushes"]) {
    const [plain, strict] = [false, true].map((isStrict) => StateMachine.start(system, machine, { strict: isStrict }))
    for (const pid of [plain, strict]) if (pid !== undefined) Process.send(pid, { type })
    await hop()
    expect([plain, strict].map((pid) => pid !== undefined && Process.isAlive(pid))).toEqual([true, false])
  }
  await System.stop(system)
})
