import { Troupe } from "@troupe/chat"
import { afterEach, beforeEach, expect, test } from "vitest"
import { agent } from "../src/agent.ts"
import { scripted } from "../src/scripted.ts"

let troupe: Troupe

beforeEach(async () => {
  troupe = await Troupe.start({ ...agent, adapter: scripted(0) })
})

afterEach(() => troupe.stop())

test("an order is looked up without a question", async () => {
  const chat = await troupe.chat("c1")
  const { finalResponse } = await chat.send("Where is order 7?").result()
  expect(finalResponse?.outputText).toBe("I have asked the shop. Order 7: two mugs for 24 €, sent on Monday.")
})

test("a refund waits for a decision, and runs once it is allowed", async () => {
  const chat = await troupe.chat("c2")
  const { haltedReason, pendingApprovals = [] } = await chat.send("I would like a refund of order 7").result()
  expect(haltedReason).toBe("awaiting_approval")
  const id = pendingApprovals[0]?.toolCall.id ?? ""
  const { finalResponse } = await chat.approve(id, { type: "allow" }).result()
  expect(finalResponse?.outputText).toBe("I have asked the shop. Order 7: 24 € are paid back.")
})
