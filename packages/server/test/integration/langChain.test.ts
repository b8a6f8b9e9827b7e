import { type AIMessage, type BaseMessage, HumanMessage, SystemMessage } from "@langchain/core/messages"
import { tool as langChainTool } from "@langchain/core/tools"
import { ChatOpenAI } from "@langchain/openai"
import { Fake, tool } from "@troupe/chat"
import { describe, expect, it } from "vitest"
import * as z from "zod"
import { handModel } from "../double/handModel.ts"
import { endless, until } from "../double/served.ts"
import { serving } from "../double/serving.ts"

const usage = { inputTokens: 7, outputTokens: 3, cachedInputTokens: 2 }

/** A model that numbers its answers. */
const counting = () => Fake.make({ respond: (_, call) => [{ text: `Answer ${call + 1}.` }, { finish: "stop" }], usage })

const clock = tool({ name: "clock", execute: () => "noon" })

const asksWhere = () =>
  Fake.make({
    scripts: [
      [
        { toolCall: { id: "s0", name: "clock" } },
        { toolCall: { id: "c0", name: "where", arguments: { exact: true } } },
        { finish: "tool_calls" }
      ],
      [{ text: "In Oslo" }, { finish: "stop" }]
    ],
    usage
  })

const where = langChainTool(({ exact }) => (exact ? "Oslo" : "Norway"), {
  name: "where",
  description: "Where am I?",
  schema: z.object({ exact: z.boolean() })
})

const place = z.object({ city: z.string() })

const said = (adapter: Fake.Fake, request: number) =>
  adapter.requests[request]?.messages.map(({ role, content }) => [role, content])

