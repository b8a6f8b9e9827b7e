import { expect, test } from "vitest"
import { askUser } from "../../src/HandlerResult.ts"
import * as Store from "../../src/Store.ts"
import { tool } from "../../src/Tool.ts"
import { unpaired } from "../../src/internal/pairing.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, says } from "../double/scripts.ts"

const check = leakCheck()

/** A chat whose reply left a call to the caller beside a question. */
const beside = async (suspendedTtlMs?: number) => {
  const kept = Store.memory()
  const adapter = check.fake({ scripts: [calls("yours", "asks"), says("one"), says("two")] })
  const tools = [tool({ name: "yours", manual: true }), tool({ name: "asks", execute: () => askUser("Which?") })]
  const started = await check.troupe({ adapter, tools, store: kept, suspendedTtlMs })
  const chat = await started.troupe.chat("c")
  await chat.send("go").result()
  return { ...started, adapter, chat, kept }
}

const rolesOf = (messages: ReadonlyArray<{ readonly role: string; readonly toolCallId?: string }>) =>
  messages.map(({ role, toolCallId }) => (toolCallId === undefined ? role : `${role} ${toolCallId}`))

test("PAIR1 results that the caller gives beside a question stand behind their calls, not behind the question", async () => {
  const { chat } = await beside()
  await chat.submitToolResults({ c0: "done" }).result()
  expect(rolesOf(chat.thread.messages)).toEqual(["user", "assistant", "tool c1", "tool c0", "assistant", "assistant"])
  expect(unpaired(chat.thread)).toBeUndefined()
})

test("PAIR1 so the record of such a chat is one that a chat can be started from", async () => {
  const { chat, troupe } = await beside()
  await chat.submitToolResults({ c0: "done" }).result()
  await chat.stop()
  const again = await troupe.chat("c")
  expect((await again.send("this one").result()).finalResponse?.outputText).toBe("two")
})

test("PAIR1 calls that nobody answered in time are answered behind the message that made them", async () => {
  const { chat, clock } = await beside(1_000)
  await clock.advance(1_000)
  expect(chat.getSnapshot()?.context.lastHaltedReason).toBe("expired")
  expect(unpaired(chat.thread)).toBeUndefined()
  expect((await chat.send("next").result()).haltedReason).toBe("completed")
})
