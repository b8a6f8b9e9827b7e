import { expectTypeOf } from "vitest"
import { setup } from "xstate"
import {
  Agent,
  DynamicSupervisor,
  GenServer,
  PartitionSupervisor,
  Process,
  Registry,
  StateMachine,
  Supervisor,
  Sys
} from "../../src/index.ts"
import type { Pid, System } from "../../src/index.ts"

declare const system: System.System

const definition = GenServer.make({
  init: (from: number) => GenServer.ok(from),
  handleCall: (_request: "next", _from, state) => GenServer.replying(state, state),
  handleCast: (_message: "reset", state) => GenServer.noreply(state)
})
const plain = Process.spawn<string>(system, () => {})
const server = await GenServer.start(system, definition, 1)
const agent = await Agent.start(system, () => 1)
const supervisor = await Supervisor.start(system, {
  children: [{ id: "plain", start: (self) => Process.spawnLink<string>(self, () => {}) }]
})
const dynamic = await DynamicSupervisor.start(system)
const registry = await Registry.start(system)
const machine = StateMachine.start(system, setup({}).createMachine({}))
const spec = { id: "a", start: () => "ignore" as const }

// What is known to be of one kind is not taken for another.
// @ts-expect-error a function takes no calls
void GenServer.call(plain, "next")
// @ts-expect-error a function takes no casts
GenServer.cast(plain, "reset")
// @ts-expect-error nor by its address
void GenServer.call(Supervisor.via(supervisor, "plain"), "next")
// @ts-expect-error a supervisor is asked by its own functions
void GenServer.call(supervisor, "next")
// @ts-expect-error an agent is asked by its own functions
void GenServer.call(agent, "next")
// @ts-expect-error a server is no agent
void Agent.get(server, () => 1)
// @ts-expect-error a function is no agent
void Agent.get(plain, () => 1)
// @ts-expect-error a server is no supervisor
void Supervisor.startChild(server, spec)
// @ts-expect-error a function is no supervisor
void Supervisor.whichChildren(plain)
// @ts-expect-error a server is no supervisor
void DynamicSupervisor.startChild(server, spec)
// @ts-expect-error an agent is no supervisor
void DynamicSupervisor.countChildren(agent)
// @ts-expect-error a server is no supervisor
PartitionSupervisor.whereis(server, 1)
// @ts-expect-error a server is no registry
Registry.lookup(server, "key")
// @ts-expect-error a supervisor is no registry
Registry.count(dynamic)
// @ts-expect-error a function is no machine
StateMachine.snapshot(plain)
// @ts-expect-error a server is no machine
StateMachine.subscribe(server, () => {})
// @ts-expect-error a machine takes events, and no calls
void GenServer.call(machine, "next")

// Whatever it is, it is a process.
for (const any of [plain, server, agent, supervisor, dynamic, registry, machine]) {
  expectTypeOf(any).toExtend<Pid>()
  Process.kill(any)
  void Sys.getState(any)
  void GenServer.stop(any)
}

// What is known as a process and no more, and a name in the system's table, is taken for what the caller says.
const unknown: Pid = plain
void GenServer.call(unknown, "next")
void Supervisor.whichChildren(unknown)
Registry.lookup(unknown, "key")
void GenServer.call(Process.named(system, "counter"), "next")
