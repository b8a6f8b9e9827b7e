import { afterAll, expect, test } from "vitest"
import { GET, POST } from "../app/api/chat/[[...path]]/route.ts"
import { chats } from "../src/chats.ts"

afterAll(async () => (await chats()).close())

const url = "http://localhost/api/chat"

const post = (text: string) => {
  const message = { id: crypto.randomUUID(), role: "user", parts: [{ type: "text", text }] }
  return POST(
    new Request(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ id: "c1", message })
    })
  )
}

test("the route streams what useChat reads, and returns the conversation afterwards", async () => {
  const response = await post("Where is order 7?")
  expect(response.headers.get("content-type")).toContain("text/event-stream")
  expect(await response.text()).toContain('"type":"finish"')
  const stored = await (await GET(new Request(`${url}/c1/messages`))).text()
  expect(stored).toContain("sent on Monday")
})

test("a refund waits for a decision", async () => {
  expect(await (await post("Refund order 7")).text()).toContain('"type":"tool-approval-request"')
})
