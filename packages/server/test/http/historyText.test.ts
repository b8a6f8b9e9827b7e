import { describe, expect, it } from "@effect/vitest"
import { Schema } from "effect"
import { HistoryText } from "../../src/http/historyText.ts"

const read = (text: string, size = text.length, most = 1_000_000) => {
  const history = new HistoryText("messages", most)
  for (let at = 0; at < text.length; at += size) history.push(text.slice(at, at + size))
  return history
}

const kept = (body: unknown, size?: number, most?: number) =>
  JSON.parse(read(JSON.stringify(body), size, most).text) as unknown

const long = "x".repeat(1_000)

const Message = Schema.Struct({
  id: Schema.String,
  role: Schema.Literals(["user", "assistant", "tool", "activity"]),
  parts: Schema.Array(Schema.Struct({ text: Schema.String }))
})

describe("HISTORY1. a posted history", () => {
  it("keeps the last message whole, and of the others their id and role when all are too long", () => {
    const messages = ["a", "b", "c"].map((id) => ({ id, role: "user", parts: [{ text: `"${long}\\{[` }] }))
    const body = { id: "c", messages, trigger: "submit-message" }
    const bare = (id: string) => ({ id, role: "user", parts: [], content: "" })
    expect(kept(body)).toEqual(body)
    expect(kept(body, undefined, 1_500)).toEqual({ ...body, messages: [bare("a"), bare("b"), messages[2]] })
    expect(read(JSON.stringify(body), undefined, 1_500).length).toBeLessThan(1_500)
  })

  it("keeps the last message of the model, and those behind it", () => {
    const message = (id: string, role: string) => ({ id, role, content: long })
    const messages = [
      message("t0", "tool"),
      message("a0", "assistant"),
      message("t1", "tool"),
      message("t2", "tool"),
      message("u1", "user")
    ]
    const { messages: left } = kept({ messages }) as { readonly messages: ReadonlyArray<{ readonly content: string }> }
    expect(left.map(({ content }) => content.length)).toEqual([0, 1_000, 1_000, 1_000, 1_000])
  })

  it("keeps a message before activities, and no activity", () => {
    const activity = { id: "v", role: "activity", activityType: "plan", content: { steps: long } }
    const message = (id: string, role: string) => ({ id, role, content: long })
    const messages = [message("a0", "assistant"), message("t1", "tool"), message("u1", "user"), activity, activity]
    const { messages: left } = kept({ messages }) as { readonly messages: ReadonlyArray<{ readonly content: string }> }
    expect(left.map(({ content }) => content.length)).toEqual([1_000, 1_000, 1_000, 0, 0])
    expect(read(JSON.stringify({ messages })).length).toBe(JSON.stringify({ messages: left }).length)
  })

  it("is no other list, and no list of that name elsewhere", () => {
    const body = { other: [{ id: long }, { id: "b" }], more: { messages: [{ id: long }, { id: "b" }] }, messages: "x" }
    expect(kept(body)).toEqual(body)
  })

  it("HISTORY2. of a text that is no JSON is kept", () => {
    for (const text of ["", "{", '{"messages":[{"id":"a}', '{"messages":[{a},{b}]}', '{"messages":[1,2]}', "]]]}"]) {
      expect(read(text).text).toBe(text)
    }
  })

  it.prop("HISTORY2. is the same however its text is cut", [Schema.Array(Message)], ([messages]) => {
    const body = { messages, id: "c" }
    const whole = kept(body)
    for (const size of [1, 2, 7]) expect(kept(body, size)).toEqual(whole)
    const last = messages.findLastIndex(({ role }) => role !== "activity")
    expect((whole as { readonly messages: ReadonlyArray<unknown> }).messages[last]).toEqual(messages[last])
  })
})
