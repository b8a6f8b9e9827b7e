import { describe, expect, test } from "vitest"
import * as z from "zod"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, handling, says } from "../double/scripts.ts"
import { until } from "../double/hop.ts"
import * as Chat from "../../src/loop/Chat.ts"
import * as Engine from "../../src/options/Engine.ts"
import * as Fake from "../../src/adapter/Fake.ts"
import { user } from "../../src/model/Message.ts"
import { memory } from "../../src/store/Store.ts"
import { askUser, ok } from "../../src/values/HandlerResult.ts"
import { ValidationError } from "../../src/errors/ChatError.ts"
import * as ChatView from "../../src/view/ChatView.ts"
import type { Fake as FakeAdapter } from "../../src/adapter/Fake.ts"

const check = leakCheck()

const City = z.object({ name: z.string(), sights: z.array(z.string()).optional() })
const schema = City
const oslo = '{"name":"Oslo"}'

const formats = ({ requests }: Pick<FakeAdapter, "requests">) =>
  requests.map(({ responseFormat }) => responseFormat?.type)

describe("Chat.generate and Chat.run with a schema", () => {
  test("ask for JSON of the schema, and return the typed object beside the answer", async () => {
    const adapter = Fake.make({ script: says(oslo) })
    const engine = Engine.make({ adapter })
    const response = await Chat.generate(engine, [user("Where?")], { schema })
    expect(response.object.name).toBe("Oslo")
    expect(response.outputText).toBe(oslo)
    const result = await Chat.run(engine, [user("Where?")], { schema })
    expect(result.object.name).toBe("Oslo")
    expect(result.haltedReason).toBe("completed")
    expect(adapter.requests[0]?.responseFormat).toMatchObject({
      type: "json_schema",
      name: "object",
      schema: { type: "object", required: ["name"] }
    })
  })

  test("keep a given responseFormat", async () => {
    const adapter = Fake.make({ script: says(oslo) })
    await Chat.generate(Engine.make({ adapter }), [user("?")], { schema, responseFormat: { type: "json_object" } })
    expect(formats(adapter)).toEqual(["json_object"])
  })

  test("reject a reply that does not fit with the findings, the text and the whole answer", async () => {
    const engine = Engine.make({ adapter: Fake.make({ script: says('{"name":7}'), usage: { outputTokens: 3 } }) })
    const failed: unknown = await Chat.generate(engine, [user("?")], { schema }).catch((error: unknown) => error)
    expect(failed).toBeInstanceOf(ValidationError)
    expect(failed).toMatchObject({
      reason: "invalid_output",
      errors: [{ field: ["name"] }],
      metadata: { text: '{"name":7}', response: { usage: { outputTokens: 3 } } }
    })
    await expect(Chat.run(engine, [user("?")], { schema })).rejects.toMatchObject({
      metadata: { result: { haltedReason: "completed", thread: { messages: [{}, {}] } } }
    })
  })

  test("refuse a schema without a JSON Schema before the request", async () => {
    const adapter = Fake.make({ script: says(oslo) })
    const bare = { "~standard": { version: 1, vendor: "mine", validate: (value: unknown) => ({ value }) } } as const
    await expect(Chat.generate(Engine.make({ adapter }), [user("?")], { schema: bare })).rejects.toThrow(
      "mine cannot produce JSON Schema"
    )
    const options = { schema: "city" as unknown as typeof schema }
    await expect(Chat.generate(Engine.make({ adapter }), [user("?")], options)).rejects.toThrow("must_be a zod schema")
    expect(adapter.requests).toEqual([])
  })
})

