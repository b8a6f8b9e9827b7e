/**
 * Messages and timers.
 *
 * @module
 */
import { Process, Timer } from "@troupe/otp"
import type { Target } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { number, text } from "../../runner/json.ts"
import type { Json } from "../../runner/json.ts"
import { now } from "../actor.ts"
import type { Actor, Verb, Verbs } from "../actor.ts"
import { fits } from "../terms.ts"

const receive: Verb = (actor, [pattern, ms]) =>
  Process.receiveEffect(actor.self, {
    match: (message) => fits(pattern, actor.world.encode(message)),
    timeout: ms === undefined || ms === "infinity" ? "infinity" : number(ms)
  }).pipe(
    Effect.tap((message) =>
      Effect.sync(() => (message === undefined ? actor.observe("timeout") : actor.observe("received", message)))
    )
  )

const flush: Verb = (actor) =>
  Effect.gen(function* () {
    const taken: Array<unknown> = []
    for (let left = Process.info(actor.self)?.queueLength ?? 0; left > 0; left--) {
      taken.push(yield* Process.receiveEffect(actor.self, { timeout: 0 }))
    }
    actor.observe("flushed", taken)
    return taken
  })

type Start = (target: Target<unknown>, message: unknown, ms: number) => Timer.TimerRef

const timer = (start: Start, target: (actor: Actor, name: string) => Target<unknown>): Verb =>
  now((actor, [ref, name, message, ms]) => {
    const made = start(target(actor, text(name)), actor.world.decode(message), number(ms))
    actor.world.refs.set(text(ref), made)
  })

const pid = (actor: Actor, name: string): Target<unknown> => actor.world.pid(name)
const address = (actor: Actor, name: string): Target<unknown> => Process.named(actor.world.system, name)

const left = (verb: string, read: (ref: Timer.TimerRef) => number | false): Verb =>
  now((actor, [ref]) => {
    const ms = read(actor.world.ref(text(ref)) as Timer.TimerRef)
    actor.observe(verb, ref, ms === false ? false : "int")
  })

const send = (target: (actor: Actor, name: string) => Target<unknown>): Verb =>
  now((actor, [name, message]: ReadonlyArray<Json>) =>
    Process.send(target(actor, text(name)), actor.world.decode(message))
  )

export const mail: Verbs = {
  receive,
  flush,
  send: send(pid),
  send_name: send(address),
  send_after: timer(Timer.sendAfter, pid),
  send_after_name: timer(Timer.sendAfter, address),
  start_timer: timer(Timer.start, pid),
  cancel_timer: left("cancel_timer", Timer.cancel),
  read_timer: left("read_timer", Timer.read)
}
