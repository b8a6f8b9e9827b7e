import { createOpenAI } from "@ai-sdk/openai"
import { Agent, OpenAIProvider, Runner, tool as agentTool } from "@openai/agents"
import { askUser, Fake, tool } from "@troupe/chat"
import { Clock } from "@troupe/otp"
import { generateText, type ModelMessage, stepCountIs, streamText, tool as aiTool } from "ai"
import OpenAI, { APIError, APIUserAbortError, RateLimitError } from "openai"
import { describe, expect, it } from "vitest"
import * as z from "zod"
import { handModel } from "../double/handModel.ts"
import * as Node from "../../src/node/Node.ts"
import { endless, served, until } from "../double/served.ts"
import { serving } from "../double/serving.ts"

const clientOf = (url: string, headers: Record<string, string> = {}) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: "key", maxRetries: 0, defaultHeaders: headers })

type Request = OpenAI.Responses.ResponseCreateParamsNonStreaming
type StreamEvent = OpenAI.Responses.ResponseStreamEvent

const hi: Request = { model: "troupe", input: "Hi" }

const usage = { inputTokens: 7, outputTokens: 3, cachedInputTokens: 2 }

const hello = () => Fake.make({ script: [{ text: "Hel" }, { text: "lo" }, { finish: "stop" }], usage })

/** A model that numbers its answers. */
const counting = () => Fake.make({ respond: (_, call) => [{ text: `Answer ${call + 1}.` }, { finish: "stop" }], usage })

const eventsOf = async (client: OpenAI, request: Request): Promise<ReadonlyArray<StreamEvent>> => {
  const events: Array<StreamEvent> = []
  for await (const event of await client.responses.create({ ...request, stream: true })) events.push(event)
  return events
}

const last = (events: ReadonlyArray<StreamEvent>) => {
  const event = events.at(-1)
  if (event === undefined || !("response" in event)) throw new Error("the stream has no last event with a response")
  return event.response
}

const where: OpenAI.Responses.Tool = {
  type: "function",
  name: "where",
  description: "Where am I?",
  parameters: { type: "object", properties: { exact: { type: "boolean" } } },
  strict: false
}

const clock = tool({ name: "clock", execute: () => "noon" })

const asksWhere = () =>
  Fake.make({
    scripts: [
      [
        { toolCall: { id: "s0", name: "clock" } },
        { toolCall: { id: "c0", name: "where", arguments: { exact: true } } },
        { finish: "tool_calls" }
      ],
      [{ text: "In Oslo" }, { finish: "stop" }],
      [{ text: "In Bergen" }, { finish: "stop" }]
    ],
    usage
  })

const said = (adapter: Fake.Fake, request: number) =>
  adapter.requests[request]?.messages.map(({ role, content }) => [role, content])

