import { expect, test } from "vitest"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, says } from "../double/scripts.ts"
import { delegates, withoutId } from "../double/subagents.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const check = leakCheck()

/** The message of the call of a child that answers by these replies. */
const resultOf = async (...replies: ReadonlyArray<Script>) => {
  let at = 0
  const research = () => replies[at++] ?? says("more")
  const { troupe } = await delegates(check, research)
  const chat = await troupe.chat("c")
  await chat.send("please !dig").result()
  const message = chat.thread.messages.find(({ role }) => role === "tool")
  return message?.role === "tool" ? `${message.outcome}: ${withoutId(message)}` : "none"
}

const sentence: Script = [{ text: "Let me look that up." }, ...calls("look")]

test.each<readonly [end: string, reply: Script, result: string]>([
  ["is whole", says("4"), "completed: 4"],
  [
    "is cut",
    [{ text: "The answer is 4" }, { finish: "length" }],
    "completed: The answer is 4\n\n[This answer of the agent research is cut off: it reached the limit of its length.]"
  ],
  [
    "is filtered",
    [{ text: "The answer" }, { finish: "content_filter" }],
    "completed: The answer\n\n[This answer of the agent research is cut off: the filter of the provider ended it.]"
  ],
  ["is blank", says(" \n"), 'failed: {"error":"child_failed: the agent research ended without an answer"}'],
  [
    "is cut before its text",
    [{ finish: "length" }],
    'failed: {"error":"child_failed: the agent research ended without an answer, because it reached the limit of its length"}'
  ]
])("SUB16 when the last reply of a child %s, the parent reads so", async (_, reply, result) => {
  expect(await resultOf(reply)).toBe(result)
})

test("SUB16 when the last reply of a child is blank, an earlier sentence is not its answer", async () => {
  expect(await resultOf(sentence, [{ finish: "stop" }])).toBe(
    'failed: {"error":"child_failed: the agent research ended without an answer; its last text: Let me look that up."}'
  )
})
