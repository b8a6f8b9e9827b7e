import { Troupe } from "@troupe/chat"
import { expect, test } from "vitest"
import { scripted } from "../src/scripted.ts"
import { team } from "../src/team.ts"
import { work } from "../src/work.ts"

test("two researchers work, one of them asks a person, and the coordinator answers", async () => {
  const troupe = await Troupe.start({ ...team, adapter: scripted(0) })
  const questions: Array<string> = []
  const lines: Array<string> = []
  const answer = await work(troupe, "c1", "Plan a visit to Oslo", {
    show: (line) => void lines.push(line),
    ask: (question) => {
      questions.push(question)
      return Promise.resolve("two of us")
    }
  })
  await troupe.stop()
  expect(questions).toEqual(["How many guests come?"])
  expect(lines.toSorted()).toEqual(["researcher: the weather: 12 °C and rain.", "researcher: two of us."])
  expect(answer).toBe("Here is the plan. the weather: 12 °C and rain. two of us.")
})
