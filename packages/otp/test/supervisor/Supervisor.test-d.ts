import { expectTypeOf } from "vitest"
import { Agent, DynamicSupervisor, GenServer, Process, Registry, Supervisor } from "../../src/index.ts"
import type { Pid, System } from "../../src/index.ts"

const db = GenServer.make({
  init: (url: string) => GenServer.ok(url),
  handleCall: (_request: "rows", _from, state) => GenServer.replying(3, state),
  handleCast: (_message: { readonly insert: string }, state) => GenServer.noreply(state)
})
type Db = GenServer.Server<"rows", number, { readonly insert: string }>

declare const system: System.System
declare const parent: Pid

const sup = await Supervisor.start(system, {
  children: [
    { id: "db", start: (self) => GenServer.startLink(self, db, "file:") },
    { id: "echo", start: (self) => Process.spawnLink<string>(self, () => {}), restart: "transient" },
    { id: "maybe", start: () => "ignore" },
    Agent.childSpec("count", () => 1),
    Registry.childSpec<"rooms", string>("rooms"),
    DynamicSupervisor.childSpec<"pool", Db>("pool"),
    Supervisor.childSpec("inner", { children: [{ id: "deep", start: (self) => Process.spawnLink(self, () => {}) }] })
  ]
})

expectTypeOf(Supervisor.child(sup, "db")).toEqualTypeOf<Db | undefined>()
expectTypeOf(Supervisor.child(sup, "echo")).toEqualTypeOf<Process.Process<string> | undefined>()
expectTypeOf(Supervisor.child(sup, "maybe")).toEqualTypeOf<undefined>()
expectTypeOf(Supervisor.child(sup, "count")).toEqualTypeOf<Agent.Agent<number> | undefined>()
expectTypeOf(Supervisor.child(sup, "rooms")).toEqualTypeOf<Registry.Registry<string> | undefined>()
expectTypeOf(Supervisor.child(sup, "pool")).toEqualTypeOf<DynamicSupervisor.DynamicSupervisor<Db> | undefined>()
expectTypeOf(GenServer.call(Supervisor.via(sup, "db"), "rows")).toEqualTypeOf<Promise<number>>()
expectTypeOf(Supervisor.restartChild(sup, "db")).toEqualTypeOf<Promise<Db | undefined>>()
GenServer.cast(Supervisor.via(sup, "db"), { insert: "row" })
Process.send(Supervisor.via(sup, "echo"), "hello")
void Supervisor.terminateChild(sup, "db")
void Supervisor.deleteChild(sup, "echo")

const inner = Supervisor.child(sup, "inner")
if (inner !== undefined) {
  expectTypeOf(Supervisor.child(inner, "deep")).toEqualTypeOf<Process.Process<unknown> | undefined>()
  // @ts-expect-error the inner supervisor has no such child
  Supervisor.child(inner, "db")
}

// @ts-expect-error no child has this id
Supervisor.child(sup, "dbb")
// @ts-expect-error no child has this id
Supervisor.via(sup, "dbb")
// @ts-expect-error no child has this id
void Supervisor.restartChild(sup, "dbb")
// @ts-expect-error no child has this id
void Supervisor.terminateChild(sup, "dbb")
// @ts-expect-error no child has this id
void Supervisor.deleteChild(sup, "dbb")
// @ts-expect-error the child takes no such call
void GenServer.call(Supervisor.via(sup, "db"), "columns")
// @ts-expect-error the child takes no such cast
GenServer.cast(Supervisor.via(sup, "db"), "row")
// @ts-expect-error the child takes text
Process.send(Supervisor.via(sup, "echo"), 1)

// Ids that are known at run time only, and supervisors that are known as no more than that, take any.
declare const id: string
for (const info of await Supervisor.whichChildren(sup)) void Supervisor.terminateChild(sup, info.id)
expectTypeOf(Supervisor.child(sup, id)).toEqualTypeOf<Pid<unknown> | undefined>()
declare const plain: Pid
void Supervisor.terminateChild(plain, "anything")
const found = Supervisor.child(plain, "anything")
expectTypeOf(found).toEqualTypeOf<Pid | undefined>()
const open: Supervisor.Supervisor = sup
void Supervisor.deleteChild(open, "anything")
const specs: ReadonlyArray<Supervisor.ChildSpec> = []
const listed = await Supervisor.startLink(parent, { children: specs })
void Supervisor.restartChild(listed, "anything")

expectTypeOf(
  Supervisor.startChild(sup, { id: "late", start: (self) => GenServer.startLink(self, db, "file:") })
).toEqualTypeOf<Promise<Db | undefined>>()
// @ts-expect-error a spec has an id
void Supervisor.startChild(sup, { start: () => "ignore" })
// @ts-expect-error a start makes a process
void Supervisor.start(system, { children: [{ id: "db", start: () => 1 }] })
// @ts-expect-error there is no such strategy
void Supervisor.start(system, { strategy: "oneForNone", children: [] })
// @ts-expect-error this supervisor is not that one
const _other: Supervisor.Supervisor<{ readonly web: Pid<string> }> = await Supervisor.start(system, {
  children: [{ id: "web", start: (self) => Process.spawnLink<number>(self, () => {}) }]
})
