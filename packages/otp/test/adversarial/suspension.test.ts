import { Effect } from "effect"
import { describe, expect, test } from "vitest"
import { DynamicSupervisor, GenServer, Process, Registry, Supervisor, Task, TaskSupervisor } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { Storm } from "./storm.ts"

/** What the scenario holds and lets go, each in the order of its processes. */
class Ledger {
  acquired = 0
  released = 0

  readonly held = Effect.acquireRelease(
    Effect.sync(() => this.acquired++),
    () => Effect.yieldNow.pipe(Effect.andThen(Effect.sync(() => this.released++)))
  )
}

/** A server with an asynchronous init, an asynchronous answer and a finalizer, found under a key. */
const oracle = (ledger: Ledger) =>
  GenServer.make<Pid, number, "ask", number>({
    label: "oracle",
    init: (registry, self) =>
      Effect.gen(function* () {
        yield* Effect.yieldNow
        Registry.register(registry, "oracle", self)
        return GenServer.ok(0)
      }),
    handleCall: (_request, _from, state) =>
      Effect.gen(function* () {
        yield* ledger.held
        yield* Effect.sleep(1)
        return GenServer.replying(state + 1, state + 1)
      }).pipe(Effect.scoped),
    terminate: () => Effect.sleep(1)
  })

/** Starts a registry, an oracle and a supervisor of tasks under a supervisor, and a client that uses all of them. */
const scenario = (storm: Storm, ledger: Ledger): void => {
  const found = new Map<string, Pid>()
  const keep = (id: string, pid: Pid): Pid => {
    found.set(id, pid)
    return storm.watch(pid)
  }
  const at = (id: string): Pid => {
    const pid = found.get(id)
    if (pid === undefined) throw new Error(`no ${id}`)
    return pid
  }
  const children: ReadonlyArray<Supervisor.ChildSpec> = [
    {
      id: "registry",
      start: async (parent) => keep("registry", await Registry.startLink(parent, { label: "registry" }))
    },
    {
      id: "oracle",
      start: async (parent) => {
        const pid = await GenServer.startLink(parent, oracle(ledger), at("registry"), { trapExit: true })
        return keep("oracle", pid)
      }
    },
    {
      id: "tasks",
      type: "supervisor",
      start: async (parent) => keep("tasks", await DynamicSupervisor.startLink(parent, { label: "tasks" }))
    }
  ]
  Process.spawn(
    storm.system,
    async (self) => {
      keep("client", self)
      keep("supervisor", await Supervisor.startLink(self, { strategy: "restForOne", children, label: "supervisor" }))
      const server = Registry.whereis<unknown, unknown, GenServer.Server<"ask", number>>(at("registry"), "oracle")
      if (server === undefined) return
      Process.monitor(self, server)
      await GenServer.call(server, "ask", { from: self })
      const work = () => ledger.held.pipe(Effect.andThen(GenServer.callEffect(server, "ask")), Effect.scoped)
      const task = await TaskSupervisor.asyncNolink(at("tasks"), self, work, { label: "task" })
      await Task.await(task)
      await Process.receive(self, { timeout: 5 })
    },
    { label: "client" }
  )
}

const victims = ["client", "supervisor", "registry", "oracle", "tasks", "task"]

/** So many steps of promises, and now and then one of the clock. */
const steps = async (storm: Storm, count: number): Promise<void> => {
  for (let step = 0; step < count; step++) {
    if (step % 16 === 15) await storm.clock.advance(1)
    else await Promise.resolve()
  }
}

describe.each(victims)("DEATH2 %s", (victim) => {
  test.each(["kill", "boom", "shutdown"])(
    "ended with %s at any step of a scenario leaves nothing when it is over",
    async (reason) => {
      let hit = 0
      for (let step = 0; step < 128; step += 3) {
        const storm = new Storm()
        const ledger = new Ledger()
        scenario(storm, ledger)
        await steps(storm, step)
        const target = storm.living.find((pid) => pid.label === victim)
        if (target !== undefined) hit++
        if (target !== undefined) Process.exit(storm.watch(target), reason)
        await storm.clock.advance(20)
        for (const pid of storm.living) if (pid.label === "client") Process.exit(pid, "shutdown")
        await storm.clock.advance(20)
        await storm.settled()
        await storm.over()
        expect([step, ledger.released]).toEqual([step, ledger.acquired])
      }
      expect(hit).toBeGreaterThan(0)
    }
  )
})
