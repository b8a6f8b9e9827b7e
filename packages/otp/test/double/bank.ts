import { Effect } from "effect"
import { GenServer } from "../../src/index.ts"
import type { ExitReason } from "../../src/index.ts"

/** What a `bank` is asked. */
export type Ask =
  | "get"
  | "who"
  | "never"
  | "later"
  | "promise"
  | "effect"
  | "self"
  | { readonly stop: ExitReason.ExitReason; readonly reply?: string }
  | { readonly fail: unknown }
  | { readonly throw: unknown }

/** The casts of a `bank`. */
export type Tell =
  | { readonly add: number }
  | { readonly stop: ExitReason.ExitReason }
  | { readonly fail: unknown }
  | "bad"

/** What happened in a `bank`, in order. */
export type Trace = Array<unknown>

interface State {
  readonly total: number
  readonly waiting: ReadonlyArray<GenServer.From<unknown>>
}

/** How a `bank` starts. */
export interface Args {
  readonly trace?: Trace
  readonly init?: (trace: Trace) => GenServer.Answer<GenServer.InitResult<State>>
  readonly terminate?: () => GenServer.Answer<unknown>
}

export const empty: State = { total: 0, waiting: [] }

const fail = (error: unknown): never => {
  throw error
}

/** A server with a number in it, and with every way to answer, fail and stop. */
export const bank = (args: Args = {}) => {
  const trace = args.trace ?? []
  return GenServer.make<void, State, Ask, unknown, Tell, unknown>({
    label: "bank",
    init: () => {
      trace.push("init")
      return args.init === undefined ? GenServer.ok(empty) : args.init(trace)
    },
    handleCall: (request, from, state, self) => {
      if (request === "get") return GenServer.replying(state.total, state)
      if (request === "who") return GenServer.replying(self, state)
      if (request === "never") return GenServer.noreply(state)
      if (request === "later") return GenServer.noreply({ ...state, waiting: [...state.waiting, from] })
      if (request === "promise") return Promise.resolve(GenServer.replying("promised", state))
      if (request === "effect") return Effect.yieldNow.pipe(Effect.as(GenServer.replying("effected", state)))
      if (request === "self") return GenServer.call(self, "get").then((value) => GenServer.replying(value, state))
      if ("fail" in request) return fail(request.fail)
      if ("throw" in request) return fail(GenServer.replying(request.throw, state))
      return request.reply === undefined
        ? GenServer.stopping(request.stop, state)
        : GenServer.stopReply(request.stop, request.reply, state)
    },
    handleCast: (message, state) => {
      if (message === "bad") return "no result" as never
      if ("fail" in message) return fail(message.fail)
      if ("stop" in message) return GenServer.stopping(message.stop, state)
      trace.push(message)
      return GenServer.noreply({ ...state, total: state.total + message.add })
    },
    handleInfo: (message: unknown, state) => {
      trace.push(["info", message])
      for (const from of state.waiting) GenServer.reply(from, message)
      return GenServer.noreply({ ...state, waiting: [] })
    },
    handleContinue: (term, state) => {
      trace.push(["continue", term])
      const left = Number(term) - 1
      return GenServer.noreply(state, left > 0 ? { continue: left } : undefined)
    },
    terminate: (reason) => {
      trace.push(["terminate", reason])
      return args.terminate?.()
    }
  })
}
