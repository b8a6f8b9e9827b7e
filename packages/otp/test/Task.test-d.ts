import { expectTypeOf } from "vitest"
import { Task, TaskSupervisor } from "../src/index.ts"
import type { ExitReason, Pid } from "../src/index.ts"

declare const pid: Pid
const length = (word: string): number => word.length

type Plain = { readonly ok: number } | { readonly exit: ExitReason.ExitReason }
type Zipped = { readonly ok: number } | { readonly exit: ExitReason.ExitReason; readonly input: string }

for await (const result of Task.asyncStream(pid, ["a"], length, { ordered: false })) {
  expectTypeOf(result).toEqualTypeOf<Plain>()
}
for await (const result of TaskSupervisor.asyncStreamNolink(pid, pid, ["a"], length, { zipInputOnExit: true })) {
  expectTypeOf(result).toEqualTypeOf<Zipped>()
}
