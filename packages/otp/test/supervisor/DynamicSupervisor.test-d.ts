import { expectTypeOf } from "vitest"
import { DynamicSupervisor, GenServer, Process, TaskSupervisor } from "../../src/index.ts"
import type { Pid, System } from "../../src/index.ts"

const session = GenServer.make({
  init: (user: string) => GenServer.ok(user),
  handleCall: (_request: "user", _from, state) => GenServer.replying(state, state)
})
const other = GenServer.make({
  init: (from: number) => GenServer.ok(from),
  handleCall: (_request: "next", _from, state) => GenServer.replying(state, state)
})
type Session = GenServer.Server<"user", string>
interface Settings {
  readonly seats: number
}

declare const system: System.System
declare const plain: Pid

const sessions = await DynamicSupervisor.start<Session>(system)
const start = (parent: Pid) => GenServer.startLink(parent, session, "ada")

expectTypeOf(DynamicSupervisor.startChild(sessions, { start })).toEqualTypeOf<Promise<Session>>()
expectTypeOf(DynamicSupervisor.whichChildren(sessions)).toEqualTypeOf<
  Promise<ReadonlyArray<DynamicSupervisor.ChildInfo<Session>>>
>()
for (const { pid } of await DynamicSupervisor.whichChildren(sessions)) {
  if (pid !== undefined && pid !== "restarting") {
    expectTypeOf(GenServer.call(pid, "user")).toEqualTypeOf<Promise<string>>()
    // @ts-expect-error a session takes no such call
    void GenServer.call(pid, "password")
    void DynamicSupervisor.terminateChild(sessions, pid)
  }
}

// @ts-expect-error it has sessions as children, and no others
void DynamicSupervisor.startChild(sessions, { start: (parent) => GenServer.startLink(parent, other, 1) })
// @ts-expect-error a child is ended by its pid
void DynamicSupervisor.terminateChild(sessions, "session")
// @ts-expect-error a dynamic child cannot be significant
void DynamicSupervisor.startChild(sessions, { start, significant: true })

const any = await DynamicSupervisor.start(system, { maxChildren: 1 })
expectTypeOf(any).toEqualTypeOf<DynamicSupervisor.DynamicSupervisor>()
expectTypeOf(DynamicSupervisor.startChild(any, { start })).toEqualTypeOf<Promise<Session>>()
expectTypeOf(
  DynamicSupervisor.startChild(plain, { start: (parent) => Process.spawnLink(parent, () => {}) })
).toEqualTypeOf<Promise<Process.Process<unknown>>>()

const extended = await DynamicSupervisor.start(system, { extraArguments: [{ seats: 40 }, "name"] })
expectTypeOf(extended).toEqualTypeOf<DynamicSupervisor.DynamicSupervisor<Pid, [{ seats: number }, string]>>()
expectTypeOf(
  DynamicSupervisor.startChild(extended, {
    start: (parent, settings, name) => {
      expectTypeOf(settings).toEqualTypeOf<{ seats: number }>()
      expectTypeOf(name).toEqualTypeOf<string>()
      return start(parent)
    }
  })
).toEqualTypeOf<Promise<Session>>()
void DynamicSupervisor.startChild(extended, { start })
void DynamicSupervisor.countChildren(extended)
expectTypeOf(DynamicSupervisor.whichChildren(extended)).toEqualTypeOf<
  Promise<ReadonlyArray<DynamicSupervisor.ChildInfo>>
>()

// @ts-expect-error the supervisor has no such argument
void DynamicSupervisor.startChild(extended, { start: (_parent, _settings: Settings, _n: number) => plain })
// @ts-expect-error the supervisor gives no argument
void DynamicSupervisor.startChild(any, { start: (_parent, _n: number) => plain })
// @ts-expect-error a plain pid does not type the arguments
void DynamicSupervisor.startChild(plain, { start: (_parent, _n: number) => plain })
// @ts-expect-error tasks take no arguments of their supervisor
void TaskSupervisor.start(system, { extraArguments: [1] })

const both = await DynamicSupervisor.start<Session, [Settings]>(system, { extraArguments: [{ seats: 1 }] })
expectTypeOf(
  DynamicSupervisor.startChild(both, {
    start: (parent, { seats }) => GenServer.startLink(parent, session, String(seats))
  })
).toEqualTypeOf<Promise<Session>>()
// @ts-expect-error it has sessions as children, and no others
void DynamicSupervisor.startChild(both, { start: (parent, { seats }) => GenServer.startLink(parent, other, seats) })

const said: DynamicSupervisor.DynamicSupervisor<Pid, [Settings]> = plain
void DynamicSupervisor.startChild(said, { start: (_parent, { seats }) => (seats > 0 ? plain : "ignore") })
