import type { Effect } from "effect"
import { expectTypeOf } from "vitest"
import { GenServer } from "../src/index.ts"
import type { OtpError, Pid, System } from "../src/index.ts"

const counter = GenServer.make({
  init: (from: number) => GenServer.ok({ count: from }),
  handleCall: (request: "next" | "get", _from: GenServer.From<number>, state) =>
    request === "get" ? GenServer.replying(state.count, state) : GenServer.replying(1, { count: state.count + 1 }),
  handleCast: (_message: { readonly add: number }, state) => GenServer.noreply(state)
})

declare const system: System.System

const pid = await GenServer.start(system, counter, 1)

expectTypeOf(GenServer.call(pid, "next")).toEqualTypeOf<Promise<number>>()
expectTypeOf(GenServer.callEffect(pid, "get")).toEqualTypeOf<Effect.Effect<number, OtpError.CallExit>>()
expectTypeOf(GenServer.multiCall([pid], "next")).toEqualTypeOf<Promise<GenServer.MultiReply<"next" | "get", number>>>()
expectTypeOf(pid).toExtend<Pid>()
GenServer.cast(pid, { add: 1 })

// @ts-expect-error the server takes no such call
void GenServer.call(pid, "other")
// @ts-expect-error the servers take no such call
void GenServer.multiCall([pid], "other")
// @ts-expect-error the server takes no such cast
GenServer.cast(pid, "other")
// @ts-expect-error init takes a number
void GenServer.start(system, counter, "1")
// @ts-expect-error init answers ok, ignore or fail
GenServer.make({ init: () => GenServer.noreply(1) })
