import type { Effect } from "effect"
import { expectTypeOf } from "vitest"
import { GenServer, Process, Timer } from "../../src/index.ts"
import type { OtpError, Pid, System, SystemMessage } from "../../src/index.ts"

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

const bell = GenServer.make({
  init: () => GenServer.ok({ rung: 0 }),
  handleInfo: (message: "ring" | SystemMessage.SystemMessage | "timeout", state: { rung: number }) => {
    if (message === "ring") return GenServer.noreply({ rung: state.rung + 1 })
  }
})
const ringing = await GenServer.start(system, bell, undefined)
Process.send(ringing, "ring")
// @ts-expect-error the bell takes no such message
Process.send(ringing, "knock")
// @ts-expect-error the bell takes no calls
void GenServer.call(ringing, "ring")
// @ts-expect-error the bell takes no casts
GenServer.cast(ringing, "ring")

declare const from: GenServer.From<number>
GenServer.reply(from, 1)
// @ts-expect-error the caller waits for a number
GenServer.reply(from, "1")

// Replies are what the callback returns, and what it says it answers late.
const now = GenServer.make({
  init: () => GenServer.ok(0),
  handleCall: (request: "text" | "number", _from, state) =>
    request === "text" ? GenServer.replying(String(state), state) : GenServer.replying(1, state)
})
const late = GenServer.make({
  init: () => GenServer.ok(0),
  handleCall: (_request: "later", _from: GenServer.From<string>, state) => GenServer.noreply(state)
})
const both = GenServer.make({
  init: () => GenServer.ok(0),
  handleCall: async (_request: "either", _from: GenServer.From<string>, state) => GenServer.replying(1, state)
})
expectTypeOf(GenServer.call(await GenServer.start(system, now, undefined), "text")).toEqualTypeOf<
  Promise<string | number>
>()
expectTypeOf(GenServer.call(await GenServer.start(system, late, undefined), "later")).toEqualTypeOf<Promise<string>>()
expectTypeOf(GenServer.call(await GenServer.start(system, both, undefined), "either")).toEqualTypeOf<
  Promise<string | number>
>()
GenServer.make({
  init: () => GenServer.ok(0),
  // @ts-expect-error a cast has no reply
  handleCast: (_message: "now", state) => GenServer.replying(1, state)
})

expectTypeOf(GenServer.stop(pid, "shutdown")).toEqualTypeOf<Promise<void>>()
// @ts-expect-error a server is stopped by its pid or its name
void GenServer.stop("counter")

// A callback takes `self` without an annotation, and the types of the messages are still inferred.
const ticker = GenServer.make({
  init: (everyMs: number, self) => {
    Timer.sendAfter(self, "tick", everyMs)
    return GenServer.ok({ everyMs, ticks: 0 })
  },
  handleCall: (_request: "ticks", _from, state) => GenServer.replying(state.ticks, state),
  handleInfo: (_message: "tick", state, self) => {
    Timer.sendAfter(self, "tick", state.everyMs)
    return GenServer.noreply({ ...state, ticks: state.ticks + 1 })
  }
})
const ticking = await GenServer.start(system, ticker, 1000)
expectTypeOf(GenServer.call(ticking, "ticks")).toEqualTypeOf<Promise<number>>()
Process.send(ticking, "tick")
// @ts-expect-error the ticker takes no such message
Process.send(ticking, "tock")

const whole = GenServer.make({
  label: "whole",
  init: (first: number, self) => {
    Process.trapExit(self, true)
    return GenServer.ok({ count: first }, { continue: "load" })
  },
  handleCall: (_request: "next", _from, state, self) => {
    GenServer.cast(self, { add: 1 })
    return GenServer.replying(state.count, state)
  },
  handleCast: (message: { readonly add: number }, state, self) => {
    Process.send(self, "added")
    return GenServer.noreply({ count: state.count + message.add })
  },
  handleInfo: (message: "added" | SystemMessage.SystemMessage | "timeout", state, self) => {
    if (message === "added") return GenServer.noreply(state)
    Process.exit(self, "unexpected")
  },
  handleContinue: (_term, state, self) => {
    Process.setLabel(self, "loaded")
    return GenServer.noreply(state)
  },
  terminate: (_reason, state, self) => {
    expectTypeOf(state).toEqualTypeOf<{ count: number }>()
    expectTypeOf(self).toExtend<Pid>()
  }
})
const complete = await GenServer.start(system, whole, 1)
expectTypeOf(GenServer.call(complete, "next")).toEqualTypeOf<Promise<number>>()
GenServer.cast(complete, { add: 1 })
Process.send(complete, "added")
// @ts-expect-error the server takes no such cast
GenServer.cast(complete, { take: 1 })

// `self` is a pid for any call and message, as in Elixir; a call to it never returns.
GenServer.make({
  handleCall: (_request: "self", _from, state: number, self) => GenServer.replying(self, state),
  init: (_args: undefined, self) => {
    expectTypeOf(GenServer.call(self, "anything")).resolves.toBeNever()
    return GenServer.ok(0)
  }
})

const box = <A>() =>
  GenServer.make({
    init: (value: A, self) => {
      Process.send(self, "opened")
      return GenServer.ok(value)
    },
    handleCall: (request: "get" | { readonly put: A }, _from, state, self) => {
      Process.send(self, "used")
      return request === "get" ? GenServer.replying(state, state) : GenServer.replying(state, request.put)
    }
  })
const text = await GenServer.start(system, box<string>(), "empty")
expectTypeOf(GenServer.call(text, { put: "full" })).toEqualTypeOf<Promise<string>>()
// @ts-expect-error the box holds texts
void GenServer.call(text, { put: 1 })
