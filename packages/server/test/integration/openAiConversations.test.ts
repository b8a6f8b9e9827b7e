import { Fake } from "@troupe/chat"
import OpenAI from "openai"
import { expect, it } from "vitest"
import { serving } from "../double/serving.ts"

const clientOf = (url: string) => new OpenAI({ baseURL: `${url}/v1`, apiKey: "key", maxRetries: 0 })

/** A model that numbers its answers. */
const counting = () => Fake.make({ respond: (_, call) => [{ text: `Answer ${call + 1}.` }, { finish: "stop" }] })

const where = { type: "function" as const, name: "where", parameters: { type: "object", properties: {} }, strict: null }

const asking = () =>
  Fake.make({
    scripts: [
      [{ text: "Wait" }, { toolCall: { id: "c0", name: "where", arguments: {} } }, { finish: "tool_calls" }],
      [{ text: "In Oslo" }, { finish: "stop" }]
    ]
  })

const image = "data:image/png;base64,iVBORw0KGgo="

type Item = OpenAI.Conversations.ConversationItem | OpenAI.Responses.ResponseItem

const outline = (items: ReadonlyArray<Item>) =>
  items.map((item) => {
    if (item.type === "function_call") return `call ${item.name}`
    if (item.type === "function_call_output") return `output ${JSON.stringify(item.output)}`
    const parts = item.type === "message" ? item.content : []
    return parts.map((part) => ("text" in part ? part.text : part.type)).join("|")
  })

const all = async <A>(pages: AsyncIterable<A>): Promise<ReadonlyArray<A>> => {
  const items: Array<A> = []
  for await (const item of pages) items.push(item)
  return items
}

it("RESPLIST1. a conversation has the items of all its responses, page by page in both orders", async () => {
  const { url } = await serving({ adapter: asking() })
  const client = clientOf(url)
  const { id, object } = await client.conversations.create({
    items: [
      { role: "user", content: "Hello" },
      { role: "assistant", content: "Hi" }
    ]
  })
  expect(object).toBe("conversation")
  expect(await client.conversations.retrieve(id)).toMatchObject({ id, metadata: {} })
  const first = await client.responses.create({
    model: "troupe",
    conversation: id,
    input: [
      {
        role: "user",
        content: [
          { type: "input_text", text: "Where?" },
          { type: "input_image", image_url: image, detail: "auto" }
        ]
      }
    ],
    tools: [where]
  })
  const call = first.output.find((item) => item.type === "function_call")
  const output = { type: "function_call_output" as const, call_id: call?.call_id ?? "", output: "Oslo" }
  const second = await client.responses.create({ model: "troupe", previous_response_id: first.id, input: [output] })
  expect(second.output_text).toBe("In Oslo")
  const wanted = ["Hello", "Hi", "Where?|input_image", "Wait", "call where", 'output "Oslo"', "In Oslo"]
  const items = await all(client.conversations.items.list(id, { order: "asc", limit: 2 }))
  expect(outline(items)).toEqual(wanted)
  expect(outline(await all(client.conversations.items.list(id)))).toEqual(wanted.toReversed())
  const called = items.find((item) => item.type === "function_call")
  expect(items.find((item) => item.type === "function_call_output")?.call_id).toBe(called?.call_id)
  const [, hi] = items
  expect(await client.conversations.items.retrieve(hi?.id ?? "", { conversation_id: id })).toEqual(hi)
  expect(outline(await all(client.responses.inputItems.list(first.id)))).toEqual(["Where?|input_image"])
  expect(outline(await all(client.responses.inputItems.list(second.id)))).toEqual(['output "Oslo"'])
  for (const refused of [
    client.conversations.items.retrieve("msg_none", { conversation_id: id }),
    all(client.conversations.items.list(id, { after: "msg_none" })),
    client.conversations.retrieve("none")
  ]) {
    await expect(refused).rejects.toMatchObject({ status: 404 })
  }
  await expect(client.conversations.create({ metadata: { topic: "tides" } })).rejects.toMatchObject({ status: 400 })
})

it("RESPLIST1. a conversation that a request names exists: another is 404, and none begins", async () => {
  const adapter = counting()
  const { url, troupe } = await serving({ adapter })
  const client = clientOf(url)
  for (const conversation of ["none", { id: "none" }]) {
    await expect(client.responses.create({ model: "troupe", input: "Hi", conversation })).rejects.toMatchObject({
      status: 404,
      type: "invalid_request_error",
      code: "unknown_chat"
    })
  }
  expect([adapter.requests.length, (await troupe.list()).chats]).toEqual([0, []])
})

