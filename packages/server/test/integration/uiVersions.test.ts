/** Clients of the AI SDK of versions 5, 6 and 7: each reads with its own parser. */
import { Fake, tool } from "@troupe/chat"
import * as ai7 from "ai"
import * as ai5 from "ai-5"
import * as ai6 from "ai-6"
import { describe, expect, it } from "vitest"
import { UiStream } from "../../src/wire/aiSdk/uiStream.ts"
import { inUiVersion, uiVersionOf } from "../../src/wire/aiSdk/uiVersion.ts"
import { dataFrames } from "../../src/wire/index.ts"
import { serving } from "../double/serving.ts"

const clock = tool({ name: "clock", execute: () => "noon" })

const schemas = { "5": ai5.uiMessageChunkSchema, "6": ai6.uiMessageChunkSchema, "7": ai7.uiMessageChunkSchema }
const versions = ["5", "6", "7"] as const

const transports = {
  "5": (api: string) => new ai5.DefaultChatTransport({ api }),
  "6": (api: string) => new ai6.DefaultChatTransport({ api }),
  "7": (api: string) => new ai7.DefaultChatTransport({ api })
}

const endings = [
  "completed",
  "interrupted",
  "cancelled",
  "max_turns",
  "ask_user",
  "manual_tool_calls",
  "awaiting_approval",
  "error",
  "of a hook"
]

describe.each(versions)("the AI SDK %s", (version) => {
  it.each(endings)("UI4. parses the end of a turn: %s", async (haltedReason) => {
    const chunks = new UiStream(new Set()).ended({ haltedReason, metadata: {} })
    expect(chunks.length).toBeGreaterThan(0)
    for (const chunk of chunks) {
      const checked = await schemas[version]().validate?.(chunk)
      expect({ chunk, isKnown: checked?.success }).toEqual({ chunk, isKnown: true })
    }
  })

  it.each(["stop", "length", "content_filter", "other"] as const)(
    "UI4. reads a reply over loopback whose finish reason is %s",
    async (finish) => {
      const adapter = Fake.make({
        scripts: [
          [{ toolCall: { id: "c0", name: "clock" } }, { finish: "tool_calls" }],
          [{ text: "Noon" }, { finish }]
        ]
      })
      const { url } = await serving({ adapter, tools: [clock] })
      const message = { id: "u1", role: "user" as const, parts: [{ type: "text" as const, text: "Hi" }] }
      const stream = await transports[version](`${url}/api/chat`).sendMessages({
        trigger: "submit-message",
        chatId: "c",
        messageId: undefined,
        messages: [message],
        abortSignal: undefined
      })
      const types: Array<string> = []
      for await (const chunk of stream as unknown as AsyncIterable<{ readonly type: string }>) types.push(chunk.type)
      expect(types).toContain("tool-output-available")
      expect(types.at(-1)).toBe("finish")
    }
  )
})

describe("UIVERSION1. a client that sends its version", () => {
  const pay = tool({ name: "pay", execute: () => "paid" })
  const callsPay = () =>
    Fake.make({
      respond: ({ messages }) =>
        messages.at(-1)?.role === "tool"
          ? [{ text: "So be it" }, { finish: "stop" }]
          : [{ toolCall: { id: "c0", name: "pay" } }, { finish: "tool_calls" }]
    })
  const user = (id: string) => ({ id, role: "user" as const, parts: [{ type: "text" as const, text: "Pay" }] })
  const sent = (id: string) => ({
    trigger: "submit-message" as const,
    chatId: "c",
    messageId: undefined,
    messages: [user(id)],
    abortSignal: undefined
  })
  const makers = {
    "5": (options: { readonly api: string; readonly headers: Record<string, string> }) =>
      new ai5.DefaultChatTransport(options),
    "6": (options: { readonly api: string; readonly headers: Record<string, string> }) =>
      new ai6.DefaultChatTransport(options),
    "7": (options: { readonly api: string; readonly headers: Record<string, string> }) =>
      new ai7.DefaultChatTransport(options)
  }
  const client = (version: (typeof versions)[number], url: string) =>
    makers[version]({ api: `${url}/api/chat`, headers: { "x-troupe-ai-sdk": version } })
  const read = async (stream: unknown): Promise<ReadonlyArray<Readonly<Record<string, unknown>>>> => {
    const chunks: Array<Readonly<Record<string, unknown>>> = []
    for await (const chunk of stream as AsyncIterable<Readonly<Record<string, unknown>>>) chunks.push(chunk)
    return chunks
  }
  const typesOf = (chunks: ReadonlyArray<Readonly<Record<string, unknown>>>) => chunks.map(({ type }) => type)

  it.each(versions)("%s reads a call that waits, and its end after a decision", async (version) => {
    const { url, troupe } = await serving({
      adapter: callsPay(),
      tools: [pay],
      permissions: { ask: () => "suspend" }
    })
    const chunks = await read(await client(version, url).sendMessages(sent("u1")))
    const asks = version === "5" ? "data-troupe-approval" : "tool-approval-request"
    expect(chunks.find(({ type }) => type === asks)).toMatchObject(
      version === "5"
        ? { data: { toolCallId: "c0", reason: expect.any(String) as string } }
        : { toolCallId: "c0", approvalId: "c0" }
    )
    expect(typesOf(chunks).at(-1)).toBe("finish")
    const chat = await troupe.chat("anna/c")
    await chat.approve("c0", { type: "deny", reason: "Too much" }).result()
    const next = await read(await client(version, url).sendMessages(sent("u2")))
    expect(typesOf(next).at(-1)).toBe("finish")
  })

  it.each(versions)("%s reads a call that is denied at once", async (version) => {
    const permissions = { deny: ["pay"] }
    const { url } = await serving({ adapter: callsPay(), tools: [pay], permissions })
    const chunks = await read(await client(version, url).sendMessages(sent("u1")))
    const end = chunks.find(({ type }) => type === (version === "5" ? "tool-output-error" : "tool-output-denied"))
    expect(end).toMatchObject({ toolCallId: "c0" })
    if (version === "5")
      expect(end).toMatchObject({ errorText: expect.stringContaining("may not be called") as string })
    expect(typesOf(chunks)).not.toContain("data-troupe-approval")
    expect(typesOf(chunks).at(-1)).toBe("finish")
  })

  it.each(versions)("%s reads chunks that send a step again", async (version) => {
    const ui = new UiStream(new Set())
    const messages = [{ role: "assistant" as const, content: "Hi", toolCalls: [] }]
    const partial = { text: "Once more" }
    ui.push({ type: "message_started", message: { role: "assistant", content: "" } })
    ui.push({ type: "text_delta", id: null, delta: "Once" })
    const again = ui.standing({ messages, approvals: [], partial })
    expect(typesOf(again as unknown as ReadonlyArray<Record<string, unknown>>)).toContain("reset-step")
    const written = inUiVersion(uiVersionOf({ headers: new Headers({ "x-troupe-ai-sdk": version }) }))
    for (const line of written(dataFrames(again)).trim().split("\n\n")) {
      const chunk = JSON.parse(line.slice("data: ".length)) as Record<string, unknown>
      const checked = await schemas[version]().validate?.(chunk)
      expect({ chunk, isKnown: checked?.success }).toEqual({ chunk, isKnown: true })
    }
  })

  it("of another version is refused, and the error says which there are", async () => {
    const { post } = await serving({ adapter: callsPay(), tools: [pay] })
    const headers = { "content-type": "application/json", "x-troupe-ai-sdk": "4" }
    const refused = await post("/api/chat", { id: "c", message: user("u1") }, { headers })
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining("5, 6 or 7")])
  })
})
