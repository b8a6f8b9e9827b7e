/**
 * The loop guards: too many consecutive mistakes, and a loop without progress.
 *
 * Owns: nothing; both guards read the thread. A round is a reply with calls and their results.
 *
 * GUARD1. The guards count the rounds after the last message of a person, the newest first. So rounds before a crash count in
 *         the retry, and a message of a person during a turn resets the count. A message of the runtime does not (CHAIN1).
 * GUARD2. A round is a mistake if a call failed and none succeeded; it counts once, however many of its calls failed. A
 *         round that neither succeeded nor failed (cancelled, never begun) does not change the count.
 * GUARD3. A round is unproductive if it has the same calls and results as the one before, in any order and under any ids,
 *         and no text, or the same text. A productive round ends the count.
 * GUARD4. A guard reads as many rounds as its bound, and the round before them.
 * GUARD5. In a live chat both bounds are 3 unless its Troupe sets them; 0 is no bound. Elsewhere there is no bound by
 *         default.
 *
 * @source ExAthena.Loop, consecutive mistakes and the no-progress guard
 */
import { type Message, type Outcome, text, type ToolCall, type ToolMessage } from "../model/index.ts"
import { isOfRuntime } from "../record/index.ts"
import type { RunOptions } from "../options/index.ts"
import type { Terminal } from "./chainLimits.ts"

/** A reply with calls, and their results. */
interface Round {
  readonly said: string
  readonly calls: ReadonlyArray<ToolCall>
  /** The last first. */
  readonly results: ReadonlyArray<ToolMessage>
}

/** Why the turn stops after too many mistakes; `undefined` to continue. */
export const mistaken = (
  { maxMistakes = 0 }: Pick<RunOptions, "maxMistakes">,
  messages: ReadonlyArray<Message>
): Terminal | undefined => {
  if (maxMistakes === 0) return undefined
  const mistakes = consecutiveMistakes(messages, maxMistakes)
  return mistakes < maxMistakes ? undefined : { reason: "consecutive_mistakes", metadata: { maxMistakes, mistakes } }
}

/** Why the turn stops without progress, with the last messages; `undefined` to continue. */
export const stuck = (
  { maxUnproductive = 0 }: Pick<RunOptions, "maxUnproductive">,
  messages: ReadonlyArray<Message>
): Terminal | undefined => {
  if (maxUnproductive === 0 || unproductiveRounds(messages, maxUnproductive) < maxUnproductive) return undefined
  const snapshot = messages.slice(-snapshotPerRound * maxUnproductive)
  return { reason: "no_progress", metadata: { maxUnproductive, unproductive: maxUnproductive, snapshot } }
}

const snapshotPerRound = 4

/** The number of mistakes since the last success, counted up to the bound. */
const consecutiveMistakes = (messages: ReadonlyArray<Message>, bound: number): number => {
  let mistakes = 0
  for (const { results } of rounds(messages)) {
    if (results.some(isSuccess)) return mistakes
    if (results.some(isMistake)) mistakes++
    if (mistakes === bound) return mistakes
  }
  return mistakes
}

/** The number of unproductive rounds at the end of a thread, counted up to the bound. */
export const unproductiveRounds = (messages: ReadonlyArray<Message>, bound = Infinity): number => {
  const older = rounds(messages)
  let unproductive = 0
  let newest = older.next().value
  while (newest !== undefined && unproductive < bound) {
    const before = older.next().value
    if (before === undefined || fingerprint(newest) !== fingerprint(before) || saysNew(newest, before)) break
    unproductive++
    newest = before
  }
  return unproductive
}

/** A fingerprint of the calls and results of the last round; `undefined` without one. */
export const lastFingerprint = (messages: ReadonlyArray<Message>): string | undefined => {
  const newest = rounds(messages).next().value
  return newest === undefined ? undefined : fingerprint(newest)
}

const saysNew = ({ said }: Round, before: Round): boolean => said.trim() !== "" && said !== before.said

/** A fingerprint that is equal for rounds with the same calls and results, whatever their ids and order. */
const fingerprint = ({ calls, results }: Round): string => {
  // Newest first; calls that share an id have their results in call order.
  const left = Map.groupBy(results, ({ toolCallId }) => toolCallId)
  const parts = calls.map(({ id, name, arguments: args, rawArguments }) =>
    canonical([name, args ?? rawArguments ?? null, left.get(id)?.pop()?.content ?? null])
  )
  return parts.toSorted().join("\n")
}

/** JSON with sorted object keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part
  )

/** The rounds of the turn, the newest first. */
function* rounds(messages: ReadonlyArray<Message>): Generator<Round, undefined> {
  let results: Array<ToolMessage> = []
  for (let at = messages.length - 1; at >= 0; at--) {
    const message = messages[at]
    if (message === undefined || isPerson(message)) return undefined
    if (message.role === "tool") results.push(message)
    if (message.role === "assistant" && message.toolCalls !== undefined) {
      yield { said: text(message), calls: message.toolCalls, results }
      results = []
    }
  }
  return undefined
}

const isPerson = (message: Message): boolean => message.role === "user" && !isOfRuntime(message)

/** A result without an outcome was submitted by the caller, and counts as a success. */
const isSuccess = ({ outcome = "completed" }: ToolMessage): boolean => outcome === "completed"

const mistakes: ReadonlySet<Outcome> = new Set(["failed", "timed_out", "denied", "invalid", "not_found"])

const isMistake = ({ outcome }: ToolMessage): boolean => outcome !== undefined && mistakes.has(outcome)
