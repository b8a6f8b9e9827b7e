import { Effect } from "effect"
import { expectTypeOf } from "vitest"
import { Process, Timer } from "../../src/index.ts"
import type { Name, Pid, System, SystemMessage } from "../../src/index.ts"

declare const system: System.System

const pid = Process.spawn<string | number>(system, async (self) => {
  expectTypeOf(self).toEqualTypeOf<Pid<string | number>>()
  expectTypeOf(await Process.receive(self)).toEqualTypeOf<string | number | SystemMessage.SystemMessage | undefined>()
})

Process.send(pid, "text")
Process.send(pid, 1)
// @ts-expect-error it takes text and numbers
Process.send(pid, true)

// A pid that takes more may stand where one that takes less is wanted, and every pid where nothing is sent.
const narrow: Pid<string> = pid
const bare: Pid = pid
// @ts-expect-error it takes no booleans
const _wide: Pid<boolean> = pid
// @ts-expect-error nothing can be sent to a pid that is known as no more than that
Process.send(bare, "text")
// @ts-expect-error a narrower pid takes less
Process.send(narrow, 1)

const name = Process.named<string>(system, "echo")
expectTypeOf(name).toEqualTypeOf<Name<string>>()
Process.send(name, "text")
// @ts-expect-error whoever has the name takes text
Process.send(name, 1)

expectTypeOf(Process.receiveEffect(pid)).toEqualTypeOf<
  Effect.Effect<string | number | SystemMessage.SystemMessage | undefined>
>()
Process.spawn(system, () => Effect.fail("reason"))

Timer.sendAfter(pid, "later", "1 second")
// @ts-expect-error it takes text and numbers
Timer.sendAfter(pid, true, "1 second")
const waiting = Process.spawn<Timer.TimeoutMessage<"tick">>(system, () => {})
Timer.start(waiting, "tick", 10)
// @ts-expect-error it waits for ticks
Timer.start(waiting, "tock", 10)
// @ts-expect-error it takes no timeout messages
Timer.start(pid, "tick", 10)