it("OPENAI4. a parameter that OpenAI does not have is refused, and one without an effect is not", async () => {
  const { url } = await serving({ adapter: counting() })
  const client = clientOf(url)
  const refused = (param: string) => ({ status: 400, code: "unknown_parameter", param }) as const
  const asked = { model: "troupe", input: "Hi", temprature: 1 } as OpenAI.Responses.ResponseCreateParamsNonStreaming
  await expect(client.responses.create(asked)).rejects.toMatchObject(refused("temprature"))
  const begun = { item: [] } as OpenAI.Conversations.ConversationCreateParams
  await expect(client.conversations.create(begun)).rejects.toMatchObject(refused("item"))
  const known = { user: "u", truncation: "auto", service_tier: "auto", prompt_cache_key: "k" } as const
  const { output_text: text } = await client.responses.create({ model: "troupe", input: "Hi", include: [], ...known })
  expect(text).toBe("Answer 1.")
})

it.each([
  ["DELETE", "/v1/models", 405, "method_not_allowed"],
  ["PUT", "/v1/conversations/c", 405, "method_not_allowed"],
  ["GET", "/v1/embeddings", 404, "not_found"]
])("OPENAI4. %s %s is refused in OpenAI's form", async (method, path, status, code) => {
  const { url } = await serving({ adapter: counting() })
  const response = await fetch(`${url}${path}`, { method })
  expect([response.status, await response.json()]).toEqual([
    status,
    { error: { message: expect.any(String) as string, type: "invalid_request_error", param: null, code } }
  ])
  expect(response.headers.get("allow") === null).toBe(status === 404)
})

it("RESPDEL1. a deleted response is gone, and its conversation goes on before it", async () => {
  const adapter = counting()
  const { url } = await serving({ adapter })
  const client = clientOf(url)
  const first = await client.responses.create({ model: "troupe", input: "One?" })
  const conversation = first.conversation?.id ?? ""
  const second = await client.responses.create({ model: "troupe", input: "Two?", previous_response_id: first.id })
  await expect(client.responses.delete(first.id)).rejects.toMatchObject({ status: 409 })
  await client.responses.delete(second.id)
  await expect(client.responses.retrieve(second.id)).rejects.toMatchObject({ status: 404 })
  expect(outline(await all(client.conversations.items.list(conversation, { order: "asc" })))).toEqual([
    "One?",
    "Answer 1."
  ])
  await client.responses.create({ model: "troupe", input: "Three?", conversation })
  expect(adapter.requests[2]?.messages.map(({ content }) => content)).toEqual(["One?", "Answer 1.", "Three?"])
})

it("RESPDEL1. a deleted conversation, and one whose only response is deleted, are gone with their log", async () => {
  const { url, troupe } = await serving({ adapter: counting() })
  const client = clientOf(url)
  const one = await client.responses.create({ model: "troupe", input: "One?" })
  const two = await client.responses.create({ model: "troupe", input: "Two?" })
  await client.responses.delete(one.id)
  expect(await client.conversations.delete(two.conversation?.id ?? "")).toEqual({
    id: two.conversation?.id,
    object: "conversation.deleted",
    deleted: true
  })
  for (const { id } of [one, two]) await expect(client.responses.retrieve(id)).rejects.toMatchObject({ status: 404 })
  expect((await troupe.list()).chats).toEqual([])
})

it("RESPDEL1. an owner without the rights deletes nothing", async () => {
  const authorize = () => ({ owner: "anna", may: { rewind: false, delete: false } })
  const { url } = await serving({ adapter: counting() }, { authorize })
  const client = clientOf(url)
  const first = await client.responses.create({ model: "troupe", input: "One?" })
  const conversation = first.conversation?.id ?? ""
  const refused = { status: 403 }
  await expect(client.conversations.delete(conversation)).rejects.toMatchObject(refused)
  await expect(client.responses.delete(first.id)).rejects.toMatchObject(refused)
  const second = await client.responses.create({ model: "troupe", input: "Two?", conversation })
  await expect(client.responses.delete(second.id)).rejects.toMatchObject(refused)
  expect((await client.responses.retrieve(second.id)).output_text).toBe("Answer 2.")
})
