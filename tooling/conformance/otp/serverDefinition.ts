/**
 * The servers of a case: a definition made from the file's description of each callback.
 *
 * @module
 */
import { GenServer, type Pid, Process, Registry } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { isList, isObject, type Json, type JsonObject, list, number, object, text } from "../runner/json.ts"
import { Actor, type Turn, type World } from "./actor.ts"
import { RuntimeError, decodeReason } from "./terms.ts"

type State = Turn["state"]
type Started = GenServer.InitResult<State>
type Result = GenServer.CallResult<State, unknown> & GenServer.NoReply<State>

const next = (kind: Json | undefined, value: Json | undefined): GenServer.Next | undefined => {
  if (kind === "continue") return { continue: value }
  if (kind === "timeout") return { timeout: number(value) }
  return kind === "hibernate" ? "hibernate" : undefined
}

/** The kinds of tuples with a meaning, by the place of the tuple. */
const kinds: Readonly<Record<"init" | "callback" | "thrown", ReadonlyArray<unknown>>> = {
  init: ["ok", "ignore", "stop", "raise", "exit", "throw", "bad"],
  callback: ["noreply", "reply", "stop", "throw", "bad"],
  thrown: ["ok", "ignore", "noreply", "reply", "stop"]
}

/** The result of a callback, from its tuple. The last element of a thrown tuple is the state. */
const resultOf = (world: World, place: keyof typeof kinds, tuple: Json | undefined, state: State): unknown => {
  const parts = isList(tuple) ? tuple : [tuple]
  const [kind, one, two, three] = parts
  const size = place === "thrown" ? parts.length : parts.length + 1
  switch (kinds[place].includes(kind) ? kind : undefined) {
    case "ok":
      return GenServer.ok(state, next(one, two))
    case "ignore":
      return GenServer.ignore()
    case "noreply":
      return GenServer.noreply(state, next(one, two))
    case "reply":
      return GenServer.replying(world.decode(one, state.value), state, next(two, three))
    case "stop": {
      const reason = decodeReason(world, one)
      if (place === "init" || (place === "thrown" && size < 3)) return GenServer.fail(reason)
      return size > 3
        ? GenServer.stopReply(reason, world.decode(two, state.value), state)
        : GenServer.stopping(reason, state)
    }
    case "raise":
      throw new RuntimeError(text(one))
    case "exit":
      return Process.exitSelf(decodeReason(world, one))
    case "throw":
      throw resultOf(world, "thrown", one, state)
    default:
      return world.decode(kind === "bad" && place !== "thrown" ? one : tuple)
  }
}

const attempt = (world: World, name: string, init: Json | undefined): Json => {
  const start = world.starts.get(name) ?? 0
  world.starts.set(name, start + 1)
  if (!isObject(init)) return init ?? "ok"
  const attempts = list(init["attempts"])
  return attempts[Math.min(start, attempts.length - 1)] ?? "ok"
}

/** The handler of a message: by a key, by default the message or its first element. */
const handlerOf = (world: World, handlers: Json | undefined, message: unknown): JsonObject | undefined => {
  const observed = world.encode(message)
  const key = isList(observed) ? observed[0] : observed
  const found = isObject(handlers) && typeof key !== "object" ? handlers[String(key)] : undefined
  return isObject(found) ? found : undefined
}

const builtIn = (request: unknown, state: State, self: Pid): Result | undefined => {
  const answers = new Map<unknown, unknown>(Object.entries({ ping: "pong", get: state.value, who: self }))
  return answers.has(request) ? (GenServer.replying(answers.get(request), state) as Result) : undefined
}

/** The definition of a server of the case. */
export const definitionOf = (world: World, name: string) => {
  const given = object(object(world.given["servers"])[name])
  const handle = (handler: JsonObject, turn: Turn, self: Pid<unknown>): GenServer.Answer<Result> => {
    const finish = () => resultOf(world, "callback", handler["return"] ?? "noreply", turn.state) as Result
    if (handler["do"] === undefined) return finish()
    return Effect.map(new Actor(world, self, turn).script(handler["do"]), finish)
  }
  const observed = (kind: "cast" | "info" | "continue", message: unknown, state: State, self: Pid<unknown>) => {
    const handler = handlerOf(world, given[kind], message) ?? handlerOf(world, given[kind], "_")
    return handler === undefined ? undefined : handle(handler, { message, state }, self)
  }
  return GenServer.make<void, State, unknown, unknown, unknown, unknown>({
    label: name,
    init: (_args, self) => {
      world.adopt(name, self)
      if (given["trap_exit"] === true) Process.trapExit(self, true)
      world.note(self, "init")
      const state: State = { value: given["state"] ?? 0 }
      const finish = () => resultOf(world, "init", attempt(world, name, given["init"]), state) as Started
      if (given["init_do"] === undefined) return finish()
      return Effect.map(new Actor(world, self, { message: undefined, state }).script(given["init_do"]), finish)
    },
    handleCall: (message, from, state, self) => {
      const own = handlerOf(world, given["call"], message)
      const answer = own === undefined ? builtIn(message, state, self) : undefined
      const handler = own ?? handlerOf(world, given["call"], "_")
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