describe("a live chat", () => {
  test("asks for the schema of one input, and only of that", async () => {
    const adapter = check.fake({ scripts: [says(oslo), says("Hello")] })
    const { troupe } = await check.troupe({ adapter })
    const chat = await troupe.chat("c")
    const city = await chat.send("Where?", { schema }).object()
    expect(city.name).toBe("Oslo")
    const plain = chat.send("Hi")
    await expect(plain.object()).rejects.toThrow("send it with { schema }")
    expect((await plain.result()).finalResponse?.outputText).toBe("Hello")
    expect(formats(adapter)).toEqual(["json_schema", undefined])
  })

  test("precedes the Troupe's own form, and uses the Troupe's schema without one", async () => {
    const adapter = check.fake({ script: says(oslo) })
    const { troupe } = await check.troupe({ adapter, schema: z.object({ name: z.literal("Oslo") }) })
    const chat = await troupe.chat("c")
    expect(await chat.send("Where?").object()).toEqual({ name: "Oslo" })
    expect(await chat.send("Where?", { schema: z.object({ name: z.string().max(4) }) }).object()).toEqual({
      name: "Oslo"
    })
    const [first, second] = adapter.requests.map(({ responseFormat }) => JSON.stringify(responseFormat))
    expect(first).toContain('"const":"Oslo"')
    expect(second).toContain('"maxLength":4')
  })

  test("refuses a value that is no schema, and sends nothing", async () => {
    const { troupe } = await check.troupe({ adapter: check.fake({ script: says(oslo) }) })
    const chat = await troupe.chat("c")
    expect(() => chat.send("Where?", { schema: 7 as unknown as typeof schema })).toThrow("must_be a zod schema")
    expect(chat.thread.messages).toEqual([])
  })

  test("keeps the form when the answer to a question has none", async () => {
    const adapter = check.fake({ scripts: [calls("ask"), says(oslo)] })
    const { troupe } = await check.troupe({ adapter, tools: [handling("ask", () => askUser("North or south?"))] })
    const chat = await troupe.chat("c")
    expect((await chat.send("Where?", { schema }).result()).haltedReason).toBe("ask_user")
    expect((await chat.send("North").result()).finalResponse?.outputText).toBe(oslo)
    expect(formats(adapter)).toEqual(["json_schema", "json_schema"])
  })

  test("keeps the form when an input without one steers the turn", async () => {
    const adapter = check.fake({ scripts: [calls("look"), says(oslo)] })
    const look = handling("look", async (_, { chat }) => {
      await chat?.send("And quickly", { whenBusy: "steer" })
      return ok("fjords")
    })
    const { troupe } = await check.troupe({ adapter, tools: [look] })
    const chat = await troupe.chat("c")
    expect(await chat.send("Where?", { schema }).object()).toEqual({ name: "Oslo" })
    expect(chat.thread.messages.filter(({ role }) => role === "user").length).toBe(2)
    expect(formats(adapter)).toEqual(["json_schema", "json_schema"])
  })

  test("keeps the form of an input that waits through a restart, and of a retried question", async () => {
    const store = memory()
    const first = await check.troupe({ adapter: check.fake({ script: [{ text: "a" }, { hang: true }] }), store })
    const chat = await first.troupe.chat("c")
    chat.send("Tell me a story")
    const waiting = chat.send("Where?", { schema })
    await waiting.receipt
    await first.troupe.stop()
    const adapter = check.fake({ scripts: [says("Once"), says("Oslo"), says(oslo)] })
    const second = await check.troupe({ adapter, store })
    const again = await second.troupe.chat("c")
    const [held] = again.resume()
    await held?.result()
    await again.retry().result()
    expect(formats(adapter)).toEqual(["json_schema", "json_schema"])
  })
})

describe("the view of a reply in JSON", () => {
  test("has the object so far, the same over a patch", async () => {
    const adapter = check.fake({ script: [{ text: '{"name":"Oslo","sights":["The Op' }, { hang: true }] })
    const { troupe } = await check.troupe({ adapter })
    const chat = await troupe.chat("c")
    const before = await chat.view()
    chat.send("Where?", { schema })
    await until(() => chat.getSnapshot()?.context.partial.text !== "")
    const after = await chat.view()
    expect(after.partial.object).toEqual({ name: "Oslo", sights: ["The Op"] })
    const patch = JSON.parse(JSON.stringify(ChatView.patch(before, after))) as ChatView.ChatViewPatch
    expect(ChatView.apply(before, patch)).toEqual(after)
    expect(patch.text).toEqual({ kept: 0, added: '{"name":"Oslo","sights":["The Op', json: true })
    await chat.cancel()
    expect((await chat.view()).partial).toEqual({ text: "" })
  })

  test("has no object for a reply in free text", async () => {
    const { troupe } = await check.troupe({ adapter: check.fake({ script: [{ text: '{"a":1' }, { hang: true }] }) })
    const chat = await troupe.chat("c")
    chat.send("Where?")
    await until(() => chat.getSnapshot()?.context.partial.text !== "")
    expect((await chat.view()).partial).toEqual({ text: '{"a":1' })
    await chat.cancel()
  })
})
