import { Fake, tool } from "@troupe/chat"
import OpenAI from "openai"
import { zodFunction, zodResponseFormat, zodResponsesFunction, zodTextFormat } from "openai/helpers/zod"
import { describe, expect, it } from "vitest"
import * as z from "zod"
import { serving } from "../double/serving.ts"

const clientOf = (url: string, headers: Record<string, string> = {}) =>
  new OpenAI({ baseURL: `${url}/v1`, apiKey: "key", maxRetries: 0, defaultHeaders: headers })

const hi = { model: "troupe", messages: [{ role: "user" as const, content: "Hi" }] }

const clock = tool({ name: "clock", execute: () => "noon" })

const asksWhere = () =>
  Fake.make({
    scripts: [
      [
        { toolCall: { id: "s0", name: "clock" } },
        { toolCall: { id: "c0", name: "where", arguments: { exact: true } } },
        { toolCall: { id: "c1", name: "where", arguments: { exact: false } } },
        { finish: "tool_calls" }
      ],
      [{ text: "In Oslo" }, { finish: "stop" }]
    ],
    usage: { inputTokens: 7, outputTokens: 3 }
  })

const place = z.object({ city: z.string() })
const exactly = z.object({ exact: z.boolean() })

const replying = (script: Fake.Script) => Fake.make({ script })
const inJson = () => replying([{ text: '{"city":' }, { text: '"Oslo"}' }, { finish: "stop" }])
const inCall = () =>
  replying([{ toolCall: { id: "c0", name: "where", arguments: { exact: true } } }, { finish: "tool_calls" }])

const where = zodFunction({
  name: "where",
  description: "Where am I?",
  parameters: exactly,
  function: ({ exact }) => (exact ? "Oslo" : "Norway")
})

describe("openai's runTools", () => {
  it.each([
    ["whole", {}],
    ["whole in a conversation", { "x-troupe-chat": "c" }],
    ["streamed", {}],
    ["streamed in a conversation", { "x-troupe-chat": "c" }]
  ])("runs the client's tools until the answer, %s", async (how, headers) => {
    const adapter = asksWhere()
    const { url } = await serving({ adapter, tools: [clock] })
    const { completions } = clientOf(url, headers).chat
    const runner = how.startsWith("streamed")
      ? completions.runTools({ ...hi, stream: true, stream_options: { include_usage: true }, tools: [where] })
      : completions.runTools({ ...hi, tools: [where] })
    expect(await runner.finalContent()).toBe("In Oslo")
    expect((await runner.finalChatCompletion()).choices[0]?.finish_reason).toBe("stop")
    expect(runner.messages.flatMap(({ role, content }) => (role === "tool" ? [content] : []))).toEqual([
      "Oslo",
      "Norway"
    ])
    expect(await runner.totalUsage()).toMatchObject({ total_tokens: 20 })
    const sent = adapter.requests[1]?.messages.flatMap(({ role, content }) => (role === "tool" ? [content] : []))
    expect(sent).toEqual("x-troupe-chat" in headers ? ["noon", "Oslo", "Norway"] : ["Oslo", "Norway"])
  })

  it("ends with the error of the server", async () => {
    const { url } = await serving({ adapter: replying([{ preflightError: "rate_limited" }]), retry: false })
    const runner = clientOf(url).chat.completions.runTools({ ...hi, tools: [where] })
    await expect(runner.done()).rejects.toMatchObject({ status: 429, code: "rate_limited" })
  })
})

describe("openai's parse", () => {
  it("parses a completion in the form of a schema, whole and streamed", async () => {
    const adapter = inJson()
    const { url } = await serving({ adapter })
    const { completions } = clientOf(url).chat
    const request = { ...hi, response_format: zodResponseFormat(place, "place") }
    const { choices } = await completions.parse(request)
    expect(choices[0]?.message.parsed).toEqual({ city: "Oslo" })
    const stream = completions.stream(request)
    expect((await stream.finalChatCompletion()).choices[0]?.message.parsed).toEqual({ city: "Oslo" })
    expect(adapter.requests.map(({ responseFormat }) => responseFormat)).toMatchObject(
      Array.from({ length: 2 }, () => ({ type: "json_schema", name: "place", strict: true }))
    )
  })

  it("parses the arguments of a completion's calls", async () => {
    const { url } = await serving({ adapter: inCall() })
    const { completions } = clientOf(url).chat
    const request = { ...hi, tools: [zodFunction({ name: "where", parameters: exactly })] }
    for (const completion of [
      await completions.parse(request),
      await completions.stream(request).finalChatCompletion()
    ]) {
      const [call] = completion.choices[0]?.message.tool_calls ?? []
      expect(call).toMatchObject({ id: "c0", function: { name: "where", parsed_arguments: { exact: true } } })
    }
  })

  it("parses a response in the form of a schema, whole and streamed", async () => {
    const adapter = inJson()
    const { url } = await serving({ adapter })
    const { responses } = clientOf(url)
    const request = { model: "troupe", input: "Where?", text: { format: zodTextFormat(place, "place") } }
    expect((await responses.parse(request)).output_parsed).toEqual({ city: "Oslo" })
    expect((await responses.stream(request).finalResponse()).output_parsed).toEqual({ city: "Oslo" })
    expect(adapter.requests[0]?.responseFormat).toMatchObject({ type: "json_schema", name: "place", strict: true })
  })

  it("parses the arguments of a response's calls", async () => {
    const { url } = await serving({ adapter: inCall() })
    const { responses } = clientOf(url)
    const request = {
      model: "troupe",
      input: "Where?",
      tools: [zodResponsesFunction({ name: "where", parameters: exactly })]
    }
    for (const response of [await responses.parse(request), await responses.stream(request).finalResponse()]) {
      expect(response.output).toMatchObject([
        { type: "function_call", name: "where", parsed_arguments: { exact: true } }
      ])
    }
  })

  it("throws for an answer that was cut short", async () => {
    const { url } = await serving({ adapter: replying([{ text: '{"city":' }, { finish: "length" }]) })
    await expect(
      clientOf(url).chat.completions.parse({ ...hi, response_format: zodResponseFormat(place, "place") })
    ).rejects.toThrow(/length limit/)
  })
})
