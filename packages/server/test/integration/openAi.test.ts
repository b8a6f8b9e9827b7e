import { askUser, Fake, tool } from "@troupe/chat"
import { Clock } from "@troupe/otp"
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import OpenAI, { APIError, APIUserAbortError, RateLimitError } from "openai"
import { describe, expect, it } from "vitest"
import { handModel } from "../double/handModel.ts"
import * as Node from "../../src/node/Node.ts"
import { endless, served, until } from "../double/served.ts"
import { serving } from "../double/serving.ts"

const clientOf = (url: string, headers: Record<string, string> = {}) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: "key", maxRetries: 0, defaultHeaders: headers })

type Request = OpenAI.ChatCompletionCreateParamsNonStreaming
type Chunk = OpenAI.ChatCompletionChunk

const hi: Request = { model: "troupe", messages: [{ role: "user", content: "Hi" }] }

const usage = { inputTokens: 7, outputTokens: 3, cachedInputTokens: 2 }

const hello = () => Fake.make({ script: [{ text: "Hel" }, { text: "lo" }, { finish: "stop" }], usage })

const streamOf = async (client: OpenAI, request: Request): Promise<ReadonlyArray<Chunk>> => {
  const chunks: Array<Chunk> = []
  for await (const chunk of await client.chat.completions.create({ ...request, stream: true })) chunks.push(chunk)
  return chunks
}

/** The message that chunks add up to. */
const added = (chunks: ReadonlyArray<Chunk>) => {
  let content = ""
  const calls: Array<{ id: string; name: string; arguments: string }> = []
  for (const { choices } of chunks) {
    content += choices[0]?.delta.content ?? ""
    for (const { index, id = "", function: said } of choices[0]?.delta.tool_calls ?? []) {
      const call = (calls[index] ??= { id, name: said?.name ?? "", arguments: "" })
      call.arguments += said?.arguments ?? ""
    }
  }
  return { content, calls }
}

const where: OpenAI.ChatCompletionTool = {
  type: "function",
  function: {
    name: "where",
    description: "Where am I?",
    parameters: { type: "object", properties: { exact: { type: "boolean" } } }
  }
}

const asksWhere = () =>
  Fake.make({
    scripts: [
      [
        { toolCall: { id: "s0", name: "clock" } },
        { toolCall: { id: "c0", name: "where", arguments: { exact: true } } },
        { finish: "tool_calls" }
      ],
      [{ text: "In Oslo" }, { finish: "stop" }]
    ]
  })

const clock = tool({ name: "clock", execute: () => "noon" })

