import { Fake, type LocalChatRef, tool } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { Tool } from "@troupe/chat/tools"
import { expect, test } from "vitest"
import type { ChatLink } from "../../src/link/ChatLink.ts"
import { local } from "../../src/link/Local.ts"
import { linked, until } from "../double/linked.ts"

type Answers = Parameters<ChatLink["answer"]>
type Face = "the chat" | "a link of the program" | "a client" | "a request"

/** A chat that waits for a decision and for a result, and each of its faces. */
const waiting = async () => {
  const adapter = Fake.make({
    scripts: [
      [{ toolCall: { id: "p0", name: "pay" } }, { toolCall: { id: "s0", name: "sign" } }, { finish: "tool_calls" }],
      [{ text: "Both are done." }, { finish: "stop" }]
    ]
  })
  const paid: Array<string> = []
  const pay = tool({ name: "pay", execute: () => (paid.push("pay"), "paid") })
  const permissions = { ask: () => "suspend" as const }
  const tools = [pay, Tool.make({ name: "sign", manual: true })]
  const { troupe, server, link } = await linked(adapter, {}, { tools, permissions })
  const chat = await troupe.chat("anna/c")
  await chat.send("Pay and sign").result()
  const faces: Readonly<Record<Face, (...args: Answers) => Promise<unknown>>> = {
    "the chat": async (...args) => (await chat.answer(...args).receipt).status,
    "a link of the program": (...args) =>
      local(troupe)
        .chat("anna/c")
        .answer(...args),
    "a client": (...args) => link.chat("c").answer(...args),
    "a request": async (answers, options) => {
      const body = JSON.stringify({ ...answers, ...options })
      const headers = { "content-type": "application/json" }
      await server.fetch(new Request("http://localhost/chats/c/answer", { method: "POST", headers, body }))
    }
  }
  return { chat, adapter, paid, faces }
}

const shown = ({ thread }: Pick<LocalChatRef, "thread">): ReadonlyArray<string> =>
  thread.messages.slice(2).map((message) => `${message.role}: ${Message.text(message)}`)

test.each(["the chat", "a link of the program", "a client", "a request"] as const)(
  "ANSWERING1, ANSWERING2 answers through %s are one turn, and used once",
  async (face) => {
    const { chat, adapter, paid, faces } = await waiting()
    const answers: Answers = [
      { decisions: { p0: { type: "allow" } }, results: { s0: "signed" }, input: "And then?" },
      { id: "a1" }
    ]
    await faces[face](...answers)
    await faces[face](...answers).catch(() => undefined)
    await until(() => chat.getSnapshot()?.context.phase === "idle")
    expect(shown(chat)).toEqual(["tool: paid", "tool: signed", "user: And then?", "assistant: Both are done."])
    expect([adapter.requests.length, paid]).toEqual([2, ["pay"]])
  }
)
