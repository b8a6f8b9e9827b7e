/**
 * The servers of a case: a definition made from the file's description of each callback.
 *
 * @module
 */
import { GenServer, Process, Registry } from "@troupe/otp"
import type { Pid } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { isList, isObject, list, number, object, text } from "../runner/json.ts"
import type { Json, JsonObject } from "../runner/json.ts"
import { Actor } from "./actor.ts"
import type { Turn } from "./actor.ts"
import { RuntimeError, decodeReason } from "./terms.ts"
import type { World } from "./actor.ts"

type State = Turn["state"]
type Started = GenServer.InitResult<State>
type Result = GenServer.CallResult<State, unknown> & GenServer.NoReply<State>

const next = (kind: Json | undefined, value: Json | undefined): GenServer.Next | undefined => {
  if (kind === "continue") return { continue: value }
  if (kind === "timeout") return { timeout: number(value) }
  return kind === "hibernate" ? "hibernate" : undefined
}

/** A thrown value in place of a callback's tuple: the state is its last element. */
const thrown = (world: World, tuple: Json | undefined, state: State): unknown => {
  const [kind, one, two] = isList(tuple) ? tuple : [tuple]
  if (kind === "ignore") return GenServer.ignore()
  if (kind === "ok") return GenServer.ok(state)
  if (kind === "reply") return GenServer.replying(world.decode(one, state.value), state)
  if (kind === "noreply") return GenServer.noreply(state)
  if (kind !== "stop") return world.decode(tuple)
  const reason = decodeReason(world, one)
  if (isList(tuple) && tuple.length > 3) return GenServer.stopReply(reason, world.decode(two), state)
  return isList(tuple) && tuple.length > 2 ? GenServer.stopping(reason, state) : GenServer.fail(reason)
}

const initial = (world: World, init: Json, state: State): Started => {
  const [kind, one, two] = isList(init) ? init : [init]
  switch (kind) {
    case "ok":
      return GenServer.ok(state, next(one, two))
    case "ignore":
      return GenServer.ignore()
    case "stop":
      return GenServer.fail(decodeReason(world, one))
    case "raise":
      throw new RuntimeError(text(one))
    case "exit":
      return Process.exitSelf(decodeReason(world, one))
    case "throw":
      throw thrown(world, one, state)
    default:
      return world.decode(kind === "bad" ? one : init) as Started
  }
}

const returned = (world: World, ret: Json, state: State): Result => {
  const [kind, one, two, three] = isList(ret) ? ret : [ret]
  switch (kind) {
    case "noreply":
      return GenServer.noreply(state, next(one, two))
    case "reply":
      return GenServer.replying(world.decode(one, state.value), state, next(two, three)) as Result
    case "stop": {
      const reason = decodeReason(world, one)
      if (two === undefined) return GenServer.stopping(reason, state)
      return GenServer.stopReply(reason, world.decode(two, state.value), state) as Result
    }
    case "throw":
      throw thrown(world, one, state)
    default:
      return world.decode(kind === "bad" ? one : ret) as Result
  }
}

const attempt = (world: World, name: string, init: Json | undefined): Json => {
  const start = world.starts.get(name) ?? 0
  world.starts.set(name, start + 1)
  if (!isObject(init)) return init ?? "ok"
  const attempts = list(init["attempts"])
  return attempts[Math.min(start, attempts.length - 1)] ?? "ok"
}

/** The handler of a message: by the message or its first element, else `_`. */
const handlerOf = (world: World, handlers: Json | undefined, message: unknown): JsonObject | undefined => {
  if (!isObject(handlers)) return undefined
  const observed = world.encode(message)
  const key = isList(observed) ? observed[0] : observed
  const found = typeof key === "object" ? undefined : handlers[String(key)]
  return isObject(found) ? found : undefined
}

const fallback = (handlers: Json | undefined): JsonObject | undefined => {
  const found = isObject(handlers) ? handlers["_"] : undefined
  return isObject(found) ? found : undefined
}

const builtIn = (request: unknown, state: State, self: Pid): Result | undefined => {
  const answers: ReadonlyMap<unknown, unknown> = new Map<unknown, unknown>([
    ["ping", "pong"],
    ["get", state.value],
    ["who", self]
  ])
  return answers.has(request) ? (GenServer.replying(answers.get(request), state) as Result) : undefined
}

/** The definition of a server of the case. */
export const definitionOf = (world: World, name: string) => {
  const given = object(object(world.given["servers"])[name])
  const handle = (handler: JsonObject, turn: Turn, self: Pid<unknown>): GenServer.Answer<Result> => {
    const finish = (): Result => returned(world, handler["return"] ?? "noreply", turn.state)
    if (handler["do"] === undefined) return finish()
    return Effect.map(new Actor(world, self, turn).script(handler["do"]), finish)
  }
  const observed = (kind: "cast" | "info" | "continue", message: unknown, state: State, self: Pid<unknown>) => {
    const handler = handlerOf(world, given[kind], message) ?? fallback(given[kind])
    return handler === undefined ? undefined : handle(handler, { message, state }, self)
  }
  return GenServer.make<void, State, unknown, unknown, unknown, unknown>({
    label: name,
    init: (_args, self) => {
      world.adopt(name, self)
      if (given["trap_exit"] === true) Process.trapExit(self, true)
      world.note(self, "init")
      const state: State = { value: given["state"] ?? 0 }
      const finish = (): Started => initial(world, attempt(world, name, given["init"]), state)
      if (given["init_do"] === undefined) return finish()
      return Effect.map(new Actor(world, self, { message: undefined, state }).script(given["init_do"]), finish)
    },
    handleCall: (message, from, state, self) => {
      const own = handlerOf(world, given["call"], message)
      const answer = own === undefined ? builtIn(message, state, self) : undefined
      const handler = own ?? fallback(given["call"])
      if (answer !== undefined) return answer
      if (handler === undefined) throw new RuntimeError("unknown call")
      return handle(handler, { message, from, state }, self)
    },
    handleCast: (message, state, self) => {
      const answer = observed("cast", message, state, self)
      if (answer === undefined) throw new RuntimeError("unknown cast")
      return answer
    },
    handleInfo: (message, state, self) => observed("info", message, state, self),
    handleContinue: (term, state, self) => {
      world.note(self, "continue", term)
      return observed("continue", term, state, self)
    },
    terminate: (reason, state, self) => {
      world.note(self, "terminate", reason)
      return new Actor(world, self, { message: undefined, state }).script(given["terminate_do"])
    }
  })
}

/** The start options of a server of the case. */
export const startOptionsOf = (world: World, name: string): GenServer.StartOptions => {
  const { name: registered, via } = object(object(world.given["servers"])[name])
  return {
    ...(registered === undefined ? {} : { name: text(registered) }),
    ...(isList(via) ? { via: Registry.via(world.pid(text(via[0])), world.decode(via[1])) } : {})
  }
}
