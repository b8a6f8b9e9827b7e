/**
 * Steps around other steps, the end of a process, and waiting.
 *
 * @module
 */
import { OtpError, Process } from "@troupe/otp"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { list, number, text } from "../../runner/json.ts"
import type { Json } from "../../runner/json.ts"
import { Returned, now } from "../actor.ts"
import type { Actor, Verb, Verbs } from "../actor.ts"
import { RuntimeError, decodeReason } from "../terms.ts"

const thrownOf = (cause: Cause.Cause<unknown>): { readonly thrown: unknown } | undefined => {
  for (const reason of cause.reasons) {
    if (Cause.isFailReason(reason)) return { thrown: reason.error }
    if (Cause.isDieReason(reason)) return { thrown: reason.defect }
  }
  return undefined
}

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
    Effect.matchCauseEffect({
      onSuccess: (value) => Effect.sync(() => actor.observe("ok", worth(actor, value))),
      onFailure: (cause) => {
        const failure = thrownOf(cause)
        if (failure === undefined || failure.thrown instanceof Returned) return Effect.failCause(cause)
        return Effect.sync(() => actor.observe("caught", ...classify(failure.thrown)))
      }
    })
  )

const timed: Verb = (actor, [step, low, high]) =>
  Effect.gen(function* () {
    const { clock } = actor.world
    const before = clock.now()
    const value = yield* actor.perform(step ?? [])
    const elapsed = clock.now() - before
    actor.observe("elapsed_within", low, high, elapsed >= number(low) && elapsed <= number(high))
    return value
  })

const until = (holds: () => boolean): Effect.Effect<void> =>
  Effect.suspend(() => (holds() ? Effect.void : Effect.andThen(Effect.sleep(1), until(holds))))

export const control: Verbs = {
  catch: caught,
  timed,
  try_after: (actor, [step, after]) =>
    Effect.ensuring(actor.perform(step ?? []), Effect.orDie(actor.script(list(after)))),
  exit: (actor, [reason]) => Effect.die(Process.exitWith(decodeReason(actor.world, reason))),
  raise: (_actor, [message]) => Effect.die(new RuntimeError(text(message))),
  throw: (actor, [value]) => Effect.die(actor.world.decode(value)),
  return: (actor, [value]) => Effect.fail(new Returned(actor.world.decode(value))),
  note: now((actor, [term]) => actor.world.note(actor.self, "note", actor.world.decode(term))),
  sleep: (_actor, [ms]) => Effect.sleep(Math.max(1, number(ms))),
  wait_forever: () => Effect.never,
  await_death: (actor, [name]) =>
    until(() => actor.world.incarnations(text(name)) > 0 && !Process.isAlive(actor.world.pid(text(name)))),
  await_incarnation: (actor, [name, count]) => until(() => actor.world.incarnations(text(name)) >= number(count)),
  pdict_put: now((actor, [key, value]) => {
    const { dictionaries } = actor.world
    const dictionary = dictionaries.get(actor.self) ?? new Map<string, Json>()
    dictionaries.set(actor.self, dictionary.set(text(key), value ?? null))
  }),
  pdict_get: now((actor, [key]) =>
    actor.observe("pdict", key, actor.world.dictionaries.get(actor.self)?.get(text(key)) ?? null)
  )
}
