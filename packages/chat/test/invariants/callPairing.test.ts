import { expect, test } from "vitest"
import { askUser } from "../../src/values/HandlerResult.ts"
import { tool } from "../../src/tool/functionTool.ts"
import { unpaired } from "../../src/model/messageFindings.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, says } from "../double/scripts.ts"
import { memory } from "../double/savingStore.ts"

const check = leakCheck()

/** A chat whose reply left a call to the caller beside a question. */
const beside = async (suspendedTtlMs?: number) => {
  const kept = memory()
  const adapter = check.fake({ scripts: [calls("yours", "asks"), says("one"), says("two")] })
  const tools = [tool({ name: "yours", manual: true }), tool({ name: "asks", execute: () => askUser("Which?") })]
  const started = await check.troupe({ adapter, tools, store: kept, suspendedTtlMs })
  const chat = await started.troupe.chat("c")
  await chat.send("go").result()
  return { ...started, adapter, chat, kept }
}

const rolesOf = (messages: ReadonlyArray<{ readonly role: string; readonly toolCallId?: string }>) =>
  messages.map(({ role, toolCallId }) => (toolCallId === undefined ? role : `${role} ${toolCallId}`))

test("PAIR1 results that the caller gives beside a question stand in the order of the calls, before the question", async () => {
  const { chat } = await beside()
  await chat.submitToolResults({ c0: "done" }).result()
  expect(rolesOf(chat.thread.messages)).toEqual(["user", "assistant", "tool c0", "tool c1", "assistant"])
  expect(unpaired(chat.thread)).toBeUndefined()
})

test("PAIR1 so the record of such a chat is one that a chat can be started from", async () => {
  const { chat, troupe } = await beside()
  await chat.submitToolResults({ c0: "done" }).result()
  await chat.stop()
  const again = await troupe.chat("c")
  // The results alone sent no request: the question is open until its answer (MAIL7).
  expect((await again.send("this one").result()).finalResponse?.outputText).toBe("one")
})

test("PAIR1 calls that nobody answered in time are answered behind the message that made them", async () => {
  const { chat, clock } = await beside(1_000)
  await clock.advance(1_000)
  expect(chat.getSnapshot()?.context.lastHaltedReason).toBe("expired")
  expect(unpaired(chat.thread)).toBeUndefined()
  expect((await chat.send("next").result()).haltedReason).toBe("completed")
})

test("PAIR1 a result given while a decided call of its step has not run is that call's one result", async () => {
  const kept = memory()
  const adapter = check.fake({ scripts: [says("done")] })
  const writes = tool({ name: "writes", execute: () => "written" })
  const options = { adapter, tools: [tool({ name: "yours", manual: true }), writes], store: kept }
  await kept.save({
    id: "c",
    thread: {
      messages: [
        { role: "user", content: "go" },
        {
          role: "assistant",
          content: "",
          toolCalls: [
            { id: "c0", name: "yours", arguments: {} },
            { id: "c1", name: "writes", arguments: {} }
          ]
        }
      ]
    },
    usage: {},
    running: true,
    pendingToolCalls: [{ id: "c0", name: "yours", arguments: {} }],
    open: {
      at: 1,
      calls: [{ state: "manual" }, { state: "decided", kind: "unknown_outcome", decision: { type: "allow" } }]
    }
  })
  const { troupe } = await check.troupe(options)
  const chat = await troupe.chat("c")
  const result = await chat.submitToolResults({ c0: "mine" }).result()
  expect(result.haltedReason).toBe("completed")
  expect(rolesOf(chat.thread.messages)).toEqual(["user", "assistant", "tool c0", "tool c1", "assistant"])
  expect(chat.getSnapshot()?.context.pendingToolCalls).toEqual([])
  expect(unpaired(chat.thread)).toBeUndefined()
})
