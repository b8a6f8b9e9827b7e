import { Fake, tool } from "@troupe/chat"
import { Store } from "@troupe/chat/store"
import { describe, expect, test } from "vitest"
import { served } from "../double/served.ts"

const tools = [tool({ name: "pay", execute: () => "paid" })]
const permissions = { ask: () => "suspend" as const }
const says = (text: string): Fake.Script => [{ text }, { finish: "stop" }]
const calls: Fake.Script = [{ toolCall: { id: "c0", name: "pay" } }, { finish: "tool_calls" }]

/** Two programs of one store. The second one has the conversation in memory, and the first one has then let it wait for a decision. */
const programs = async (reply: Fake.Script = calls) => {
  const store = Store.memory()
  const one = (...scripts: ReadonlyArray<Fake.Script>) =>
    served({ adapter: Fake.make({ scripts }), store, tools, permissions })
  const first = await one(reply, says("paid by the first"))
  const stale = await one(says("Hello"), says("paid by the second"))
  await (await stale.ask("POST", "/chats/c1/messages?wait", { input: "Hi", id: "m0" })).text()
  await (await first.ask("POST", "/chats/c1/messages?wait", { input: "Pay", id: "m1" })).text()
  return { first, stale }
}

describe("REF14 a request to a program whose conversation another program has continued", () => {
  test("is decided about the newest entry: a view, a decision, and a message", async () => {
    const { first, stale } = await programs()
    const view = await (await stale.ask("GET", "/chats/c1")).text()
    expect(view).toBe(await (await first.ask("GET", "/chats/c1")).text())
    expect(view).toContain('"phase":"awaitingApproval"')
    const paid = await (await stale.ask("POST", "/chats/c1/approvals/c0?wait", { type: "allow" })).text()
    expect(paid).toContain("paid by the second")
    expect(await (await first.ask("GET", "/chats/c1")).text()).toContain("paid by the second")
  })

  test("gets the reply of a message that the other program has answered", async () => {
    const { first, stale } = await programs(says("said by the first"))
    const answer = await (await first.ask("GET", "/api/chat/c1/messages")).json()
    const { messages } = answer as { readonly messages: ReadonlyArray<object> }
    expect(messages).toHaveLength(4)
    const body = { id: "c1", trigger: "submit-message", messages: messages.slice(0, -1) }
    expect((await stale.troupe.chat("anna/c1")).thread.messages).toHaveLength(2)
    const frames = await (await stale.ask("POST", "/api/chat", body)).text()
    expect(frames).toContain("said by the first")
    expect(frames).not.toContain("paid by the second")
  })
})