describe("the openai package", () => {
  it("lists the models there are", async () => {
    const { url } = await serving({ adapter: hello(), model: "gpt-oslo" })
    const names: Array<string> = []
    for await (const { id } of clientOf(url).models.list()) names.push(id)
    expect(names).toEqual(["gpt-oslo", "troupe"])
  })

  it("OPENAI1. has the same answer whole and streamed, with what it cost", async () => {
    const { url } = await serving({ adapter: hello() })
    const client = clientOf(url)
    const answer = await client.chat.completions.create(hi)
    expect(answer.choices).toMatchObject([
      { index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }
    ])
    expect(answer.usage).toEqual({
      prompt_tokens: 7,
      completion_tokens: 3,
      total_tokens: 10,
      prompt_tokens_details: { cached_tokens: 2 }
    })
    const chunks = await streamOf(client, { ...hi, stream_options: { include_usage: true } })
    expect(added(chunks).content).toBe("Hello")
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe("stop")
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: 10 } })
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
  })

  it("OPENAIRUN1. the messages of the request are the thread, with its options", async () => {
    const adapter = hello()
    const { url } = await serving({ adapter, instructions: "Be brief" })
    await clientOf(url).chat.completions.create({
      model: "troupe",
      messages: [
        { role: "developer", content: "In Norwegian" },
        {
          role: "user",
          content: [
            { type: "text", text: "Look" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA", detail: "low" } }
          ]
        },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c0", type: "function", function: { name: "where", arguments: "{}" } }]
        },
        { role: "tool", tool_call_id: "c0", content: "Oslo" },
        { role: "user", content: "So?" }
      ],
      temperature: 0.5,
      max_completion_tokens: 100,
      top_p: 0.9,
      stop: "END",
      reasoning_effort: "low",
      response_format: { type: "json_schema", json_schema: { name: "a", schema: { type: "object" }, strict: true } }
    })
    const [request] = adapter.requests
    expect(request?.messages.map(({ role }) => role)).toEqual(["system", "system", "user", "assistant", "tool", "user"])
    expect(request).toMatchObject({
      temperature: 0.5,
      maxTokens: 100,
      options: { topP: 0.9, stopSequences: ["END"], reasoning: "low" },
      responseFormat: { type: "json_schema", name: "a", strict: true }
    })
    await clientOf(url).chat.completions.create(hi)
    expect(adapter.requests[1]?.messages.map(({ content }) => content)).toEqual(["Be brief", "Hi"])
  })

  it("OPENAI2. answers calls of its own tools; those of the server's tools it does not see", async () => {
    for (const how of ["whole", "streamed"]) {
      const { url } = await serving({ adapter: asksWhere(), tools: [clock] })
      const client = clientOf(url)
      const request: Request = { ...hi, tools: [where] }
      const first =
        how === "whole"
          ? (await client.chat.completions.create(request)).choices[0]?.message.tool_calls
          : added(await streamOf(client, request)).calls.map(({ id, ...said }) => ({
              id,
              type: "function",
              function: said
            }))
      expect(first).toEqual([{ id: "c0", type: "function", function: { name: "where", arguments: '{"exact":true}' } }])
      const second = await client.chat.completions.create({
        ...request,
        messages: [
          ...hi.messages,
          { role: "assistant", content: null, tool_calls: first as Array<OpenAI.ChatCompletionMessageToolCall> },
          { role: "tool", tool_call_id: "c0", content: "Oslo" }
        ]
      })
      expect(second.choices[0]?.message.content).toBe("In Oslo")
    }
  })

  it("OPENAIRUN2. that leaves ends the run", async () => {
    const model = handModel()
    const { url } = await serving({ adapter: model.adapter })
    const client = clientOf(url)
    const stream = await client.chat.completions.create({ ...hi, stream: true })
    model.text("Once ")
    for await (const { choices } of stream) if (choices[0]?.delta.content === "Once ") break
    await expect.poll(() => model.left).toBe(1)

    const abort = new AbortController()
    const waiting = client.chat.completions.create(hi, { signal: abort.signal }).catch((error: unknown) => error)
    await model.whenOpened(2)
    abort.abort()
    expect(await waiting).toBeInstanceOf(APIUserAbortError)
    await expect.poll(() => model.left).toBe(2)
  })

  it.each(["is gone", "reads nothing of it"])(
    "OPENAIRUN2. that %s when it is answered leaves no run behind",
    async (how) => {
      const adapter = endless()
      const { server } = await served({ adapter })
      const client = new AbortController()
      const response = await server.fetch(
        new Request("http://localhost/v1/chat/completions", {
          method: "POST",
          headers: { authorization: "anna", "content-type": "application/json" },
          body: JSON.stringify({ ...hi, stream: true }),
          signal: client.signal
        })
      )
      await expect.poll(() => adapter.open).toBe(1)
      if (how === "is gone") client.abort()
      else await response.body?.cancel()
      await expect.poll(() => adapter.open).toBe(0)
    }
  )

  it("OPENAIRUN1. continues a conversation that it names, saying only what is new", async () => {
    const adapter = hello()
    const { url } = await serving({ adapter })
    const client = clientOf(url, { "x-troupe-chat": "c" })
    await client.chat.completions.create(hi)
    await client.chat.completions.create({
      model: "troupe",
      messages: [{ role: "user", content: "Again" }],
      metadata: { chat_id: "ignored" }
    })
    expect(adapter.requests[1]?.messages.map(({ content }) => content)).toEqual(["Hi", "Hello", "Again"])
    const { messages } = (await (await fetch(`${url}/api/chat/c/messages`)).json()) as {
      readonly messages: ReadonlyArray<unknown>
    }
    expect(messages.length).toBe(4)
  })

  it("has its own tools and parameters in a conversation too", async () => {
    const adapter = asksWhere()
    const { url } = await serving({ adapter, tools: [clock] })
    const client = clientOf(url, { "x-troupe-chat": "c" })
    const first = await client.chat.completions.create({ ...hi, tools: [where], temperature: 0.5 })
    expect(first.choices[0]?.message.tool_calls).toMatchObject([{ id: "c0", function: { name: "where" } }])
    const second = await client.chat.completions.create({
      ...hi,
      tools: [where],
      messages: [{ role: "tool", tool_call_id: "c0", content: "Oslo" }]
    })
    expect(second.choices[0]?.message.content).toBe("In Oslo")
    expect(adapter.requests[0]?.temperature).toBe(0.5)
    expect(adapter.requests.map(({ tools }) => tools?.map(({ name }) => name))).toEqual([
      ["clock", "where"],
      ["clock", "where"]
    ])
  })

  it("gives a conversation the results of tools it declared as the client's", async () => {
    const { url } = await serving({ adapter: asksWhere(), tools: [clock, tool({ name: "where", manual: true })] })
    const client = clientOf(url)
    const request: Request = { ...hi, metadata: { chat_id: "c" } }
    const first = await client.chat.completions.create(request)
    expect(first.choices[0]?.finish_reason).toBe("tool_calls")
    const second = await client.chat.completions.create({
      ...request,
      messages: [{ role: "tool", tool_call_id: "c0", content: "Oslo" }]
    })
    expect(second.choices[0]?.message.content).toBe("In Oslo")
  })

  it("reads a tool's question as the answer", async () => {
    const asks = tool({ name: "asks", execute: () => askUser("Which?") })
    const adapter = Fake.make({
      script: [{ text: "Hm." }, { toolCall: { id: "c0", name: "asks" } }, { finish: "tool_calls" }]
    })
    const { url } = await serving({ adapter, tools: [asks] })
    const { choices } = await clientOf(url).chat.completions.create(hi)
    expect(choices[0]).toMatchObject({ message: { content: "Hm.\n\nWhich?" }, finish_reason: "stop" })
  })

  it("is refused in its own words", async () => {
    const adapter = hello()
    const { url } = await serving({ adapter, tools: [clock] })
    const client = clientOf(url)
    const refused = (request: object) =>
      client.chat.completions.create({ ...hi, ...request }).then(
        () => "nothing",
        (error: unknown) => (error instanceof APIError ? `${error.status} ${error.type} ${error.param}` : error)
      )
    expect(await refused({ n: 2 })).toBe("400 invalid_request_error n")
    expect(await refused({ logprobs: true })).toBe("400 invalid_request_error logprobs")
    expect(await refused({ functions: [] })).toBe("400 invalid_request_error functions")
    expect(await refused({ modalities: ["audio"] })).toBe("400 invalid_request_error modalities.0")
    const audio = [{ type: "input_audio", input_audio: { data: "aGk=", format: "wav" } }]
    expect(await refused({ messages: [{ role: "user", content: audio }] })).toBe(
      "400 invalid_request_error messages.content"
    )
    expect(await refused({ temperature: 3 })).toBe("400 invalid_request_error temperature")
    expect(await refused({ messages: [] })).toBe("400 invalid_request_error messages")
    expect(await refused({ model: "gpt-6" })).toBe("404 invalid_request_error null")
    expect(await refused({ tools: [{ type: "function", function: { name: "clock" } }] })).toBe(
      "400 invalid_request_error null"
    )
    const text = { name: "text", parameters: { type: "string" } }
    expect(await refused({ tools: [{ type: "function", function: text }] })).toBe(
      "400 invalid_request_error tools.text.parameters.type"
    )
    expect(adapter.requests.length).toBe(0)
    expect(await refused({ n: 1, user: "u", store: false, logprobs: false, parallel_tool_calls: true })).toBe("nothing")
  })

  it("is refused a tool message that follows no message with its call, and nothing runs", async () => {
    const adapter = hello()
    const { url } = await serving({ adapter })
    const client = clientOf(url)
    const call = (id: string) => ({ id, type: "function" as const, function: { name: "where", arguments: "{}" } })
    const asked = { role: "assistant" as const, tool_calls: [call("c0"), call("c1")] }
    const result = (id: string) => ({ role: "tool" as const, tool_call_id: id, content: "Oslo" })
    for (const messages of [
      [result("c0")],
      [...hi.messages, result("c0")],
      [...hi.messages, asked, result("c0"), result("c2")],
      [...hi.messages, asked, ...hi.messages, result("c0")]
    ]) {
      await expect(client.chat.completions.create({ ...hi, messages })).rejects.toMatchObject({
        status: 400,
        type: "invalid_request_error",
        param: "messages",
        message: expect.stringMatching(/follows no assistant message with its call.*"c[02]"/u)
      })
    }
    expect(adapter.requests.length).toBe(0)
    const messages = [...hi.messages, asked, result("c0"), result("c1")]
    expect((await client.chat.completions.create({ ...hi, messages })).choices[0]?.message.content).toBe("Hello")
  })

  it("gets failures before the answer and in it", async () => {
    const limited = await serving({
      adapter: Fake.make({ script: [{ preflightError: "rate_limited" }] }),
      retry: false
    })
    await expect(clientOf(limited.url).chat.completions.create(hi)).rejects.toBeInstanceOf(RateLimitError)
    await expect(streamOf(clientOf(limited.url), hi)).rejects.toBeInstanceOf(RateLimitError)
    const broken = await serving({
      adapter: Fake.make({ script: [{ text: "Hel" }, { error: "content_filter" }, { finish: "error" }] })
    })
    await expect(streamOf(clientOf(broken.url), hi)).rejects.toMatchObject({ code: "content_filter" })
    await expect(clientOf(broken.url).chat.completions.create(hi)).rejects.toMatchObject({
      status: 400,
      code: "content_filter"
    })
  })

  it("OPENAIRUN3. a completion of a server that closes ends at once with an error, whole or streamed, and its run is over", async () => {
    const adapter = endless()
    const { server } = await served({ adapter })
    const node = await Node.listen(server, { clock: Clock.test() })
    const client = clientOf(node.url, { authorization: "anna" })
    const [whole, named] = [{}, { "x-troupe-chat": "c1" }].map((headers) =>
      client.chat.completions.create(hi, { headers }).catch((error: unknown) => error)
    )
    const streamed = await fetch(`${node.url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: "anna", "content-type": "application/json" },
      body: JSON.stringify({ ...hi, stream: true })
    })
    await until(() => adapter.open === 3)
    await node.close()
    expect(adapter.open).toBe(1)
    for (const error of [await whole, await named]) expect(error).toMatchObject({ status: 503, code: "closing" })
    const frames = (await streamed.text()).split("\n\n").filter((frame) => frame !== "")
    expect(frames.at(-2)).toContain('"code":"closing"')
    expect(frames.at(-1)).toBe("data: [DONE]")
  })

  it("OPENAIRUN3. a server is closed when the runs of its completions are over", async () => {
    const adapter = endless()
    const { ask, server } = await served({ adapter })
    const answer = ask("POST", "/v1/chat/completions", hi)
    await until(() => adapter.open === 1)
    await server.close()
    expect(adapter.open).toBe(0)
    expect(await (await answer).json()).toMatchObject({ error: { type: "server_error", code: "closing" } })
  })
})

describe("curl", () => {
  const curl = async (...args: ReadonlyArray<string>) =>
    (await promisify(execFile)("curl", ["-sN", "-H", "content-type: application/json", ...args])).stdout

  it("reads each protocol with nothing but a body", async () => {
    const { url } = await serving({ adapter: hello() })
    const completion = await curl("-d", JSON.stringify({ ...hi, stream: true }), `${url}/v1/chat/completions`)
    expect(completion.split("\n\n").at(-2)).toBe("data: [DONE]")
    const said = { id: "c", messages: [{ id: "u1", role: "user", parts: [{ type: "text", text: "Hi" }] }] }
    expect(await curl("-d", JSON.stringify(said), `${url}/api/chat`)).toContain(
      '{"type":"text-delta","id":"text-1","delta":"Hel'
    )
    const input = { threadId: "d", runId: "r1", messages: [{ id: "u1", role: "user", content: "Hi" }] }
    expect(await curl("-d", JSON.stringify(input), `${url}/ag-ui`)).toContain(
      '{"type":"RUN_FINISHED","threadId":"d","runId":"r1"'
    )
    expect(await curl(`${url}/api/chat/c/messages`)).toContain('"text":"Hello"')
  })
})
