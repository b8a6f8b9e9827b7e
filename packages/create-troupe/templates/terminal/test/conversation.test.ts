import { Troupe } from "@troupe/chat"
import { afterEach, beforeEach, expect, test } from "vitest"
import { agent } from "../src/agent.ts"
import { say } from "../src/conversation.ts"
import { scripted } from "../src/scripted.ts"

let troupe: Troupe
let shown = ""
const write = (text: string) => void (shown += text)
const refuse = () => Promise.resolve(false)

beforeEach(async () => {
  shown = ""
  troupe = await Troupe.start({ ...agent, adapter: scripted(0) })
})

afterEach(() => troupe.stop())

test("an answer is shown", async () => {
  await say(await troupe.chat("c1"), "Where is order 7?", { write, confirm: refuse })
  expect(shown).toContain("look_up_order: completed")
  expect(shown).toContain("sent on Monday")
})

test("a refund that a person refuses does not run", async () => {
  const questions: Array<string> = []
  const confirm = (question: string) => {
    questions.push(question)
    return refuse()
  }
  await say(await troupe.chat("c2"), "Refund order 7", { write, confirm })
  expect(questions).toEqual(['  Run refund {"order":"7","euros":24}? [y/N] '])
  expect(shown).toContain("The user refused")
})
