import { expect, it } from "vitest"
import { runTeam } from "../src/team.ts"

it("two researchers work, one of them asks a person, and the coordinator answers", async () => {
  const asked: Array<string> = []
  const lines: Array<string> = []
  const person = (question: string): string => {
    asked.push(question)
    return "two of us"
  }
  const answer = await runTeam(person, (line) => void lines.push(line))
  expect(asked).toEqual(["Who visits Oslo?"])
  expect(answer).toBe("the weather: 12 °C and rain. the visit: two of us.")
  expect(lines).toEqual(
    expect.arrayContaining([
      "researcher: I look into the weather.",
      "researcher: I look into the visit.",
      "researcher: the weather: 12 °C and rain.",
      "researcher: the visit: two of us."
    ])
  )
})
