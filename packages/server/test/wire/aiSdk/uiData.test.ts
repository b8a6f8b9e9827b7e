import { expect, it } from "vitest"
import { hello, served } from "../../double/served.ts"

const place = { type: "data-place", id: "p1", data: { town: "Oslo" } }
const mood = { type: "data-mood", data: "glad" }
const text = (said: string) => ({ type: "text", text: said })

const say = (...parts: ReadonlyArray<object>) => ({ id: "c", messages: [{ id: "u1", role: "user", parts }] })

it("UIDATA1. a message keeps its sender's data parts at their places, and the model does not get them", async () => {
  const adapter = hello()
  const { ask } = await served({ adapter })
  await (await ask("POST", "/api/chat", say(place, text("Where"), mood, text(""), text(" now?"), mood))).text()
  const { messages } = (await (await ask("GET", "/api/chat/c/messages")).json()) as {
    readonly messages: ReadonlyArray<{ readonly parts: ReadonlyArray<{ readonly type: string }> }>
  }
  const parts = messages[0]?.parts
  expect(parts?.map(({ type }) => type)).toEqual(["data-place", "text", "data-mood", "text", "data-mood"])
  expect(parts?.[0]).toEqual(place)
  expect(parts?.[2]).toEqual(mood)
  expect(adapter.requests[0]?.messages.map(({ content }) => content)).toEqual([[text("Where"), text(" now?")]])
})

it("UIDATA1. data that is too long is refused with 413, and a message of data alone with 422", async () => {
  const { ask } = await served({}, { limits: { messageCharacters: 100 } })
  const long = { type: "data-place", data: "x".repeat(101) }
  expect((await ask("POST", "/api/chat", say(text("Hi"), long))).status).toBe(413)
  expect((await ask("POST", "/api/chat", say(place))).status).toBe(422)
})
