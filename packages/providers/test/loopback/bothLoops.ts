/** Runs one recorded reply through the loop of the AI SDK and through ours, over the same scripted `fetch`. */
import { readdirSync } from "node:fs"
import { isAbsolute, join } from "node:path"
import { createAnthropic } from "@ai-sdk/anthropic"
import { createGoogle } from "@ai-sdk/google"
import { createMistral } from "@ai-sdk/mistral"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import type { LanguageModelV4 } from "@ai-sdk/provider"
import { Chat, Engine, tool } from "@troupe/chat"
import { type Message, Thread } from "@troupe/chat/messages"
import { isStepCount, jsonSchema, type ModelMessage, streamText, tool as sdkTool } from "ai"
import { type Dialect, readRecording } from "../../../../tooling/wire/recording.ts"
import { aiSdk } from "../../src/aiSdk/AiSdk.ts"

const folder = join(import.meta.dirname, "../fixtures/replies")

/** The names of the recordings. */
export const recordings: ReadonlyArray<string> = readdirSync(folder).map((file) => file.replace(".chunks.txt", ""))

/** The path of a recording. A recording of another folder has its path as its name. */
const pathOf = (name: string): string => (isAbsolute(name) ? name : join(folder, `${name}.chunks.txt`))

/** What came of a loop: the bodies of its requests, and the first reply. */
interface Ran<Reply> {
  readonly bodies: ReadonlyArray<string>
  readonly reply: Reply
}

/** A provider whose first reply is the recording; every later one is a text. */
export const modelOf = (name: string): { readonly model: LanguageModelV4; readonly bodies: Array<string> } => {
  const bodies: Array<string> = []
  const { provider, dialect, data } = readRecording(pathOf(name))
  const closing = provider === "mistral" ? "mistral--text" : closings[dialect]
  const fetch = async (_: unknown, init?: { readonly body?: unknown }): Promise<Response> => {
    const lines = bodies.push(String(init?.body)) === 1 ? data : readRecording(pathOf(closing)).data
    const text = lines.map((line) => `data: ${line}\n\n`).join("")
    return new Response(text, { headers: { "content-type": "text/event-stream" } })
  }
  return { model: providerOf(provider, dialect)(fetch), bodies }
}

/** The recordings of a text. */
const closings: Readonly<Record<Dialect, string>> = {
  messages: "anthropic--text",
  gemini: "google--text",
  chat: "openai--chat-text",
  responses: "openai--responses-text"
}

const apiKey = "none"

const providerOf = (provider: string, dialect: Dialect): ((fetch: typeof globalThis.fetch) => LanguageModelV4) => {
  let ids = 0
  const generateId = () => `id${ids++}`
  switch (dialect) {
    case "messages":
      return (fetch) => createAnthropic({ apiKey, fetch, generateId })("claude-recorded")
    case "gemini":
      return (fetch) => createGoogle({ apiKey, fetch, generateId })("gemini-3-pro")
    case "responses":
      return (fetch) => createOpenAI({ apiKey, fetch }).responses("gpt-5")
    case "chat":
      if (provider === "mistral") return (fetch) => createMistral({ apiKey, fetch, generateId })("magistral-medium")
      if (provider === "openai") return (fetch) => createOpenAI({ apiKey, fetch }).chat("gpt-recorded")
      return (fetch) => createOpenAICompatible({ name: "local", baseURL: "http://local/v1", fetch })("recorded")
  }
}

/** OpenAI keeps the items of its replies, unless the request says that the caller does. */
export const optionsOf = (name: string) =>
  name.includes("stateless") ? { openai: { store: false, include: ["reasoning.encrypted_content"] } } : {}

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const asks = ["What is this?", "And now?"] as const

const look = {
  description: "Looks at a file",
  schema: { type: "object", properties: { path: { type: "string" } }, additionalProperties: false }
} as const
const add = {
  description: "Adds",
  schema: {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "number" } },
    required: ["a", "b"],
    additionalProperties: false
  }
} as const

const sdkTools = {
  look: sdkTool({
    description: look.description,
    inputSchema: jsonSchema<{ path?: string }>(look.schema as never),
    execute: ({ path = "it" }) => `${path} is blue`
  }),
  add: sdkTool({
    description: add.description,
    inputSchema: jsonSchema<{ a: number; b: number }>(add.schema as never),
    execute: ({ a, b }) => String(a + b)
  })
}

const tools = [
  tool({
    name: "look",
    description: look.description,
    parameters: look.schema,
    execute: (input) => `${(input as { path?: string }).path ?? "it"} is blue`
  }),
  tool({
    name: "add",
    description: add.description,
    parameters: add.schema,
    execute: (input) => {
      const { a, b } = input as { a: number; b: number }
      return String(a + b)
    }
  })
]

/** The loop of the AI SDK. After a reply without calls, the user says something more. */
export const sdkLoop = async (name: string): Promise<Ran<ReadonlyArray<{ readonly type: string }>>> => {
  const { model, bodies } = modelOf(name)
  const ask = (messages: Array<ModelMessage>) =>
    streamText({
      model,
      messages,
      tools: sdkTools,
      stopWhen: isStepCount(2),
      providerOptions: optionsOf(name),
      onError: () => {}
    })
  const first: ModelMessage = {
    role: "user",
    content: [
      { type: "text", text: asks[0] },
      { type: "file", mediaType: "image/png", data: png }
    ]
  }
  const result = ask([first])
  await result.consumeStream()
  const [step] = await result.steps
  if (bodies.length < 2) {
    const { messages } = await result.response
    await ask([first, ...messages, { role: "user", content: [{ type: "text", text: asks[1] }] }]).consumeStream()
  }
  return { bodies, reply: step?.content ?? [] }
}

/** Continues our loop after the recorded reply with another provider, and returns the body of its request. */
export const continuedBy = async (name: string, other: string): Promise<string | undefined> => {
  const { thread } = await ourFirstTurn(name)
  const { model, bodies } = modelOf(other)
  const engine = Engine.make({ adapter: aiSdk(model), tools })
  const said = Thread.append(thread, { role: "user", content: asks[1] })
  const { haltedReason, metadata } = await Chat.run(engine, said, { maxTurns: 1 })
  if (haltedReason === "error") throw metadata["error"]
  return bodies[0]
}

const ourFirstTurn = async (name: string) => {
  const { model, bodies } = modelOf(name)
  const engine = Engine.make({ adapter: aiSdk(model), tools })
  const options = { maxTurns: 2, toolChoice: "auto", providerOptions: optionsOf(name) } as const
  const first: Message.Message = {
    role: "user",
    content: [
      { type: "text", text: asks[0] },
      { type: "image", image: { base64: png, mediaType: "image/png" } }
    ]
  }
  const { thread, haltedReason, metadata } = await Chat.run(engine, [first], options)
  if (haltedReason === "error") throw metadata["error"]
  return { thread, bodies, engine, options }
}

/** Our loop. */
export const ourLoop = async (name: string): Promise<Ran<Extract<Message.Message, { role: "assistant" }>>> => {
  const { thread, bodies, engine, options } = await ourFirstTurn(name)
  if (bodies.length < 2) {
    await Chat.run(engine, Thread.append(thread, { role: "user", content: asks[1] }), options)
  }
  const reply = thread.messages.find(({ role }) => role === "assistant")
  if (reply?.role !== "assistant") throw new Error("no reply")
  return { bodies, reply }
}