describe.each([
  ["completions", false],
  ["responses", true]
])("LangChain's ChatOpenAI with %s", (_, useResponsesApi) => {
  const modelOf = (url: string, more: object = {}) =>
    new ChatOpenAI({
      model: "troupe",
      apiKey: "key",
      maxRetries: 0,
      useResponsesApi,
      configuration: { baseURL: `${url}/v1` },
      ...more
    })

  it("gets an answer with its usage", async () => {
    const adapter = counting()
    const { url } = await serving({ adapter })
    const answer = await modelOf(url, { temperature: 0.5, maxTokens: 100 }).invoke([
      new SystemMessage("Be brief."),
      new HumanMessage("Hi")
    ])
    expect(answer.text).toBe("Answer 1.")
    expect(answer.usage_metadata).toMatchObject({ input_tokens: 7, output_tokens: 3, total_tokens: 10 })
    expect(said(adapter, 0)).toEqual([
      ["system", "Be brief."],
      ["user", "Hi"]
    ])
    expect(adapter.requests[0]).toMatchObject({ temperature: 0.5, maxTokens: 100 })
  })

  it("streams an answer in pieces, with its usage", async () => {
    const model = handModel()
    const { url } = await serving({ adapter: model.adapter })
    const stream = await modelOf(url).stream("Hi")
    await model.whenOpened(1)
    model.text("Hel")
    let whole: Awaited<ReturnType<typeof stream.next>>["value"]
    for await (const chunk of stream) {
      whole = whole === undefined ? chunk : whole.concat(chunk)
      if (whole.text === "Hel" && chunk.text !== "") {
        model.say({ type: "text_delta", id: null, delta: "lo" })
        model.say({
          type: "message_completed",
          message: { role: "assistant", content: "Hello" },
          finishReason: "stop",
          usage
        })
        model.end()
      }
    }
    expect(whole?.text).toBe("Hello")
    expect(whole?.usage_metadata).toMatchObject({ input_tokens: 7, output_tokens: 3, total_tokens: 10 })
  })

  it.each(["whole", "streamed"])("runs its tools, %s, and continues with their results", async (how) => {
    const adapter = asksWhere()
    const { url } = await serving({ adapter, tools: [clock] })
    const model = modelOf(url).bindTools([where])
    const ask = async (messages: ReadonlyArray<BaseMessage>): Promise<AIMessage> => {
      if (how === "whole") return model.invoke([...messages])
      let whole: Awaited<ReturnType<typeof model.invoke>> | undefined
      for await (const chunk of await model.stream([...messages]))
        whole = whole === undefined ? chunk : whole.concat(chunk)
      if (whole === undefined) throw new Error("the stream is empty")
      return whole
    }
    const messages: Array<BaseMessage> = [new HumanMessage("Hi")]
    const first = await ask(messages)
    expect(first.tool_calls).toMatchObject([{ name: "where", args: { exact: true } }])
    messages.push(first)
    for (const call of first.tool_calls ?? []) messages.push(await where.invoke(call))
    const second = await ask(messages)
    expect(second.text).toBe("In Oslo")
    expect(said(adapter, 1)?.slice(-2)).toEqual(
      useResponsesApi
        ? [
            ["tool", "noon"],
            ["tool", "Oslo"]
          ]
        : [
            ["assistant", ""],
            ["tool", "Oslo"]
          ]
    )
    expect(adapter.requests[1]?.tools?.map(({ name }) => name)).toEqual(["clock", "where"])
  })

  it.each(["jsonSchema", "functionCalling"] as const)("parses an answer by the method %s", async (method) => {
    const adapter = Fake.make({
      script:
        method === "jsonSchema"
          ? [{ text: '{"city":"Oslo"}' }, { finish: "stop" }]
          : [{ toolCall: { id: "c0", name: "place", arguments: { city: "Oslo" } } }, { finish: "tool_calls" }]
    })
    const { url } = await serving({ adapter })
    const parsed = await modelOf(url).withStructuredOutput(place, { name: "place", method }).invoke("Where?")
    expect(parsed).toEqual({ city: "Oslo" })
    const [request] = adapter.requests
    if (method === "jsonSchema") expect(request?.responseFormat).toMatchObject({ type: "json_schema", name: "place" })
    else expect(request?.toolChoice).toEqual({ name: "place" })
  })

  it("sends an image", async () => {
    const adapter = counting()
    const { url } = await serving({ adapter })
    await modelOf(url).invoke([
      new HumanMessage({
        content: [
          { type: "text", text: "What is this?" },
          { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } }
        ]
      })
    ])
    expect(adapter.requests[0]?.messages[0]?.content).toMatchObject([
      { type: "text", text: "What is this?" },
      { type: "image", image: { base64: "iVBORw0KGgo=", mediaType: "image/png" } }
    ])
  })

  it("continues a conversation with its history", async () => {
    const adapter = counting()
    const { url, troupe } = await serving({ adapter })
    const model = modelOf(url)
    const first = await model.invoke("Hi")
    const second = await model.invoke([new HumanMessage("Hi"), first, new HumanMessage("And?")])
    expect(second.text).toBe("Answer 2.")
    expect(said(adapter, 1)).toEqual([
      ["user", "Hi"],
      ["assistant", "Answer 1."],
      ["user", "And?"]
    ])
    expect((await troupe.list()).chats.length).toBe(useResponsesApi ? 1 : 0)
  })

  it("gets the status and the code of a refusal", async () => {
    const { url } = await serving({
      adapter: Fake.make({ script: [{ preflightError: "rate_limited" }] }),
      retry: false
    })
    await expect(modelOf(url).invoke("Hi")).rejects.toMatchObject({ status: 429, code: "rate_limited" })
    await expect(modelOf(url, { model: "gpt-6" }).invoke("Hi")).rejects.toMatchObject({ status: 404 })
  })

  it("stops reading when it is aborted", async () => {
    const adapter = endless()
    const { url } = await serving({ adapter })
    const abort = new AbortController()
    const waiting = modelOf(url)
      .invoke("Hi", { signal: abort.signal })
      .then(
        () => "answered",
        () => "aborted"
      )
    await until(() => adapter.open === 1)
    abort.abort()
    expect(await waiting).toBe("aborted")
    // A stored response goes on.
    if (!useResponsesApi) await until(() => adapter.open === 0)
  })
})
