/**
 * Steps around other steps, the end of a process, waiting, messages and timers.
 *
 * @module
 */
import { OtpError, Process, type Target, Timer } from "@troupe/otp"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { type Json, list } from "../../runner/json.ts"
import { type Actor, arg, Returned, act, verb, type Verb, type Verbs } from "../actor.ts"
import { fits, RuntimeError } from "../terms.ts"

const classify = (thrown: unknown): ReadonlyArray<unknown> => {
  if (Process.isSelfExit(thrown)) return ["exit", thrown.reason]
  if (thrown instanceof OtpError.CallExit) return ["exit", thrown]
  return [thrown instanceof Error ? "error" : "throw", thrown]
}

/** The value of a step, if it can be recorded. */
const worth = (actor: Actor, value: unknown): Json => {
  const observed = actor.world.encode(value ?? "_")
  return typeof observed === "object" && observed !== null && !Array.isArray(observed) && !("pid" in observed)
    ? "_"
    : observed
}

const caught: Verb = (actor, [step]) =>
  actor.perform(step ?? []).pipe(
    Effect.catchCause((cause) => {
      const thrown = Cause.squash(cause)
      if (Cause.hasInterruptsOnly(cause) || thrown instanceof Returned) return Effect.failCause(cause)
      return Effect.sync(() => actor.observe("caught", ...classify(thrown)))
    })
  )

const timed = act([arg.raw, arg.number, arg.number], (actor, step, low, high) => {
  const { clock } = actor.world
  const before = clock.now()
  return Effect.map(actor.perform(step ?? []), (value) => {
    const elapsed = clock.now() - before
    actor.observe("elapsed_within", low, high, elapsed >= low && elapsed <= high)
    return value
  })
})

const until = (holds: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (holds() ? Effect.void : Effect.andThen(Effect.sleep(1), until(holds))))

const receive = act([arg.raw, arg.time], ({ self, world }, pattern, timeout = "infinity") => {
  const taken = Process.receiveEffect(self, { match: (message) => fits(pattern, world.encode(message)), timeout })
  return Effect.tap(taken, (message) =>
    Effect.sync(() => world.observe(self, message === undefined ? ["timeout"] : ["received", message]))
  )
})

const flush = verb("flushed", [], ({ self }) => {
  const count = Process.info(self)?.queueLength ?? 0
  return Effect.replicateEffect(Process.receiveEffect(self, { timeout: 0 }), count)
})

type To = typeof arg.pid | typeof arg.name

const send = (to: To) => act([to, arg.term], (_, target, message) => Process.send(target as Target<unknown>, message))

const timer = (start: typeof Timer.start | typeof Timer.sendAfter, to: To) =>
  act([arg.text, to, arg.term, arg.number], ({ world }, ref, target, message, ms) => {
    world.refs.set(ref, start(target as Target<unknown>, message, ms))
  })

const left = (as: string, read: (ref: Timer.TimerRef) => number | false) =>
  verb(`${as} 0`, [arg.text], ({ world }, ref) => (read(world.ref(ref) as Timer.TimerRef) === false ? false : "int"))

export const control: Verbs = {
  catch: (actor, [step]) => caught(actor, [["observed", step ?? []]]),
  catch2: caught,
  observed: (actor, [step]) =>
    Effect.map(actor.perform(step ?? []), (value) => actor.observe("ok", worth(actor, value))),
  timed,
  try_after: (actor, [step, after]) =>
    Effect.ensuring(actor.perform(step ?? []), Effect.orDie(actor.script(list(after)))),
  exit: act([arg.reason], (_, reason) => Effect.die(Process.exitWith(reason))),
  raise: act([arg.text], (_, message) => Effect.die(new RuntimeError(message))),
  throw: act([arg.term], (_, value) => Effect.die(value)),
  return: act([arg.term], (_, value) => Effect.fail(new Returned(value))),
  note: act([arg.term], ({ world, self }, term) => world.note(self, "note", term)),
  sleep: act([arg.number], (_, ms) => Effect.sleep(Math.max(1, ms))),
  wait_forever: () => Effect.never,
  await_death: act([arg.text], ({ world }, name) =>
    until(() => world.incarnations(name) > 0 && !Process.isAlive(world.pid(name)))
  ),
  await_incarnation: act([arg.text, arg.number], ({ world }, name, count) =>
    until(() => world.incarnations(name) >= count)
  ),
  pdict_put: act([arg.text, arg.raw], ({ world, self }, key, value = null) => {
    const dictionary = world.dictionaries.get(self) ?? new Map<string, Json>()
    world.dictionaries.set(self, dictionary.set(key, value))
  }),
  pdict_get: verb("pdict 0", [arg.text], ({ world, self }, key) => world.dictionaries.get(self)?.get(key) ?? null),
  receive,
  flush,
  send: send(arg.pid),
  send_name: send(arg.name),
  send_after: timer(Timer.sendAfter, arg.pid),
  send_after_name: timer(Timer.sendAfter, arg.name),
  start_timer: timer(Timer.start, arg.pid),
  cancel_timer: left("cancel_timer", Timer.cancel),
  read_timer: left("read_timer", Timer.read)
}
