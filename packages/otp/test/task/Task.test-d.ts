import { Effect } from "effect"
import { expectTypeOf } from "vitest"
import { Supervisor, Task, TaskSupervisor } from "../../src/index.ts"
import type { ExitReason, Pid, System } from "../../src/index.ts"

declare const owner: Pid
declare const supervisor: Pid
declare const system: System.System

const value = Task.async(owner, () => 1)
const promised = Task.async(owner, () => Promise.resolve("text"))
const effect = Task.async(owner, () => Effect.succeed(true))

expectTypeOf(value).toEqualTypeOf<Task.Task<number>>()
expectTypeOf(Task.await(value)).toEqualTypeOf<Promise<number>>()
expectTypeOf(Task.await(promised)).toEqualTypeOf<Promise<string>>()
expectTypeOf(Task.await(effect)).toEqualTypeOf<Promise<boolean>>()
expectTypeOf(Task.yield(value)).toEqualTypeOf<Promise<Task.Outcome<number>>>()
expectTypeOf(Task.awaitMany([value, value])).toEqualTypeOf<Promise<ReadonlyArray<number>>>()
expectTypeOf(TaskSupervisor.async(supervisor, owner, () => "text")).toEqualTypeOf<Promise<Task.Task<string>>>()
expectTypeOf(TaskSupervisor.asyncNolink(supervisor, owner, () => 1n)).toEqualTypeOf<Promise<Task.Task<bigint>>>()
expectTypeOf(Task.asyncStream(owner, [1, 2], (n) => Promise.resolve(String(n)))).toEqualTypeOf<
  AsyncIterable<Task.StreamResult<number, string>>
>()

const length = (word: string): number => word.length
type Plain = { readonly ok: number } | { readonly exit: ExitReason.ExitReason }
type Zipped = { readonly ok: number } | { readonly exit: ExitReason.ExitReason; readonly input: string }

for await (const result of Task.asyncStream(owner, ["a"], length, { ordered: false })) {
  expectTypeOf(result).toEqualTypeOf<Plain>()
}
for await (const result of TaskSupervisor.asyncStreamNolink(supervisor, owner, ["a"], length, {
  zipInputOnExit: true
})) {
  expectTypeOf(result).toEqualTypeOf<Zipped>()
}

const sup = await Supervisor.start(system, { children: [TaskSupervisor.childSpec("tasks")] })
expectTypeOf(Supervisor.child(sup, "tasks")).toEqualTypeOf<Pid | undefined>()

// @ts-expect-error the task computes a number
const _text: Task.Task<string> = value
// @ts-expect-error the inputs are numbers
Task.asyncStream(owner, [1, 2], (text: string) => text)
// @ts-expect-error a task belongs to a process
Task.async("owner", () => 1)