describe("the openai client", () => {
  it("gets a response with its usage, and the same one by its id", async () => {
    const { url } = await serving({ adapter: hello() })
    const client = clientOf(url)
    const response = await client.responses.create(hi)
    expect(response).toMatchObject({
      object: "response",
      status: "completed",
      output_text: "Hello",
      model: "troupe",
      store: true,
      usage: {
        input_tokens: 7,
        input_tokens_details: { cached_tokens: 2 },
        output_tokens: 3,
        output_tokens_details: { reasoning_tokens: 0 },
        total_tokens: 10
      }
    })
    const read = await client.responses.retrieve(response.id)
    expect(read).toMatchObject({ id: response.id, status: "completed", output: response.output, usage: response.usage })
  })

  it("RESPITEM1. streams events that add up to the whole response", async () => {
    const { url } = await serving({ adapter: hello() })
    const events = await eventsOf(clientOf(url), hi)
    expect(events.map(({ type }) => type)).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.content_part.added",
      "response.output_text.delta",
      "response.output_text.done",
      "response.content_part.done",
      "response.output_item.done",
      "response.completed"
    ])
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual([0, 1, 2, 3, 8, 9, 10, 11, 12])
    const done = events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item] : []))
    expect(last(events).output).toEqual(done)
    const stream = clientOf(url).responses.stream({ model: "troupe", input: "Hi" })
    const whole = await stream.finalResponse()
    expect(whole.output_text).toBe("Hello")
  })

  it("RESPRUN1. continues an earlier response, and branches when the conversation has gone on since", async () => {
    const adapter = counting()
    const { url } = await serving({ adapter })
    const client = clientOf(url)
    const first = await client.responses.create(hi)
    const second = await client.responses.create({ model: "troupe", input: "And?", previous_response_id: first.id })
    expect(said(adapter, 1)).toEqual([
      ["user", "Hi"],
      ["assistant", "Answer 1."],
      ["user", "And?"]
    ])
    expect(second.conversation?.id).toBe(first.conversation?.id)
    const other = await client.responses.create({ model: "troupe", input: "Or?", previous_response_id: first.id })
    expect(said(adapter, 2)).toEqual([
      ["user", "Hi"],
      ["assistant", "Answer 1."],
      ["user", "Or?"]
    ])
    expect(other.conversation?.id).not.toBe(first.conversation?.id)
    const both = { previous_response_id: first.id, conversation: other.conversation?.id ?? "" }
    await expect(client.responses.create({ model: "troupe", input: "No", ...both })).rejects.toMatchObject({
      status: 400
    })
    const texts = await Promise.all(
      [first, second, other].map(async ({ id }) => (await client.responses.retrieve(id)).output_text)
    )
    expect(texts).toEqual(["Answer 1.", "Answer 2.", "Answer 3."])
  })

  it("POST6. a refused post leaves neither a new conversation nor a fork", async () => {
    const { url, troupe } = await serving({ adapter: asksWhere(), tools: [clock] })
    const client = clientOf(url)
    const first = await client.responses.create({ ...hi, tools: [where] })
    const [call] = first.output
    if (call?.type !== "function_call") throw new Error("no call")
    const output = { type: "function_call_output" as const, output: "Oslo" }
    const post = (previous: string, input: Request["input"]) =>
      client.responses.create({ model: "troupe", previous_response_id: previous, input: input ?? "" })
    const second = await post(first.id, [{ ...output, call_id: call.call_id }])
    await post(second.id, "And?")
    const refused = (previous: string, input: Request["input"]) =>
      post(previous, input).then(
        () => "nothing",
        (error: unknown) => (error instanceof APIError ? `${error.status} ${error.code}` : error)
      )
    expect(await refused(first.id, "Never mind")).toBe("409 awaiting_tool_results")
    expect(await refused(second.id, [{ ...output, call_id: "zz" }])).toBe("409 unknown_tool_call_id")
    expect(await refused(second.id, [{ ...output, call_id: call.call_id }])).toBe("409 unknown_tool_call_id")
    expect(await refused(second.id, [])).toBe("400 invalid_input")
    const answer = { role: "assistant" as const, content: "Hm" }
    const called = { type: "function_call" as const, call_id: "c0", name: "where", arguments: "{}" }
    const unnamed = [called, { ...output, call_id: "c0" }, answer] as Request["input"]
    await expect(client.responses.create({ model: "troupe", input: unnamed ?? "" })).rejects.toMatchObject({
      status: 400
    })
    expect((await troupe.list()).chats.length).toBe(1)
  })

  it("RESPRUN1. begins a conversation with the history of another server, and continues it", async () => {
    const adapter = counting()
    const { url } = await serving({ adapter })
    const client = clientOf(url)
    const first = await client.responses.create({
      model: "troupe",
      input: [
        { role: "assistant", content: "Welcome." },
        { role: "user", content: "Hi" }
      ]
    })
    await client.responses.create({ model: "troupe", input: "And?", previous_response_id: first.id })
    expect(said(adapter, 1)).toEqual([
      ["assistant", "Welcome."],
      ["user", "Hi"],
      ["assistant", "Answer 1."],
      ["user", "And?"]
    ])
  })

  it("RESPIN1. of a repeated history only what follows its last known item is new", async () => {
    const adapter = counting()
    const { url } = await serving({ adapter })
    const client = clientOf(url)
    const first = await client.responses.create(hi)
    const history = [{ role: "user" as const, content: "Something else" }, ...first.output]
    const second = await client.responses.create({
      model: "troupe",
      input: [...(history as OpenAI.Responses.ResponseInput), { role: "user", content: "And?" }]
    })
    expect(said(adapter, 1)).toEqual([
      ["user", "Hi"],
      ["assistant", "Answer 1."],
      ["user", "And?"]
    ])
    expect(second.conversation?.id).toBe(first.conversation?.id)
  })

  it("RESPITEM2. gets the calls of its own tools only, and answers them", async () => {
    const adapter = asksWhere()
    const { url } = await serving({ adapter, tools: [clock] })
    const client = clientOf(url)
    const first = await client.responses.create({ ...hi, tools: [where], instructions: "Be brief." })
    expect(first.output).toMatchObject([{ type: "function_call", name: "where", arguments: '{"exact":true}' }])
    const [call] = first.output
    if (call?.type !== "function_call") throw new Error("no call")
    expect(await client.responses.retrieve(first.id)).toMatchObject({ output: first.output })
    const second = await client.responses.create({
      model: "troupe",
      previous_response_id: first.id,
      tools: [where],
      instructions: "Be brief.",
      input: [
        { type: "function_call_output", call_id: call.call_id, output: "Oslo" },
        { role: "user", content: "Well?" }
      ]
    })
    expect(second.output_text).toBe("In Oslo")
    expect(said(adapter, 1)).toMatchObject([
      ["system", "Be brief."],
      ["user", "Hi"],
      ["assistant", ""],
      ["tool", "noon"],
      ["tool", "Oslo"],
      ["user", "Well?"]
    ])
    expect(adapter.requests[1]?.tools?.map(({ name }) => name)).toEqual(["clock", "where"])
    expect((await client.responses.retrieve(first.id)).output).toEqual(first.output)
    expect((await client.responses.retrieve(second.id)).output_text).toBe("In Oslo")
    // The same answer again is another branch.
    const again = await client.responses.create({
      model: "troupe",
      input: [{ type: "function_call_output", call_id: call.call_id, output: "Bergen" }]
    })
    expect(again.conversation?.id).not.toBe(first.conversation?.id)
    expect(said(adapter, 2)?.slice(-2)).toEqual([
      ["tool", "noon"],
      ["tool", "Bergen"]
    ])
  })

  it("streams a call's arguments, and a summary of the reasoning", async () => {
    const model = handModel()
    const { url } = await serving({ adapter: model.adapter })
    const events = eventsOf(clientOf(url), { ...hi, tools: [where], reasoning: { effort: "low", summary: "auto" } })
    await model.whenOpened(1)
    model.say(
      { type: "reasoning_delta", id: "r1", delta: "Let " },
      { type: "reasoning_delta", id: "r1", delta: "me see" },
      { type: "tool_call_started", id: "c0", name: "where" },
      { type: "tool_call_delta", id: "c0", argumentsDelta: "{" },
      { type: "tool_call_delta", id: "c0", argumentsDelta: "}" },
      { type: "tool_call_completed", id: "c0", name: "where", arguments: {}, rawArguments: "{}" },
      {
        type: "message_completed",
        message: {
          role: "assistant",
          content: "",
          toolCalls: [{ id: "c0", name: "where", arguments: {}, rawArguments: "{}" }]
        },
        finishReason: "tool_calls"
      }
    )
    model.end()
    const all = await events
    // Fragments that are ready together come as one.
    const types = all.map(({ type }) => type)
    expect(types.filter((type, at) => type !== types[at - 1])).toEqual([
      "response.created",
      "response.in_progress",
      "response.output_item.added",
      "response.reasoning_summary_part.added",
      "response.reasoning_summary_text.delta",
      "response.reasoning_summary_text.done",
      "response.reasoning_summary_part.done",
      "response.output_item.done",
      "response.output_item.added",
      "response.function_call_arguments.delta",
      "response.function_call_arguments.done",
      "response.output_item.done",
      "response.completed"
    ])
    expect(last(all).output).toMatchObject([
      { type: "reasoning", summary: [{ type: "summary_text", text: "Let me see" }] },
      { type: "function_call", name: "where", arguments: "{}", status: "completed" }
    ])
  })

  it("sends images and files", async () => {
    const adapter = hello()
    const { url } = await serving({ adapter })
    await clientOf(url).responses.create({
      model: "troupe",
      input: [
        {
          role: "user",
          content: [
            { type: "input_text", text: "What is this?" },
            { type: "input_image", image_url: "data:image/png;base64,iVBORw0KGgo=", detail: "low" },
            { type: "input_file", filename: "a.txt", file_data: "data:text/plain;base64,aGk=" }
          ]
        }
      ]
    })
    expect(adapter.requests[0]?.messages[0]?.content).toEqual([
      { type: "text", text: "What is this?" },
      { type: "image", image: { base64: "iVBORw0KGgo=", mediaType: "image/png" }, detail: "low" },
      { type: "file", mediaType: "text/plain", file: { base64: "aGk=" }, filename: "a.txt" }
    ])
  })

  it("RESPRUN2. stores nothing of a response with store: false", async () => {
    const adapter = hello()
    const { url, troupe } = await serving({ adapter })
    const client = clientOf(url)
    const response = await client.responses.create({ ...hi, store: false, instructions: "Be brief." })
    expect(response).toMatchObject({ output_text: "Hello", store: false })
    expect(said(adapter, 0)).toEqual([
      ["system", "Be brief."],
      ["user", "Hi"]
    ])
    expect((await troupe.list()).chats).toEqual([])
    await expect(client.responses.retrieve(response.id)).rejects.toMatchObject({ status: 404 })
  })

  it("adds its instructions to those of the server", async () => {
    const adapter = hello()
    const { url } = await serving({ adapter, instructions: "Be polite." })
    await clientOf(url).responses.create({
      model: "troupe",
      instructions: "Be brief.",
      input: [
        { role: "developer", content: "No emoji." },
        { role: "user", content: "Hi" }
      ]
    })
    expect(said(adapter, 0)).toEqual([
      ["system", "Be polite.\n\nBe brief.\n\nNo emoji."],
      ["user", "Hi"]
    ])
  })

  it("RESPRUN3. runs in the background, is asked for, and is cancelled", async () => {
    const adapter = endless()
    const { url } = await serving({ adapter })
    const client = clientOf(url)
    const response = await client.responses.create({ ...hi, background: true })
    expect(response.status).toBe("in_progress")
    await until(() => adapter.open === 1)
    expect((await client.responses.retrieve(response.id)).status).toBe("in_progress")
    await expect(client.responses.create({ ...hi, previous_response_id: response.id })).rejects.toMatchObject({
      status: 409,
      code: "busy"
    })
    expect((await client.responses.cancel(response.id)).status).toBe("cancelled")
    expect(adapter.open).toBe(0)
    await expect(client.responses.cancel(response.id)).rejects.toMatchObject({ status: 409 })
  })

  it("RESPRUN3. leaves a stored response running, and ends one that is not stored", async () => {
    const adapter = endless()
    const { url } = await serving({ adapter })
    const client = clientOf(url)
    const leaving = async (request: Request) => {
      const stream = await client.responses.create({ ...request, stream: true })
      let id = ""
      for await (const event of stream) {
        if (event.type === "response.created") id = event.response.id
        if (event.type === "response.output_text.delta") break
      }
      return id
    }
    await leaving({ ...hi, store: false })
    await until(() => adapter.open === 0)
    const id = await leaving(hi)
    expect((await client.responses.retrieve(id)).status).toBe("in_progress")
    const gone = new AbortController()
    const whole = client.responses.create({ ...hi, store: false }, { signal: gone.signal })
    await until(() => adapter.open === 2)
    gone.abort()
    await expect(whole).rejects.toBeInstanceOf(APIUserAbortError)
    await until(() => adapter.open === 1)
  })

  it("is refused in its own words", async () => {
    const adapter = hello()
    const { url } = await serving({ adapter, tools: [clock] })
    const client = clientOf(url)
    const refused = (request: object) =>
      client.responses.create({ ...hi, ...request }).then(
        () => "nothing",
        (error: unknown) => (error instanceof APIError ? `${error.status} ${error.type} ${error.param}` : error)
      )
    expect(await refused({ model: "gpt-6" })).toBe("404 invalid_request_error null")
    expect(await refused({ previous_response_id: "resp_1" })).toBe("404 invalid_request_error null")
    expect(await refused({ input: [{ type: "item_reference", id: "msg_1" }] })).toBe("404 invalid_request_error null")
    expect(await refused({ max_tool_calls: 3 })).toBe("400 invalid_request_error max_tool_calls")
    expect(await refused({ prompt: { id: "p" } })).toBe("400 invalid_request_error prompt")
    expect(await refused({ tools: [{ type: "web_search" }] })).toBe("400 invalid_request_error tools.0.type")
    expect(await refused({ tools: [{ ...where, name: "clock" }] })).toBe("400 invalid_request_error null")
    expect(await refused({ input: [{ type: "computer_call", id: "x" }] })).toBe("400 invalid_request_error input")
    expect(await refused({ input: [{ role: "user", content: [{ type: "input_audio" }] }] })).toBe(
      "400 invalid_request_error input.content"
    )
    expect(await refused({ input: [] })).toBe("400 invalid_request_error input")
    expect(await refused({ input: [{ role: "assistant", content: "Hm" }] })).toBe("400 invalid_request_error input")
    const orphan = { type: "function_call_output" as const, call_id: "c0", output: "x" }
    expect(await refused({ input: [orphan] })).toBe("409 invalid_request_error null")
    expect(await refused({ input: [orphan], store: false })).toBe("400 invalid_request_error input")
    const format = { type: "json_schema", name: "place" }
    expect(await refused({ text: { format } })).toBe("400 invalid_request_error text.format.schema")
    expect(await refused({ tools: [{ ...where, parameters: { type: "array" } }] })).toBe(
      "400 invalid_request_error tools.where.parameters.type"
    )
    const call = { type: "function_call" as const, call_id: "c0", name: "where", arguments: "{}" }
    const unpaired = client.responses.create({ ...hi, input: [call, orphan, { ...orphan, call_id: "c1" }] })
    await expect(unpaired).rejects.toMatchObject({ code: "unpaired_tool_calls", message: /send each call with its/u })
    expect(await refused({ store: false, background: true })).toBe("400 invalid_request_error background")
    expect(adapter.requests.length).toBe(0)
    expect(await refused({ user: "u", service_tier: "auto", include: [], parallel_tool_calls: true })).toBe("nothing")
  })

  it("gets failures, whole and streamed, and an answer that was cut short", async () => {
    const limited = await serving({
      adapter: Fake.make({ script: [{ preflightError: "rate_limited" }] }),
      retry: false
    })
    await expect(clientOf(limited.url).responses.create(hi)).rejects.toBeInstanceOf(RateLimitError)
    const failed = last(await eventsOf(clientOf(limited.url), hi))
    expect(failed).toMatchObject({ status: "failed", error: { code: "rate_limited" } })
    const broken = await serving({
      adapter: Fake.make({ script: [{ text: "Hel" }, { error: "content_filter" }, { finish: "error" }] })
    })
    expect(last(await eventsOf(clientOf(broken.url), hi))).toMatchObject({
      status: "failed",
      error: { code: "content_filter" },
      output: [{ content: [{ text: "Hel" }] }]
    })
    await expect(clientOf(broken.url).responses.create({ ...hi, store: false })).rejects.toMatchObject({ status: 400 })
    const long = await serving({ adapter: Fake.make({ script: [{ text: "Once" }, { finish: "length" }] }) })
    expect(await clientOf(long.url).responses.create(hi)).toMatchObject({
      status: "incomplete",
      incomplete_details: { reason: "max_output_tokens" }
    })
  })

  it("reads a tool's question as the answer", async () => {
    const asks = tool({ name: "asks", execute: () => askUser("Which?") })
    const adapter = Fake.make({
      scripts: [
        [{ text: "Hm." }, { toolCall: { id: "c0", name: "asks" } }, { finish: "tool_calls" }],
        [{ text: "Fine." }, { finish: "stop" }]
      ]
    })
    const { url } = await serving({ adapter, tools: [asks] })
    const client = clientOf(url)
    const first = await client.responses.create(hi)
    expect(first.output_text).toBe("Hm.Which?")
    const second = await client.responses.create({ model: "troupe", input: "That", previous_response_id: first.id })
    expect(second.output_text).toBe("Fine.")
  })

  it("continues a conversation by its name, that other protocols have too", async () => {
    const adapter = counting()
    const { url } = await serving({ adapter })
    const client = clientOf(url)
    await client.responses.create(hi, { headers: { "x-troupe-chat": "c" } })
    const second = await client.responses.create({ model: "troupe", input: "And?", conversation: { id: "c" } })
    expect(second.conversation?.id).toBe("c")
    const { messages } = (await (await fetch(`${url}/api/chat/c/messages`)).json()) as {
      readonly messages: ReadonlyArray<unknown>
    }
    expect(messages.length).toBe(4)
  })

  it("OPENAIRUN3. a response of a server that closes ends with an error", async () => {
    const adapter = endless()
    const { server } = await served({ adapter })
    const node = await Node.listen(server, { clock: Clock.test() })
    const client = clientOf(node.url, { authorization: "anna" })
    const whole = client.responses.create(hi).catch((error: unknown) => error)
    const streamed = eventsOf(client, hi)
    await until(() => adapter.open === 2)
    await node.close()
    expect(await whole).toMatchObject({ status: 503, code: "closing" })
    expect(last(await streamed)).toMatchObject({ status: "failed", error: { code: "closing" } })
  })

  it("has the instructions of its model between those of the server and its own, stored or not", async () => {
    const adapter = hello()
    const { url } = await serving(
      { adapter, instructions: "Be polite." },
      { models: { poet: { instructions: "In verse." } } }
    )
    const client = clientOf(url)
    const systems = (at: number) =>
      adapter.requests[at]?.messages.flatMap(({ role, content }) => (role === "system" ? [content] : []))
    await client.responses.create({ ...hi, model: "poet", instructions: "Be brief." })
    await client.responses.create({ ...hi, model: "poet", instructions: "Be brief.", store: false })
    await client.chat.completions.create({ model: "poet", messages: [{ role: "user", content: "Hi" }] })
    expect([0, 1, 2].map((at) => systems(at)?.join("\n\n"))).toEqual([
      "Be polite.\n\nIn verse.\n\nBe brief.",
      "Be polite.\n\nIn verse.\n\nBe brief.",
      "Be polite.\n\nIn verse."
    ])
  })

  it("names the models of the server's table, each with its options", async () => {
    const adapter = hello()
    const { url } = await serving({ adapter, model: "large" }, { models: { fast: { model: "small", temperature: 0 } } })
    const client = clientOf(url)
    const names: Array<string> = []
    for await (const { id } of client.models.list()) names.push(id)
    expect(names).toEqual(["fast", "large", "troupe"])
    expect(await client.models.retrieve("fast")).toMatchObject({ id: "fast", object: "model" })
    await expect(client.models.retrieve("slow")).rejects.toMatchObject({ status: 404 })
    await client.responses.create({ ...hi, model: "fast" })
    await client.chat.completions.create({ model: "fast", messages: [{ role: "user", content: "Hi" }] })
    await client.responses.create({ ...hi, model: "large" })
    expect(adapter.requests.map(({ model }) => model)).toEqual(["small", "small", "large"])
  })
})

