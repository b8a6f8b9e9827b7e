/**
 * Servers: started, called, cast, stopped; and the steps of their handlers.
 *
 * @module
 */
import { GenServer, OtpError, Process } from "@troupe/otp"
import type { Name, Pid } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { isList, number, text } from "../../runner/json.ts"
import type { Json } from "../../runner/json.ts"
import { now, wait } from "../actor.ts"
import type { Actor, Turn, Verb, Verbs } from "../actor.ts"
import { definitionOf, startOptionsOf } from "../serverDefinition.ts"
import { decodeReason } from "../terms.ts"
import { observed } from "./processes.ts"

/** The result of a start in OTP's form: `["ok", pid]`, `["error", reason]` or `"ignore"`. */
export const startResult = (start: () => Promise<Pid>): Effect.Effect<unknown, unknown> =>
  wait(start).pipe(
    Effect.map((pid): unknown => ["ok", pid]),
    Effect.catch((error): Effect.Effect<unknown, unknown> => {
      if (error instanceof OtpError.StartIgnored) return Effect.succeed("ignore")
      return error instanceof OtpError.StartFailed ? Effect.succeed(["error", error.reason]) : Effect.fail(error)
    })
  )

const start =
  (linked: boolean): Verb =>
  (actor, [name, timeout]) => {
    const { world, self } = actor
    return startResult(() => {
      const definition = definitionOf(world, text(name))
      const bound = timeout === undefined ? {} : { timeout: number(timeout) }
      const options = { ...startOptionsOf(world, text(name)), ...bound }
      return world.born(text(name), () =>
        linked
          ? GenServer.startLink(self, definition, undefined, options)
          : GenServer.start(world.system, definition, undefined, options)
      )
    }).pipe(Effect.map((result) => observed(actor, "start", name, result)))
  }

const timeoutOf = (timeout: Json | undefined): { readonly timeout?: number | "infinity" } => {
  if (timeout === undefined || timeout === null) return {}
  return { timeout: timeout === "infinity" ? "infinity" : number(timeout) }
}

/** Calls a server and records its reply. */
export const callAndObserve = (
  actor: Actor,
  target: Pid | Name,
  request: Json | undefined,
  timeout?: Json
): Effect.Effect<unknown, unknown> =>
  GenServer.callEffect<unknown, unknown>(target, actor.world.decode(request), {
    from: actor.self,
    ...timeoutOf(timeout)
  }).pipe(Effect.map((reply) => observed(actor, "reply", reply)))

/** Sends a server a cast. */
export const castAndObserve = (actor: Actor, target: Pid | Name, message: Json | undefined): unknown => {
  GenServer.cast<unknown>(target, actor.world.decode(message))
  return observed(actor, "cast", "ok")
}

const address = (actor: Actor, name: Json | undefined): Name => Process.named(actor.world.system, text(name))

const turnOf = (actor: Actor): Turn => {
  if (actor.turn === undefined) throw new TypeError("this step belongs into the handler of a server")
  return actor.turn
}

export const servers: Verbs = {
  start: start(false),
  start_link: start(true),
  start_timeout: start(false),
  call: (actor, [name, request, timeout]) =>
    Effect.suspend(() => callAndObserve(actor, actor.world.pid(text(name)), request, timeout)),
  call_name: (actor, [name, request, timeout]) => callAndObserve(actor, address(actor, name), request, timeout),
  cast: now((actor, [name, message]) => castAndObserve(actor, actor.world.pid(text(name)), message)),
  cast_name: now((actor, [name, message]) => castAndObserve(actor, address(actor, name), message)),
  stop: (actor, [name, reason, timeout]) =>
    wait(() => {
      const given = reason === undefined || reason === null ? "normal" : decodeReason(actor.world, reason)
      return GenServer.stop(actor.world.pid(text(name)), given, timeoutOf(timeout).timeout)
    }).pipe(Effect.map(() => observed(actor, "stop", name, "ok"))),
  stash_from: now((actor, [key]) => {
    const { from } = turnOf(actor)
    if (from !== undefined) actor.world.stashed.set(text(key), from)
  }),
  reply: now((actor, [key, value]) => {
    const from = actor.world.stashed.get(text(key))
    if (from !== undefined) GenServer.reply(from, actor.world.decode(value, actor.turn?.state.value))
  }),
  set: now((actor, [value]) => {
    turnOf(actor).state.value = value ?? null
  }),
  add: now((actor, [amount]) => {
    const { state } = turnOf(actor)
    state.value = number(isList(state.value) ? 0 : state.value) + number(amount)
  }),
  note_msg: now((actor) => actor.world.note(actor.self, "note", turnOf(actor).message))
}
