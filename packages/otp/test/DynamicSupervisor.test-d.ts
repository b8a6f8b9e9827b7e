import { expectTypeOf } from "vitest"
import { DynamicSupervisor, TaskSupervisor } from "../src/index.ts"
import type { Pid, System } from "../src/index.ts"

declare const system: System.System
declare const pid: Pid

const plain = await DynamicSupervisor.start(system, { maxChildren: 1 })
const extended = await DynamicSupervisor.start(system, { extraArguments: [{ seats: 40 }, "name"] })

expectTypeOf(plain).toEqualTypeOf<DynamicSupervisor.DynamicSupervisor>()
expectTypeOf(extended).toEqualTypeOf<DynamicSupervisor.DynamicSupervisor<[{ seats: number }, string]>>()

void DynamicSupervisor.startChild(extended, {
  start: (_parent, settings, name) => {
    expectTypeOf(settings).toEqualTypeOf<{ seats: number }>()
    expectTypeOf(name).toEqualTypeOf<string>()
    return pid
  }
})
void DynamicSupervisor.startChild(extended, { start: () => pid })
void DynamicSupervisor.startChild<[number]>(pid, { start: (_parent, _n: number) => pid })

// @ts-expect-error the supervisor has no such argument
void DynamicSupervisor.startChild(extended, { start: (_parent, _settings: { seats: number }, _n: number) => pid })
// @ts-expect-error the supervisor gives no argument
void DynamicSupervisor.startChild(plain, { start: (_parent, _n: number) => pid })
// @ts-expect-error a plain pid does not tell the arguments
void DynamicSupervisor.startChild(pid, { start: (_parent, _n: number) => pid })
// @ts-expect-error tasks take no arguments of their supervisor
void TaskSupervisor.start(system, { extraArguments: [1] })