describe("the AI SDK's createOpenAI()", () => {
  const whereTool = aiTool({
    description: "Where am I?",
    inputSchema: z.object({ exact: z.boolean() }),
    execute: () => "Oslo"
  })

  it("runs its tools in one conversation", async () => {
    const adapter = asksWhere()
    const { url, troupe } = await serving({ adapter, tools: [clock] })
    const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: "key" })
    const { text, steps } = await generateText({
      model: openai("troupe"),
      system: "Be brief.",
      prompt: "Hi",
      tools: { where: whereTool },
      stopWhen: stepCountIs(3)
    })
    expect(text).toBe("In Oslo")
    expect(steps.length).toBe(2)
    expect(said(adapter, 1)).toMatchObject([
      ["system", "Be brief."],
      ["user", "Hi"],
      ["assistant", ""],
      ["tool", "noon"],
      ["tool", "Oslo"]
    ])
    expect((await troupe.list()).chats.length).toBe(1)
  })

  it("continues the conversation of its history", async () => {
    const adapter = counting()
    const { url, troupe } = await serving({ adapter })
    const model = createOpenAI({ baseURL: `${url}/v1`, apiKey: "key" })("troupe")
    const messages: Array<ModelMessage> = [{ role: "user", content: "Hi" }]
    const first = streamText({ model, messages })
    expect(await first.text).toBe("Answer 1.")
    messages.push(...(await first.response).messages, { role: "user", content: "And?" })
    const second = await generateText({ model, messages })
    expect(second.text).toBe("Answer 2.")
    expect(second.usage).toMatchObject({ inputTokens: 7, outputTokens: 3 })
    expect(said(adapter, 1)).toEqual([
      ["user", "Hi"],
      ["assistant", "Answer 1."],
      ["user", "And?"]
    ])
    expect((await troupe.list()).chats.length).toBe(1)
  })
})

