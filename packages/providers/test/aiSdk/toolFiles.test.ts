/** Tool results with images and files, as the provider packages send them. */
import { createAnthropic } from "@ai-sdk/anthropic"
import { createGoogle } from "@ai-sdk/google"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { Chat, Engine, Fake, tool, user } from "@troupe/chat"
import { type ContentPart, Message } from "@troupe/chat/messages"
import { generateText, type ModelMessage } from "ai"
import { describe, expect, test } from "vitest"
import { aiSdk, type AiSdkModel, type AiSdkOptions } from "../../src/aiSdk/AiSdk.ts"
import { isRead, toolFilesOf } from "../../src/aiSdk/toolFiles.ts"
import { asking, pull } from "../loopback/pulling.ts"

type Body = Readonly<Record<string, unknown>>

/** A `fetch` that collects the bodies of requests, and refuses them. */
const collecting = () => {
  const bodies: Array<Body> = []
  const refuse: typeof fetch = async (_, init) => {
    bodies.push(JSON.parse(init?.body as string) as Body)
    return new Response("{}", { status: 400 })
  }
  return { bodies, fetch: refuse }
}

type Fetch = { readonly fetch: typeof fetch; readonly apiKey: string }

const models = {
  responses: (options: Fetch) => createOpenAI(options).responses("gpt-5"),
  chat: (options: Fetch) => createOpenAI(options).chat("gpt-5"),
  compatible: (options: Fetch) =>
    createOpenAICompatible({ ...options, name: "local", baseURL: "http://127.0.0.1/v1" })("small"),
  multiPart: (options: Fetch) =>
    createOpenAICompatible({
      ...options,
      name: "local",
      baseURL: "http://127.0.0.1/v1",
      supportsMultiPartToolContent: true
    })("large"),
  anthropic: (options: Fetch) => createAnthropic(options)("claude-sonnet-4-5"),
  gemini2: (options: Fetch) => createGoogle(options)("gemini-2.5-flash"),
  gemini3: (options: Fetch) => createGoogle(options)("gemini-3-pro-preview")
} satisfies Readonly<Record<string, (options: Fetch) => AiSdkModel>>

const png = "iVBORw0KGgo="
const image = { type: "image", image: { base64: png, mediaType: "image/png" } } as const
const pdf = { type: "file", file: { base64: "JVBERi0xLjc=" }, mediaType: "application/pdf", filename: "a.pdf" } as const
const audio = { type: "file", file: { base64: "UklGRg==" }, mediaType: "audio/wav" } as const
const linked = { type: "image", image: { url: "https://example.com/a.png" } } as const
const text = (said: string) => ({ type: "text", text: said }) as const

const called = { id: "c1", name: "look", arguments: {} }

const threadOf = (result: ReadonlyArray<unknown>, outcome: "completed" | "failed"): ReadonlyArray<Message.Message> => [
  { role: "user", content: "Look" },
  { role: "assistant", content: "", toolCalls: [called] },
  { ...Message.toolResult("c1", result), outcome }
]

/** The body of the request with this result. */
const sent = async (
  name: keyof typeof models,
  result: ReadonlyArray<unknown>,
  outcome: "completed" | "failed" = "completed",
  options: AiSdkOptions = {}
): Promise<Body> => {
  const { bodies, fetch } = collecting()
  const adapter = aiSdk(models[name]({ fetch, apiKey: "k" }), options)
  await expect(pull(adapter, asking({ messages: threadOf(result, outcome) }))).rejects.toMatchObject({ status: 400 })
  const [body] = bodies
  if (body === undefined) throw new Error("nothing was sent")
  return body
}

const last = (list: unknown): unknown => (list as ReadonlyArray<unknown>).at(-1)

const unread = (part: ContentPart): string =>
  `${Message.text({ role: "tool", toolCallId: "", content: [part] }).slice(0, -1)}: this model cannot read it]`

