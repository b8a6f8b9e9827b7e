/** The request after a reply, however the reply ended. */
import { readdirSync } from "node:fs"
import { resolve } from "node:path"
import type { LanguageModelV4Message, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { Chat, Engine, tool } from "@troupe/chat"
import { type Message, Thread } from "@troupe/chat/messages"
import { Tool } from "@troupe/chat/tools"
import { describe, expect, test } from "vitest"
import { runSeed } from "../../../../tooling/verify/volume.ts"
import { readRecording } from "../../../../tooling/wire/recording.ts"
import { aiSdk } from "../../src/aiSdk/AiSdk.ts"
import { modelOf, optionsOf, recordings } from "../loopback/bothLoops.ts"
import { adapterOptions, asking, pull } from "../loopback/pulling.ts"
import { finish, modelV4, streamOf } from "../loopback/scriptedModel.ts"

type Part = LanguageModelV4StreamPart
type AssistantPart = Extract<LanguageModelV4Message, { role: "assistant" }>["content"][number]

const asks: Message.Message = { role: "user", content: "And now?" }

const usage = {
  inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
  outputTokens: { total: 1, text: 1, reasoning: 0 }
}

type End = "stop" | "length" | "content-filter" | "other" | "error" | "broken" | "cancel"

/** The ends of a beginning. The other ends, which a reader treats as one of these, are those of the whole reply. */
const endsOf = (isWhole: boolean): ReadonlyArray<End> => [
  ...(["stop", "length", "broken", "cancel"] as const),
  ...(isWhole ? (["content-filter", "other", "error"] as const) : [])
]

/** A stream of these parts with this end. `cancel` is called when the stream has been read, and never ends. */
const ending = (parts: ReadonlyArray<Part>, end: End, cancel: () => void): ReadableStream<Part> => {
  let at = 0
  return new ReadableStream({
    pull: (controller) => {
      const part = parts[at++]
      if (part !== undefined) return controller.enqueue(part)
      if (end === "broken") return controller.error(new TypeError("terminated"))
      if (end === "cancel") return cancel()
      if (end === "error") controller.enqueue({ type: "error", error: { type: "overloaded_error", message: "busy" } })
      else controller.enqueue({ type: "finish", finishReason: { unified: end, raw: end }, usage })
      controller.close()
    }
  })
}

/** The tools that these parts call, or begin to. */
const toolsOf = (parts: ReadonlyArray<Part>) => {
  const called = parts.flatMap((part) =>
    "toolName" in part && !("providerExecuted" in part && part.providerExecuted) ? [part.toolName] : []
  )
  const names = ["look", ...called].filter((name) => Tool.nameProblem(name) === undefined)
  return [...new Set(names)].map((name) => tool({ name, description: name, parameters: {}, execute: () => "ok" }))
}

/** The prompt and the body of the request after a reply with these parts and this end. */
const requestAfter = async (name: string, parts: ReadonlyArray<Part>, end: End) => {
  const { model, bodies } = modelOf(name)
  const prompts: Array<ReadonlyArray<LanguageModelV4Message>> = []
  const controller = new AbortController()
  const doStream: typeof model.doStream = async (options) => {
    prompts.push(options.prompt)
    if (prompts.length === 1) return { stream: ending(parts, end, () => controller.abort()) }
    await Promise.resolve(model.doStream(options)).catch(() => undefined)
    return { stream: streamOf<Part>([finish()]) }
  }
  const adapter = aiSdk({ ...model, provider: model.provider, supportedUrls: {}, doStream })
  const engine = Engine.make({ adapter, tools: toolsOf(parts) })
  const options = { maxTurns: 1, retry: false, providerOptions: optionsOf(name) } as const
  const { thread } = await Chat.run(engine, [asks], { ...options, signal: controller.signal })
  await Chat.run(engine, Thread.append(thread, asks), options)
  return { prompt: prompts[1] ?? [], body: JSON.parse(bodies[0] ?? "{}") as Body }
}

/** Of a body, what the laws of the APIs are about. */
interface Body {
  readonly input?: ReadonlyArray<{ readonly type?: string; readonly id?: string; readonly role?: string }>
  readonly messages?: ReadonlyArray<{ readonly role: string; readonly content: string | null | ReadonlyArray<Block> }>
}

interface Block {
  readonly type: string
  readonly id?: string
  readonly text?: string
  readonly tool_use_id?: string
}

const isBlank = (text: string): boolean => text.trim() === ""

/** What is wrong with a prompt: whatever the provider, its parts are paired, and no message is blank. */
const faultsOf = (prompt: ReadonlyArray<LanguageModelV4Message>): ReadonlyArray<unknown> => {
  const replies = prompt.flatMap((message) => (message.role === "assistant" ? [message.content] : []))
  const parts: ReadonlyArray<AssistantPart> = replies.flat()
  const results = parts.flatMap((part) => (part.type === "tool-result" ? [part.toolCallId] : []))
  const calls = parts.flatMap((part) => (part.type === "tool-call" && part.providerExecuted ? [part.toolCallId] : []))
  return [
    ...calls.filter((id) => !results.includes(id)).map((id) => `call ${id} without its result`),
    ...results.filter((id) => !calls.includes(id)).map((id) => `result of ${id} without its call`),
    ...replies.flatMap((reply) => (reply.at(-1)?.type === "reasoning" ? ["reasoning at the end"] : [])),
    ...replies.filter((reply) => reply.every((part) => part.type === "text" && isBlank(part.text))).map(() => "blank")
  ]
}

/** What an API refuses in a body. */
const refusalsOf = ({ input = [], messages = [] }: Body): ReadonlyArray<unknown> => {
  const items = input.filter(({ type, id }, at) => {
    const isReasoning = type === "reasoning" || (type === "item_reference" && id?.startsWith("rs_"))
    return isReasoning && (input[at + 1]?.role ?? "user") === "user" && input[at + 1]?.type === undefined
  })
  const replies = messages.flatMap(({ role, content }) => (role === "assistant" && content ? [content] : []))
  const blocks = replies.flatMap((content) => (typeof content === "string" ? [] : content))
  const results = new Set(blocks.map((block) => block.tool_use_id))
  return [
    ...items,
    ...blocks.filter(({ type, id }) => /server_tool_use|mcp_tool_use/.test(type) && !results.has(id)),
    ...replies.filter((content) => /thinking/.test(String(typeof content === "string" ? "" : content.at(-1)?.type))),
    ...replies.filter((content) => (typeof content === "string" ? isBlank(content) : content.length === 0)),
    ...blocks.filter(({ type, text = "" }) => type === "text" && isBlank(text))
  ]
}

/** The recorded streams of another folder, which a run can name: `TROUPE_RECORDINGS=<folder>`. */
const foreignFolder = process.env["TROUPE_RECORDINGS"]
const foreign = (foreignFolder === undefined ? [] : readdirSync(foreignFolder))
  .filter((file) => file.endsWith(".chunks.txt"))
  .map((file) => resolve(foreignFolder ?? "", file))
  .filter((path) => readRecording(path).status === undefined)

/** The parts of a recorded reply, without its end. A reply that fails before its first content has none. */
const partsOf = async (name: string): Promise<ReadonlyArray<Part>> => {
  const asked = modelOf(name).model.doStream({ prompt: [], providerOptions: optionsOf(name) })
  const { stream } = await Promise.resolve(asked).catch(() => ({ stream: [] }))
  const parts: Array<Part> = []
  for await (const part of stream) if (part.type !== "finish") parts.push(part)
  return parts
}

/** The lengths of the beginnings of a reply; of several fragments in a row only the last one ends a beginning. */
const cutsOf = (parts: ReadonlyArray<Part>): ReadonlyArray<number> =>
  parts.flatMap(({ type }, at) => (type.endsWith("-delta") && parts[at + 1]?.type === type ? [] : [at + 1]))

describe("PROMPT1. after any beginning of a recorded reply, with any end, the next request has no unpaired part", () => {
  const ofRun = recordings.filter((_, at) => process.env["TROUPE_VOLUME"] === "full" || at % 5 === runSeed)

  test.each([...ofRun, ...foreign])("%s", async (name) => {
    const parts = await partsOf(name)
    const found: Array<unknown> = []
    for (const cut of [0, ...cutsOf(parts)]) {
      for (const end of endsOf(cut === parts.length)) {
        const { prompt, body } = await requestAfter(name, parts.slice(0, cut), end)
        const faults = [...faultsOf(prompt), ...refusalsOf(body)]
        if (faults.length > 0) found.push({ cut, end, faults })
      }
    }
    expect(found).toEqual([])
  })
})

/** The prompt that a model gets for these messages. */
const promptFor = async (...messages: ReadonlyArray<Message.Message>) => {
  const asked: Array<{ readonly prompt: ReadonlyArray<LanguageModelV4Message> }> = []
  const model = modelV4(() => streamOf<Part>([finish()]), asked as never)
  await pull(aiSdk(model), asking({ messages: [asks, ...messages] }), adapterOptions())
  return asked[0]?.prompt.slice(1)
}

type Parts = NonNullable<Extract<Message.Message, { role: "assistant" }>["parts"]>

const reply = (parts: Parts, more: object = {}): Message.Message => {
  const content = parts.map((part) => (part.type === "text" ? part.text : "")).join("")
  return { role: "assistant", content, parts, ...more }
}

const reasoning = { type: "reasoning", text: "hm", metadata: { providerMetadata: { x: { id: "rs" } } } } as const
const search = { type: "provider_tool_call", id: "s1", name: "web_search", arguments: {} } as const
const found = { type: "provider_tool_result", toolCallId: "s1", name: "web_search", result: [] } as const
const text = { type: "text", text: "Hi" } as const
const call = { id: "c1", name: "look", arguments: {} }
const callerOf = (toolId: string) => ({ metadata: { providerMetadata: { x: { caller: { toolId }, kept: 1 } } } })
const result: Message.Message = { role: "tool", toolCallId: "c1", content: "ok", ...callerOf("s1") }

const typesOf = (prompt: ReadonlyArray<LanguageModelV4Message> = []): ReadonlyArray<string> =>
  prompt.flatMap(({ role, content }) => [
    role,
    ...(typeof content === "string" ? [] : content.map(({ type }) => `- ${type}`))
  ])

describe("PROMPT1. a stored reply", () => {
  test.each<[title: string, parts: Parts, sent: ReadonlyArray<string>]>([
    ["of reasoning alone is not sent", [reasoning], []],
    ["of blank text alone is not sent", [{ type: "text", text: " \n" }], []],
    ["of reasoning and blank text is not sent", [reasoning, { ...reasoning, type: "text", text: "" }], []],
    ["that ends with reasoning is sent without it", [reasoning, text, reasoning], ["- reasoning", "- text"]],
    [
      "keeps a blank text that has data of its provider",
      [text, { ...reasoning, type: "text", text: "" }],
      ["- text", "- text"]
    ],
    ["with a call of the provider without its result is sent without the call", [text, search], ["- text"]],
    [
      "is sent without the reasoning before such a call",
      [reasoning, search, reasoning, text],
      ["- reasoning", "- text"]
    ],
    ["with a result of a call that is nowhere is sent without it", [found, text], ["- text"]],
    [
      "with a call and its result is sent whole",
      [reasoning, search, found],
      ["- reasoning", "- tool-call", "- tool-result"]
    ]
  ])("%s", async (_, parts, sent) => {
    const prompt = await promptFor(reply(parts), asks)
    expect(typesOf(prompt)).toEqual([...(sent.length === 0 ? [] : ["assistant", ...sent]), "user", "- text"])
  })

  test.each([{ finish_reason: "error" }, { finish_reason: null, cancelled: true }])(
    "that was cut short is sent without its reasoning: %o",
    async (end) => {
      const kept = { ...end, reasoning: [{ type: "reasoning", text: "I think" }] }
      const cut = (content: string): Message.Message => ({ role: "assistant", content, metadata: kept })
      const whole = { ...cut("Hi"), metadata: { ...kept, finish_reason: "stop", cancelled: false } }
      expect(typesOf(await promptFor(cut("Hel"), asks))).toEqual(["assistant", "- text", "user", "- text"])
      expect(typesOf(await promptFor(cut(""), asks))).toEqual(["user", "- text"])
      expect(typesOf(await promptFor(whole, asks)).slice(0, 3)).toEqual(["assistant", "- reasoning", "- text"])
    }
  )

  test("a call whose result is in a later reply is sent", async () => {
    const prompt = await promptFor(reply([search, text]), asks, reply([found, text]), asks)
    expect(typesOf(prompt).filter((type) => type.startsWith("- tool"))).toEqual(["- tool-call", "- tool-result"])
  })

  test("a blank user message and a blank system message are not sent", async () => {
    const blank = [{ role: "user", content: " " } as const, { role: "system", content: "\n" } as const]
    expect(typesOf(await promptFor(...blank, asks))).toEqual(["user", "- text"])
  })
})

describe("PROMPT2. a call of the provider that runs a call of ours", () => {
  const calling = reply([search, { type: "tool_call", toolCallId: "c1" }], {
    toolCalls: [{ ...call, ...callerOf("s1") }]
  })
  const callers = (prompt: unknown) => JSON.stringify(prompt).match(/"caller":\{"toolId":"s1"\},"kept":1/g)?.length ?? 0

  test("is sent with our result, while its own result is to come", async () => {
    const prompt = await promptFor(calling, result)
    expect(typesOf(prompt)).toEqual(["assistant", "- tool-call", "- tool-call", "tool", "- tool-result"])
    expect(JSON.stringify(prompt)).toContain('"caller"')
    expect(callers(prompt) + (JSON.stringify(prompt).match(/"kept":1,"caller"/g)?.length ?? 0)).toBe(2)
  })

  test("is left out once the turn is over, and no part names it as its caller", async () => {
    const prompt = await promptFor(calling, result, asks)
    expect(typesOf(prompt)).toEqual(["assistant", "- tool-call", "tool", "- tool-result", "user", "- text"])
    expect(JSON.stringify(prompt)).not.toContain("caller")
    expect(JSON.stringify(prompt).match(/"kept":1/g)).toHaveLength(2)
  })
})