describe("@openai/agents", () => {
  const runnerOf = (url: string) =>
    new Runner({
      modelProvider: new OpenAIProvider({ openAIClient: clientOf(url) as never, useResponses: true }),
      tracingDisabled: true
    })

  it("runs an agent with its tools in one conversation, and continues it", async () => {
    const adapter = asksWhere()
    const { url, troupe } = await serving({ adapter, tools: [clock] })
    const agent = new Agent({
      name: "Guide",
      instructions: "Be brief.",
      model: "troupe",
      tools: [
        agentTool({
          name: "where",
          description: "Where am I?",
          parameters: z.object({ exact: z.boolean() }),
          execute: () => "Oslo"
        })
      ]
    })
    const runner = runnerOf(url)
    const first = await runner.run(agent, "Hi")
    expect(first.finalOutput).toBe("In Oslo")
    const second = await runner.run(agent, [...first.history, { role: "user", content: "And?" }])
    expect(second.finalOutput).toBe("In Bergen")
    expect(said(adapter, 2)?.map(([role]) => role)).toEqual([
      "system",
      "user",
      "assistant",
      "tool",
      "tool",
      "assistant",
      "user"
    ])
    expect((await troupe.list()).chats.length).toBe(1)
  })

  it("streams, and names the response that it continues", async () => {
    const adapter = counting()
    const { url } = await serving({ adapter })
    const runner = runnerOf(url)
    const agent = new Agent({ name: "Guide", model: "troupe", outputType: "text" })
    const streamed = await runner.run(agent, "Hi", { stream: true })
    let text = ""
    for await (const piece of streamed.toTextStream()) text += piece
    await streamed.completed
    expect(text).toBe("Answer 1.")
    const { lastResponseId } = streamed
    if (lastResponseId === undefined) throw new Error("the run has no response")
    const second = await runner.run(agent, "And?", { previousResponseId: lastResponseId })
    expect(second.finalOutput).toBe("Answer 2.")
    expect(said(adapter, 1)?.length).toBe(3)
  })
})
