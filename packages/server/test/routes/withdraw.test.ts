import { askUser, Fake, tool } from "@troupe/chat"
import { expect, test } from "vitest"
import { serving } from "../double/serving.ts"
import { chunksOf } from "../double/uiClient.ts"
import { codeOf, served } from "../double/served.ts"

const inner = "anna/c1"

const scripts = (name: string): ReadonlyArray<Fake.Script> => [
  [{ toolCall: { id: "c0", name } }, { finish: "tool_calls" }],
  [{ text: "Hello" }, { finish: "stop" }]
]

const suspends = { ask: () => "suspend" as const }

test("REF11 `POST /withdraw` removes a message that waits, and settles the request for its result", async () => {
  const pay = tool({ name: "pay", execute: () => "paid" })
  const adapter = Fake.make({ scripts: scripts("pay") })
  const { ask, troupe } = await served({ adapter, tools: [pay], permissions: suspends })
  const chat = await troupe.chat(inner)
  const first = chat.send("Hi")
  const waiting = ask("POST", "/chats/c1/messages?wait", { input: "And?", id: "u2" })
  await first.result()
  await expect.poll(async () => (await chat.view()).inbox.length).toBe(1)
  expect((await ask("POST", "/chats/c1/withdraw", { input: "u2" })).status).toBe(200)
  expect(await codeOf(await waiting)).toBe("409 withdrawn")
  expect((await chat.view()).inbox).toEqual([])
  expect(await codeOf(await ask("POST", "/chats/c1/withdraw", { input: "u2" }))).toBe("404 unknown_input")
  expect(await codeOf(await ask("POST", "/chats/c1/withdraw", {}))).toBe("422 invalid_input")
})

test.each(["where", "asks", "pay"])(
  "REF10 `POST /cancel` ends the wait of a conversation for `%s`, and a message is answered after it",
  async (name) => {
    const tools = [
      tool({ name: "where", manual: true }),
      tool({ name: "asks", execute: () => askUser("Which?") }),
      tool({ name: "pay", execute: () => "paid" })
    ]
    const permissions = {
      ask: ({ toolCall }: { readonly toolCall: { readonly name: string } }) =>
        toolCall.name === "pay" ? ("suspend" as const) : ("allow" as const)
    }
    const { ask, troupe } = await served({ adapter: Fake.make({ scripts: scripts(name) }), tools, permissions })
    await (await troupe.chat(inner)).send("Hi").result()
    expect((await ask("POST", "/chats/c1/cancel", {})).status).toBe(200)
    const view = await (await ask("GET", "/chats/c1")).json()
    expect(view).toMatchObject({ phase: "idle" })
    expect((await ask("POST", "/chats/c1/messages?wait", { input: "And?" })).status).toBe(200)
  }
)

test("REF10 a client of the AI SDK whose tool never answers goes on with its next message, or after a cancel", async () => {
  const tools = { where: { description: "Where", parameters: { type: "object", properties: {} } } }
  const said = (id: string) => ({ id, role: "user", parts: [{ type: "text", text: "Where am I?" }] })
  for (const calls of ["cancel", "refuse"] as const) {
    const adapter = Fake.make({ scripts: scripts("where") })
    const { post } = await serving({ adapter }, { clientTools: true, posts: { calls } })
    await (await post("/api/chat", { id: "c", messages: [said("u1")], tools })).text()
    if (calls === "refuse") {
      const refused = await post("/api/chat", { id: "c", message: said("u2"), tools })
      expect(refused.status).toBe(409)
      expect((await post("/chats/c/cancel", {})).status).toBe(200)
    }
    const answered = await post("/api/chat", { id: "c", message: said("u3"), tools })
    expect(JSON.stringify(chunksOf(await answered.text()))).toContain("Hello")
  }
})

test("ARR5 a message with the id of another one is 422, also when that one's turn is over", async () => {
  const { ask, troupe } = await served({ adapter: Fake.make({ script: [{ text: "Hello" }, { finish: "stop" }] }) })
  const send = (input: string) => ask("POST", "/chats/c1/messages", { input, id: "u1" })
  expect((await send("pay 5")).status).toBe(202)
  expect(await codeOf(await send("pay 900"))).toBe("422 invalid_input")
  await expect.poll(async () => (await (await troupe.chat(inner)).view()).phase).toBe("idle")
  expect(await codeOf(await send("pay 900"))).toBe("422 invalid_input")
  const again = await send("pay 5")
  expect([again.status, await again.json()]).toEqual([202, { id: "u1", status: "delivered" }])
})
