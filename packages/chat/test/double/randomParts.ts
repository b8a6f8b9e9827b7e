/** The parts of random runs: a model with random replies, and tools of all behaviours. */
import { once } from "node:events"
import { type Clock, Process } from "@troupe/otp"
import * as Effect from "effect/Effect"
import type { Script } from "../../src/adapter/Fake.ts"
import { make } from "../../src/tool/Tool.ts"
import type { Handler, Tool } from "../../src/tool/toolContract.ts"
import { askUser, error, halt, ok } from "../../src/values/HandlerResult.ts"

/** A list from which an element is chosen; a repeated one is chosen more often. */
export type Some<A> = readonly [A, ...ReadonlyArray<A>]

/** A random element of a list; `chance` returns numbers from 0 up to 1. */
export const pick = <A>(chance: () => number, list: Some<A>): A => anyOf(chance, list) ?? list[0]

/** A random element of a list; `undefined` if there is none. */
export const anyOf = <A>(chance: () => number, list: ReadonlyArray<A>): A | undefined =>
  list[Math.floor(chance() * list.length)]

/** A random reply: words, pauses, calls of tools, refusals, broken streams. No id of a call is used again. */
export const replyOf = (chance: () => number, toolNames: ReadonlyArray<string>, request: number): Script => {
  if (chance() < 0.06) return [{ preflightError: pick(chance, ["rate_limited", "timeout", "authentication_failed"]) }]
  const words = Array.from({ length: Math.floor(chance() * 5) }, (_, word): Script[number] =>
    chance() < 0.3 ? { delayMs: Math.ceil(chance() * 8) } : { text: `word ${word} ` }
  )
  const kind = chance()
  if (kind < 0.03) return [...words, { streamError: "timeout" }]
  if (kind < 0.06) return [...words, { crash: new Error("the stream broke") }]
  if (kind < 0.08) return [...words, { hang: true }]
  if (kind < 0.5) return [...words, { text: "That is all." }, { finish: "stop" }]
  const calls = Array.from({ length: 1 + Math.floor(chance() * 4) }, (_, call): Script[number] => {
    const broken = chance() < 0.03 ? { rawArguments: '{"ms":' } : {}
    const args = { key: pick(chance, ["a", "b", "c"]), ms: Math.ceil(chance() * 20) }
    return {
      toolCall: { id: `r${request}c${call}`, name: anyOf(chance, toolNames) ?? "none", arguments: args, ...broken }
    }
  })
  return [...words, ...calls, { finish: chance() < 0.03 ? "length" : "tool_calls" }]
}

/** The tools that answer, fail or end at once. */
const atOnce: Readonly<Record<string, Handler>> = {
  endless: () => Effect.never,
  throws: () => Promise.reject(new Error("no")),
  exits: () => {
    throw Process.exitWith("enough")
  },
  wrong: () => 1 as never,
  fails: () => error("sorry"),
  asks: () => askUser("Which?"),
  halts: () => halt("enough")
}

const aborted = (signal: AbortSignal): Promise<unknown> => (signal.aborted ? Promise.resolve() : once(signal, "abort"))

/** The tools. `deaf` is a call that ignores its signal, `hold` is called by each quick one. */
export const randomTools = (
  clock: Clock.Clock,
  deaf: () => Promise<never> = () => new Promise(() => {}),
  hold: () => void = () => {}
): ReadonlyArray<Tool> => {
  const sleep = (ms: unknown): Promise<void> =>
    new Promise((resolve) => void clock.setTimeout(resolve, Number(ms ?? 1)))
  const quick: Handler = (args) => {
    hold()
    return ok(args)
  }
  const slow: Handler = async ({ ms }) => {
    await sleep(ms)
    await sleep(Number(ms) / 2)
    return ok(1)
  }
  const aware: Handler = (_, { signal }) => aborted(signal).then(() => Promise.reject(new Error("aborted")))
  const sluggish: Handler = (_, { signal }) =>
    aborted(signal)
      .then(() => sleep(30))
      .then(() => ok("late"))
  return [
    make({ name: "quick", effect: "read", handler: quick }),
    make({ name: "slow", effect: "read", handler: slow }),
    make({ name: "write", key: ({ key }) => String(key), handler: ({ ms }) => sleep(ms).then(() => ok(1)) }),
    make({ name: "effect", handler: ({ ms }) => Effect.as(Effect.sleep(Number(ms ?? 1)), ok(1)) }),
    make({ name: "deaf", timeoutMs: 60, handler: () => deaf().then(ok) }),
    make({ name: "aware", handler: aware }),
    make({ name: "sluggish", handler: sluggish }),
    make({ name: "manual", manual: true }),
    ...Object.entries(atOnce).map(([name, handler]) => make({ name, handler }))
  ]
}

/** The names that the model calls: quick tools often, an unknown one sometimes. */
export const toolNames: ReadonlyArray<string> = [
  ..."quick quick quick slow slow write write write effect deaf aware sluggish manual none".split(" "),
  ...Object.keys(atOnce)
]
