import { expect, test } from "vitest"
import { mistaken, stuck } from "../../src/step/loopGuards.ts"
import { type Message } from "../../src/model/messageShapes.ts"
import { user } from "../../src/model/Message.ts"
import type { Outcome } from "../../src/model/Outcome.ts"

/** A turn of so many rounds, each of one call, and how many of its messages were looked at. */
const turnOf = (rounds: number, resultOf: (round: number) => string, outcome: Outcome) => {
  const messages: ReadonlyArray<Message> = [
    user("go"),
    ...Array.from({ length: rounds }, (_, round): ReadonlyArray<Message> => [
      { role: "assistant", content: "", toolCalls: [{ id: `c${round}`, name: "t", arguments: {} }] },
      { role: "tool", toolCallId: `c${round}`, content: resultOf(round), outcome }
    ]).flat()
  ]
  let looks = 0
  const watched = new Proxy(messages, {
    get: (target, key) => {
      if (typeof key === "string" && /^\d+$/.test(key)) looks++
      return Reflect.get(target, key) as unknown
    }
  })
  return { watched, looks: () => looks }
}

const guards = { maxMistakes: 3, maxUnproductive: 3 }

test("GUARD4 what the guards look at does not grow with the turn", () => {
  const looks = [10, 10_000].map((rounds) => {
    const going = turnOf(rounds, (round) => `${round}`, "completed")
    expect(mistaken(guards, going.watched) ?? stuck(guards, going.watched)).toBeUndefined()
    const failing = turnOf(rounds, () => "no", "failed")
    expect(mistaken(guards, failing.watched)?.reason).toBe("consecutive_mistakes")
    const same = turnOf(rounds, () => "same", "completed")
    expect(stuck(guards, same.watched)?.reason).toBe("no_progress")
    return [going.looks(), failing.looks(), same.looks()]
  })
  expect(looks[1]).toEqual(looks[0])
})