describe("TFILE1 a result with text, an image, a PDF, audio and a linked image", () => {
  const result = [text("before"), image, pdf, audio, linked, { type: "json", value: { n: 1 } }]

  test("is content for OpenAI's Responses, and audio is text", async () => {
    const { input } = await sent("responses", result)
    expect(last(input)).toEqual({
      type: "function_call_output",
      call_id: "c1",
      output: [
        { type: "input_text", text: "before" },
        { type: "input_image", image_url: `data:image/png;base64,${png}` },
        { type: "input_file", filename: "a.pdf", file_data: "data:application/pdf;base64,JVBERi0xLjc=" },
        { type: "input_text", text: "[file audio/wav, 4 B: this model cannot read it]" },
        { type: "input_image", image_url: "https://example.com/a.png" },
        { type: "input_text", text: '{"n":1}' }
      ]
    })
  })

  test("is content for Anthropic, and audio is text", async () => {
    const { messages } = await sent("anthropic", result)
    expect(last(messages)).toMatchObject({
      role: "user",
      content: [
        {
          type: "tool_result",
          tool_use_id: "c1",
          content: [
            { type: "text", text: "before" },
            { type: "image", source: { type: "base64", media_type: "image/png", data: png } },
            { type: "document", source: { type: "base64", media_type: "application/pdf", data: "JVBERi0xLjc=" } },
            { type: "text", text: unread(audio) },
            { type: "image", source: { type: "url", url: "https://example.com/a.png" } },
            { type: "text", text: '{"n":1}' }
          ]
        }
      ]
    })
  })

  const lines = [
    "before",
    "[image image/png, 8 B]",
    "[file application/pdf, a.pdf, 8 B]",
    unread(audio),
    unread(linked),
    '{"n":1}'
  ].join("\n")

  test("is parts of the function response for Gemini 3, and a URL is text", async () => {
    const { contents } = await sent("gemini3", result)
    expect(last(contents)).toMatchObject({
      role: "user",
      parts: [
        {
          functionResponse: {
            name: "look",
            response: { content: lines },
            parts: [
              { inlineData: { mimeType: "image/png", data: png } },
              { inlineData: { mimeType: "application/pdf", data: "JVBERi0xLjc=" } }
            ]
          }
        }
      ]
    })
  })

  test("TFILE2 is exactly one function response for Gemini 2, with the files after it", async () => {
    const { contents } = await sent("gemini2", result)
    const { parts } = last(contents) as { readonly parts: ReadonlyArray<object> }
    expect(parts.filter((part) => "functionResponse" in part)).toMatchObject([
      { functionResponse: { response: { content: lines } } }
    ])
    expect(parts.filter((part) => "inlineData" in part)).toHaveLength(2)
    const alone = last((await sent("gemini2", [image]))["contents"]) as { readonly parts: ReadonlyArray<object> }
    expect(alone.parts[0]).toMatchObject({ functionResponse: { response: { content: "[image image/png, 8 B]" } } })
  })

  test.each(["chat", "compatible"] as const)(
    "is text without base64 for a tool message that takes only text: %s",
    async (name) => {
      const { messages } = await sent(name, result)
      const content = ["before", unread(image), unread(pdf), unread(audio), unread(linked), '{"n":1}'].join("\n")
      expect(last(messages)).toMatchObject({ role: "tool", tool_call_id: "c1", content })
      expect(JSON.stringify(messages)).not.toContain(png)
    }
  )

  test("is content for a compatible server whose media types the program gives", async () => {
    const { messages } = await sent("multiPart", [text("before"), image, pdf], "completed", { toolFiles: ["image/*"] })
    expect(last(messages)).toMatchObject({
      role: "tool",
      content: [
        { type: "text", text: "before" },
        { type: "image_url", image_url: { url: `data:image/png;base64,${png}` } },
        { type: "text", text: unread(pdf) }
      ]
    })
  })
})

describe("a failed call with an image", () => {
  const result = [text('{"error":"no button"}'), image]

  test("is content with the text of the failure where the model reads images", async () => {
    const { messages } = await sent("anthropic", result, "failed")
    expect(last(messages)).toMatchObject({
      content: [{ content: [{ type: "text", text: '{"error":"no button"}' }, { type: "image" }] }]
    })
  })

  test("is an error where the model reads only text", async () => {
    const { messages } = await sent("chat", result, "failed")
    const { content } = last(messages) as { readonly content: string }
    expect(JSON.parse(content)).toEqual({ error: `{"error":"no button"}\n${unread(image)}` })
  })
})

test("the detail of an image reaches OpenAI", async () => {
  const { input } = await sent("responses", [{ ...image, detail: "high" }])
  expect(last(input)).toMatchObject({ output: [{ type: "input_image", detail: "high" }] })
})

