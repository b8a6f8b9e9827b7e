/** A model with random replies: words, pauses, tool calls, refusals, broken streams. */
import { Fake } from "@troupe/chat"
import type { Clock } from "@troupe/otp"
import { type Chance, pick } from "../chance.ts"

/** Names to choose from; a repeated name is chosen more often. */
export type Names = readonly [string, ...ReadonlyArray<string>]

const wordsBy = (chance: Chance): Fake.Script =>
  Array.from({ length: Math.floor(chance() * 5) }, (_, word) =>
    chance() < 0.3 ? { delayMs: Math.ceil(chance() * 8) } : { text: `word ${word} ` }
  )

/** One reply; ids of calls are never reused. */
const replyOf = (chance: Chance, toolNames: Names, request: number): Fake.Script => {
  if (chance() < 0.06) return [{ preflightError: pick(chance, ["rate_limited", "timeout", "authentication_failed"]) }]
  const words = wordsBy(chance)
  const kind = chance()
  if (kind < 0.03) return [...words, { streamError: "timeout" }]
  if (kind < 0.06) return [...words, { crash: new Error("the stream broke") }]
  if (kind < 0.08) return [...words, { hang: true }]
  if (kind < 0.5) return [...words, { text: "That is all." }, { finish: "stop" }]
  const calls = Array.from({ length: 1 + Math.floor(chance() * 4) }, (_, call): Fake.Script[number] => {
    const broken = chance() < 0.03 ? { rawArguments: '{"ms":' } : {}
    const args = { ms: Math.ceil(chance() * 20), key: pick(chance, ["a", "b", "c"]) }
    return { toolCall: { id: `r${request}c${call}`, name: pick(chance, toolNames), arguments: args, ...broken } }
  })
  return [...words, ...calls, { finish: chance() < 0.03 ? "length" : "tool_calls" }]
}

export const modelOf = (clock: Clock.Clock, chance: Chance, toolNames: Names): Fake.Fake => {
  let requests = 0
  return Fake.make({ clock, respond: () => replyOf(chance, toolNames, (requests += 1)) })
}
