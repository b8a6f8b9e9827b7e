import { afterEach, beforeEach, expect, test } from "vitest"
import { start } from "../src/app.ts"
import { scripted } from "../src/scripted.ts"

let started: Awaited<ReturnType<typeof start>>

beforeEach(async () => {
  started = await start({ adapter: scripted(0) })
})

afterEach(() => started.stop())

const post = (path: string, body: object) =>
  started.app.request(`/chat/chats/c1/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", accept: "text/event-stream" },
    body: JSON.stringify(body)
  })

test("an answer is streamed as events", async () => {
  const response = await post("messages", { input: "Where is order 7?" })
  expect(response.headers.get("content-type")).toContain("text/event-stream")
  expect(await response.text()).toContain("sent on Monday")
})

test("a refund waits for a decision, which another request gives", async () => {
  const asked = await (await post("messages", { input: "Refund order 7" })).text()
  expect(asked).toContain("awaiting_approval")
  const id = /"id":"(call-\d+)"/.exec(asked)?.[1] ?? ""
  const answer = await (await post(`approvals/${id}`, { type: "allow" })).text()
  expect(answer).toContain("are paid back")
})