describe("the AI SDK's own request with the same result", () => {
  const messages: Array<ModelMessage> = [
    { role: "user", content: "Look" },
    { role: "assistant", content: [{ type: "tool-call", toolCallId: "c1", toolName: "look", input: {} }] },
    {
      role: "tool",
      content: [
        {
          type: "tool-result",
          toolCallId: "c1",
          toolName: "look",
          output: {
            type: "content",
            value: [
              { type: "text", text: "before" },
              { type: "file", mediaType: "image/png", data: { type: "data", data: png } },
              {
                type: "file",
                mediaType: "application/pdf",
                filename: "a.pdf",
                data: { type: "data", data: "JVBERi0xLjc=" }
              },
              { type: "text", text: "after" }
            ]
          }
        }
      ]
    }
  ]

  test.each(["responses", "anthropic"] as const)("is the same: %s", async (name) => {
    const { bodies, fetch } = collecting()
    await generateText({ model: models[name]({ fetch, apiKey: "k" }), messages, maxRetries: 0 }).catch(() => {})
    const body = await sent(name, [text("before"), image, pdf, text("after")])
    const field = name === "responses" ? "input" : "messages"
    expect(JSON.stringify(last(body[field]))).toBe(JSON.stringify(last(bodies[0]?.[field])))
  })
})

test("a screenshot of a handler is an image for the model in the next request", async () => {
  const { bodies, fetch } = collecting()
  const look = tool({ name: "look", execute: (): ReadonlyArray<ContentPart> => [text("The page"), image] })
  const script = [[{ toolCall: called }, { finish: "tool_calls" as const }]]
  const first = Fake.make({ scripts: script })
  const { thread } = await Chat.run(Engine.make({ adapter: first, tools: [look] }), [user("Look")], { maxTurns: 1 })
  const adapter = aiSdk(models.responses({ fetch, apiKey: "k" }))
  await expect(pull(adapter, asking({ messages: thread.messages }))).rejects.toThrow()
  expect(last(bodies[0]?.["input"])).toMatchObject({
    output: [{ type: "input_text" }, { type: "input_image", image_url: `data:image/png;base64,${png}` }]
  })
})

describe("the media types that a provider's package sends", () => {
  const read = (provider: string, modelId = "m", given?: ReadonlyArray<string>) => {
    const files = toolFilesOf({ provider, modelId }, given)
    return [image, pdf, linked].filter((part) => isRead(part, files))
  }

  test.each([
    ["openai.responses", [image, pdf, linked]],
    ["azure.responses", [image, pdf, linked]],
    ["anthropic.messages", [image, pdf, linked]],
    ["vertex.anthropic.messages", [image, pdf, linked]],
    ["bedrock.anthropic.messages", [image, pdf, linked]],
    ["xai.responses", [image, linked]],
    ["google.generative-ai", [image, pdf]],
    ["google.vertex.chat", [image, pdf]],
    ["amazon-bedrock", [image]],
    ["openai.chat", []],
    ["mistral.chat", []],
    ["groq.chat", []],
    ["local.chat", []]
  ])("%s", (provider, expected) => {
    expect(read(provider)).toEqual(expected)
  })

  test("of a gateway are those of the model's own provider", () => {
    expect(read("gateway", "anthropic/claude-sonnet-4.5")).toEqual([image, pdf, linked])
    expect(read("gateway", "google/gemini-3-pro")).toEqual([image, pdf])
    expect(read("gateway", "mistral/mistral-large")).toEqual([])
  })

  test("are the program's own if it gives them", () => {
    expect(read("local.chat", "m", ["image/*"])).toEqual([image, linked])
    expect(read("openai.responses", "m", [])).toEqual([])
    expect(read("google.generative-ai", "m", ["*/*"])).toEqual([image, pdf])
  })

  test("ignore letter case and parameters, and see the media type of a data URL", () => {
    const files = toolFilesOf({ provider: "openai.responses", modelId: "m" })
    const upper = { type: "file", file: { base64: "AAAA" }, mediaType: "Application/PDF; version=1" } as const
    expect(isRead(upper, files)).toBe(true)
    expect(isRead({ type: "image", image: { url: "data:image/svg+xml;base64,AAAA" } }, files)).toBe(false)
    expect(isRead({ type: "image", image: { url: `data:image/png;base64,${png}` } }, files)).toBe(true)
  })
})
