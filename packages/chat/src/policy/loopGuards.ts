/**
 * The guards of the loop: too many mistakes one after another, and a loop that goes nowhere.
 *
 * Owns: nothing; both are read off the thread. A round is a reply with calls and their results.
 *
 * GUARD1. What counts are the rounds behind the last thing a person said, the newest first; so what a retry goes on with
 *         after a crash counts, and what a person says in the middle of a turn is a new beginning.
 * GUARD2. A round with a success is no mistake, however many of its calls failed; a round that is one counts once. A round
 *         that neither succeeded nor failed (cancelled, never begun) changes nothing.
 * GUARD3. A round is unproductive if it has the same calls and results as the one before, in any order and under any ids,
 *         and said nothing, or the same. A productive round ends the count.
 * GUARD4. Only as many rounds are looked at as the bound says, and the round before them.
 * GUARD5. In a living chat both bounds are 3 unless its Troupe sets them; 0 is no bound. Elsewhere there is none by default.
 *
 * @source ExAthena.Loop, consecutive mistakes and the no-progress guard
 */
import { type Message, type Outcome, text, type ToolCall, type ToolMessage } from "../model/index.ts"
import { isInjected, isNudge } from "../record/index.ts"
import type { RunOptions } from "../options/index.ts"
import type { Terminal } from "./terminal.ts"

/** A reply with calls, and their results. */
interface Round {
  readonly said: string
  readonly calls: ReadonlyArray<ToolCall>
  /** The last first. */
  readonly results: ReadonlyArray<ToolMessage>
}

type Messages = ReadonlyArray<Message>

/** Why the turn stops, when the model has made too many mistakes. */
export const mistaken = (
  { maxMistakes = 0 }: Pick<RunOptions, "maxMistakes">,
  messages: Messages
): Terminal | undefined => {
  if (maxMistakes === 0) return undefined
  const mistakes = consecutiveMistakes(messages, maxMistakes)
  return mistakes < maxMistakes ? undefined : { reason: "consecutive_mistakes", metadata: { maxMistakes, mistakes } }
}

/** Why the turn stops, when it goes nowhere; with the last messages, to look at. */
export const stuck = (
  { maxUnproductive = 0 }: Pick<RunOptions, "maxUnproductive">,
  messages: Messages
): Terminal | undefined => {
  if (maxUnproductive === 0 || unproductiveRounds(messages, maxUnproductive) < maxUnproductive) return undefined
  const snapshot = messages.slice(-snapshotPerRound * maxUnproductive)
  return { reason: "no_progress", metadata: { maxUnproductive, unproductive: maxUnproductive, snapshot } }
}

const snapshotPerRound = 4

/** How many rounds were mistakes since the last success; counted up to the bound. */
const consecutiveMistakes = (messages: Messages, bound: number): number => {
  let mistakes = 0
  for (const { results } of rounds(messages)) {
    if (results.some(isSuccess)) return mistakes
    if (results.some(isMistake)) mistakes++
    if (mistakes === bound) return mistakes
  }
  return mistakes
}

/** How many rounds at the end of a thread were unproductive; counted up to the bound. */
export const unproductiveRounds = (messages: Messages, bound = Infinity): number => {
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

/** The calls of the last round, and what came of them; `undefined` without any. */
export const lastFingerprint = (messages: Messages): string | undefined => {
  const newest = rounds(messages).next().value
  return newest === undefined ? undefined : fingerprint(newest)
}

const saysNew = ({ said }: Round, before: Round): boolean => said.trim() !== "" && said !== before.said

/** Equal for rounds of the same calls and results: ids and order do not matter. */
const fingerprint = ({ calls, results }: Round): string => {
  // Newest first; calls that share an id have their results in call order.
  const left = Map.groupBy(results, ({ toolCallId }) => toolCallId)
  const parts = calls.map(({ id, name, arguments: args, rawArguments }) =>
    canonical([name, args ?? rawArguments ?? null, left.get(id)?.pop()?.content ?? null])
  )
  return parts.toSorted().join("\n")
}

/** JSON whose objects have their names in order. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === "object" && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part
  )

/** The rounds of the turn, the newest first. */
function* rounds(messages: Messages): Generator<Round, undefined> {
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

const isPerson = (message: Message): boolean => message.role === "user" && !isNudge(message) && !isInjected(message)

/** A result that its caller submitted says no more than that it is there. */
const isSuccess = ({ outcome = "completed" }: ToolMessage): boolean => outcome === "completed"

const mistakes: ReadonlySet<Outcome> = new Set(["failed", "timed_out", "denied", "invalid", "not_found"])

const isMistake = ({ outcome }: ToolMessage): boolean => outcome !== undefined && mistakes.has(outcome)
