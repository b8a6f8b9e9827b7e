/**
 * The scripted adapter: a fake model that sends scripted replies.
 *
 * @module
 * @source ALLM.Providers.Fake
 */
import { Clock } from "@troupe/otp"
import type { Adapter, AdapterOptions } from "./Adapter.ts"
import { AdapterError, type Finding, ValidationError } from "../errors/index.ts"
import { isNote } from "../compaction/index.ts"
import type { AdapterEvent } from "../events/index.ts"
import { interpret, type ScriptEntry, type Script } from "./fakeScript.ts"
import { type Request, Usage } from "../model/index.ts"

export type { Script } from "./fakeScript.ts"

/**
 * The replies of a fake.
 *
 * - `script`: the same reply to every request
 * - `scripts`: one reply per request, in order; a further request is a `no_scripted_response` error
 * - `respond`: computes the reply from the request, without the note that a Troupe adds at the end of some requests (NOTE1): a script that
 *   answers the last message needs no line for it. `requests` has it
 */
type FakeOptions = (
  | { readonly script: Script }
  | { readonly scripts: ReadonlyArray<Script>; readonly cursor?: { next: number } | undefined }
  | { readonly respond: (request: Request, call: number) => Script }
) & {
  /** Reported on every request; takes precedence over a script's own. */
  readonly usage?: Usage | undefined
  /** The provider's own id of every request, reported in its response. */
  readonly requestId?: string | undefined
  /** The clock of `delayMs`. Default: the real clock; a test clock makes delays instant. */
  readonly clock?: Clock.Clock | undefined
}

/** A fake adapter and the requests it received. */
export interface Fake extends Adapter {
  /** Every request, in order. */
  readonly requests: ReadonlyArray<Request>
  /** Streams opened and not yet released. */
  readonly open: number
  /** Streams released, each once. */
  readonly released: number
}

/**
 * Makes a scripted adapter.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) for invalid scripts, an invalid cursor, and unknown usage
 * fields.
 *
 * @example
 * ```ts
 * const adapter = Fake.make({
 *   scripts: [
 *     [{ toolCall: { id: "c0", name: "echo", arguments: { x: 1 } } }, { finish: "tool_calls" }],
 *     [{ text: "done" }, { finish: "stop" }]
 *   ]
 * })
 * ```
 */
export const make = (options: FakeOptions): Fake => {
  check(options)
  const requests: Array<Request> = []
  const cursor: { next: number } = "scripts" in options ? (options.cursor ?? { next: 0 }) : { next: 0 }
  let open = 0
  let released = 0
  const script = (request: Request): Script | undefined => {
    if ("script" in options) return options.script
    if ("respond" in options) return options.respond(withoutNote(request), requests.length - 1)
    return options.scripts[cursor.next++]
  }
  return {
    name: "fake",
    get requests() {
      return requests
    },
    get open() {
      return open
    },
    get released() {
      return released
    },
    stream: (request: Request, adapterOptions: AdapterOptions): AsyncIterable<AdapterEvent> => {
      requests.push(request)
      const lines = script(request)
      if (lines === undefined) {
        throw new AdapterError("no_scripted_response", {
          provider: "fake",
          message: `The fake adapter has no script for request ${requests.length}; add one to \`scripts\``
        })
      }
      const refusal = lines[0]
      if (refusal !== undefined && "preflightError" in refusal) {
        const { preflightError, retryAfterMs } = refusal
        throw preflightError instanceof AdapterError
          ? preflightError
          : new AdapterError(preflightError, { provider: "fake", retryAfterMs })
      }
      open++
      let live = true
      const release = () => {
        if (!live) return
        live = false
        open--
        released++
      }
      return releasedOnReturn(interpret(lines, options, adapterOptions, options.clock ?? Clock.live, release), release)
    }
  }
}

const withoutNote = (request: Request): Request => {
  const last = request.messages.at(-1)
  return last !== undefined && isNote(last) ? { ...request, messages: request.messages.slice(0, -1) } : request
}

/** A generator that was never started runs no `finally` when it is returned, so this calls `release` itself. */
const releasedOnReturn = (
  events: AsyncGenerator<AdapterEvent, void>,
  release: () => void
): AsyncIterable<AdapterEvent> => {
  let started = false
  return {
    [Symbol.asyncIterator]: () => ({
      next: () => {
        started = true
        return events.next()
      },
      return: () => {
        if (!started) release()
        return events.return()
      }
    })
  }
}

const check = (options: FakeOptions): void => {
  const found: Array<Finding> = []
  const { script, scripts, respond, cursor } = (options ?? {}) as Readonly<Record<string, unknown>>
  const said = script === undefined ? scripts : [script]
  if (script !== undefined && scripts !== undefined) found.push({ field: ["script"], reason: "one_of script, scripts" })
  if (script !== undefined && !Array.isArray(script)) found.push({ field: ["script"], reason: "must_be_a_list" })
  else if (said !== undefined && !(Array.isArray(said) && said.every((one) => Array.isArray(one)))) {
    found.push({ field: ["scripts"], reason: "must_be_a_list of scripts" })
  }
  if (said === undefined && typeof respond !== "function") {
    found.push({ field: [], reason: "one_of script, scripts, respond" })
  }
  if (cursor !== undefined && !isCursor(cursor)) {
    found.push({ field: ["cursor"], reason: "must_be a cursor" })
  }
  const lines = found.length === 0 && Array.isArray(said) ? (said as ReadonlyArray<Script>).flat() : []
  for (const line of lines) {
    if (!isLine(line)) found.push({ field: ["script"], reason: `must_be lines of one of ${words.join(", ")}` })
    else if ("usage" in line && !isUsage(line.usage)) {
      found.push({ field: ["usage"], reason: "unknown_field" })
    }
  }
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}

const words: ReadonlyArray<string> = [
  "text",
  "reasoning",
  "toolCall",
  "toolCallDelta",
  "rawChunk",
  "usage",
  "error",
  "streamError",
  "preflightError",
  "delayMs",
  "hang",
  "crash",
  "finish"
]

const isLine = (line: unknown): line is ScriptEntry =>
  typeof line === "object" && line !== null && words.some((word) => word in line)

const isCursor = (value: unknown): value is { next: number } =>
  typeof value === "object" && value !== null && "next" in value && Number.isInteger(value.next)

/** Whether a value is a usage, with fields of a usage only. */
const isUsage = (value: object): boolean => {
  const { data } = Usage.safeParse(value)
  return data !== undefined && Object.keys(data).length === Object.keys(value).length
}
