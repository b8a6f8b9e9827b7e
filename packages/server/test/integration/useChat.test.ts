// @vitest-environment jsdom
import { useChat } from "@ai-sdk/react"
import { askUser, Fake, tool } from "@troupe/chat"
import type { Store } from "@troupe/chat/store"
import { act, cleanup, renderHook, waitFor } from "@testing-library/react"
import {
  DefaultChatTransport,
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  type UIMessage
} from "ai"
import { afterEach, describe, expect, it } from "vitest"
import { handModel } from "../double/handModel.ts"
import { serving } from "../double/serving.ts"

afterEach(cleanup)

type Options = Parameters<typeof useChat>[0]

/** A page with the chat `c`. */
const page = (url: string, options: Options = {}) =>
  renderHook(() => useChat({ id: "c", transport: new DefaultChatTransport({ api: `${url}/api/chat` }), ...options }))
    .result

const load = async (url: string) => {
  const { messages } = (await (await fetch(`${url}/api/chat/c/messages`)).json()) as {
    readonly messages: Array<UIMessage>
  }
  return messages
}

const textOf = (message: UIMessage | undefined): string =>
  message?.parts.map((part) => (part.type === "text" ? part.text : "")).join("") ?? ""

const partsOf = (message: UIMessage | undefined) => message?.parts.filter(({ type }) => type !== "step-start")

/** What a message says, under its id. */
const outline = (message: UIMessage) => [message.id, message.role, textOf(message)]

/** A model that answers with how often it was asked. */
const counting = (most: number) =>
  Fake.make({ scripts: Array.from({ length: most }, (_, at) => [{ text: `${at + 1}` }, { finish: "stop" }]) })

describe("useChat of @ai-sdk/react", () => {
  it("says something and reads the answer, which the server has kept the same", async () => {
    const { url } = await serving({
      adapter: Fake.make({ script: [{ text: "Hel" }, { text: "lo" }, { finish: "stop" }] })
    })
    const chat = page(url)
    await act(() => chat.current.sendMessage({ text: "Hi" }))
    expect(chat.current.status).toBe("ready")
    expect(chat.current.messages.map(textOf)).toEqual(["Hi", "Hello"])
    expect((await load(url)).map(({ id }) => id)).toEqual(chat.current.messages.map(({ id }) => id))
    await act(() => chat.current.sendMessage({ text: "Again" }))
    expect(chat.current.messages.map(textOf)).toEqual(["Hi", "Hello", "Again", "Hello"])
  })

  it("sees tools at work", async () => {
    const { url } = await serving({
      adapter: Fake.make({
        scripts: [
          [
            { text: "Wait. " },
            { toolCall: { id: "c0", name: "add", arguments: { a: 1, b: 2 } } },
            { finish: "tool_calls" }
          ],
          [{ text: "Three." }, { finish: "stop" }]
        ]
      }),
      tools: [tool({ name: "add", execute: ({ a, b }) => Number(a) + Number(b) })]
    })
    const chat = page(url)
    await act(() => chat.current.sendMessage({ text: "1 + 2?" }))
    expect(partsOf(chat.current.messages.at(-1))).toMatchObject([
      { type: "text", text: "Wait. " },
      { type: "tool-add", state: "output-available", input: { a: 1, b: 2 }, output: 3 },
      { type: "text", text: "Three." }
    ])
  })

  it("gets the progress of a tool, and keeps nothing of it in its messages", async () => {
    let end = (): void => {}
    const { url } = await serving({
      adapter: Fake.make({
        scripts: [
          [{ toolCall: { id: "c0", name: "look" } }, { finish: "tool_calls" }],
          [{ text: "Rain" }, { finish: "stop" }]
        ]
      }),
      tools: [
        tool({
          name: "look",
          execute: (_, { progress }) => {
            progress({ half: 0.5 })
            return new Promise((resolve) => (end = () => resolve("rain")))
          }
        })
      ]
    })
    const notified: Array<unknown> = []
    const chat = page(url, { onData: ({ type, data }) => void notified.push([type, data]) })
    act(() => void chat.current.sendMessage({ text: "Weather?" }))
    await waitFor(() => expect(notified.length).toBe(2))
    act(() => end())
    await waitFor(() => expect(chat.current.status).toBe("ready"))
    expect(notified).toEqual([
      ["data-troupe-call", { toolCallId: "c0", state: "running" }],
      ["data-troupe-progress", { toolCallId: "c0", progress: { half: 0.5 } }]
    ])
    expect(partsOf(chat.current.messages.at(-1))).toMatchObject([{ output: "rain" }, { type: "text", text: "Rain" }])
    expect(JSON.stringify(chat.current.messages)).not.toContain("troupe")
  })

  it("answers a tool of its own, and goes on by itself", async () => {
    const { url } = await serving({
      adapter: Fake.make({
        scripts: [
          [{ toolCall: { id: "c0", name: "where" } }, { finish: "tool_calls" }],
          [{ text: "You are in Oslo" }, { finish: "stop" }]
        ]
      }),
      tools: [tool({ name: "where", manual: true })]
    })
    const chat = page(url, {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall: ({ toolCall }) => {
        void chat.current.addToolOutput({ tool: "where", toolCallId: toolCall.toolCallId, output: { city: "Oslo" } })
      }
    })
    await act(() => chat.current.sendMessage({ text: "Where am I?" }))
    await waitFor(() => expect(textOf(chat.current.messages.at(-1))).toBe("You are in Oslo"))
    expect(chat.current.messages.length).toBe(2)
    expect(partsOf((await load(url)).at(-1))).toMatchObject([
      { type: "tool-where", state: "output-available", output: { city: "Oslo" } },
      { type: "text", text: "You are in Oslo" }
    ])
  })

  it("RESULT3 answers a tool of its own that throws with its error, and goes on by itself", async () => {
    const adapter = Fake.make({
      scripts: [
        [{ toolCall: { id: "c0", name: "where" } }, { finish: "tool_calls" }],
        [{ text: "Never mind" }, { finish: "stop" }],
        [{ text: "Fine" }, { finish: "stop" }]
      ]
    })
    const { url } = await serving({ adapter, tools: [tool({ name: "where", manual: true })] })
    const chat = page(url, {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall: ({ toolCall: { toolCallId } }) => {
        void chat.current.addToolOutput({
          state: "output-error",
          tool: "where",
          toolCallId,
          errorText: "No position"
        })
      }
    })
    await act(() => chat.current.sendMessage({ text: "Where am I?" }))
    await waitFor(() => expect(textOf(chat.current.messages.at(-1))).toBe("Never mind"))
    expect(adapter.requests[1]?.messages.at(-1)).toMatchObject({
      role: "tool",
      content: '{"error":"No position"}',
      outcome: "failed"
    })
    await act(() => chat.current.sendMessage({ text: "And now?" }))
    await waitFor(() => expect(textOf(chat.current.messages.at(-1))).toBe("Fine"))
    expect(adapter.requests[2]?.messages).toHaveLength(5)
    expect(partsOf((await load(url))[1])).toMatchObject([
      { type: "tool-where", state: "output-error" },
      { type: "text", text: "Never mind" }
    ])
  })

  it("leaves the server's tools to the server: it is asked to answer none, and goes on for none", async () => {
    const adapter = Fake.make({
      scripts: [
        [{ toolCall: { id: "c0", name: "asks" } }, { finish: "tool_calls" }],
        [{ text: "Blue" }, { finish: "stop" }]
      ]
    })
    const { url } = await serving({ adapter, tools: [tool({ name: "asks", execute: () => askUser("Which?") })] })
    const called: Array<string> = []
    const chat = page(url, {
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
      onToolCall: ({ toolCall }) => void called.push(toolCall.toolName)
    })
    await act(() => chat.current.sendMessage({ text: "Paint" }))
    expect(chat.current.status).toBe("ready")
    expect(textOf(chat.current.messages.at(-1))).toBe("Which?")
    await act(() => chat.current.sendMessage({ text: "Blue" }))
    expect(textOf(chat.current.messages.at(-1))).toBe("Blue")
    expect([called, adapter.requests.length]).toEqual([[], 2])
  })

  it("decides about a call, and goes on by itself", async () => {
    const { url } = await serving({
      adapter: Fake.make({
        scripts: [
          [{ toolCall: { id: "c0", name: "pay" } }, { toolCall: { id: "c1", name: "pay" } }, { finish: "tool_calls" }],
          [{ text: "Paid once" }, { finish: "stop" }]
        ]
      }),
      tools: [tool({ name: "pay", execute: () => "paid" })],
      permissions: { ask: () => "suspend" }
    })
    const chat = page(url, { sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithApprovalResponses })
    await act(() => chat.current.sendMessage({ text: "Pay" }))
    expect(partsOf(chat.current.messages.at(-1))).toMatchObject([
      { state: "approval-requested", approval: { id: "c0" } },
      { state: "approval-requested", approval: { id: "c1" } }
    ])
    await act(async () => {
      await chat.current.addToolApprovalResponse({ id: "c0", approved: true })
      await chat.current.addToolApprovalResponse({ id: "c1", approved: false, reason: "Once is enough" })
    })
    await waitFor(() => expect(chat.current.status).toBe("ready"))
    expect(partsOf(chat.current.messages.at(-1))).toMatchObject([
      { toolCallId: "c0", state: "output-available", output: "paid" },
      { toolCallId: "c1", state: "output-denied" },
      { type: "text", text: "Paid once" }
    ])
  })

  it("FOLLOWTURN5. is free to decide after its message waited behind a turn that waits for the decision", async () => {
    const model = handModel()
    const { url, troupe } = await serving({
      adapter: model.adapter,
      tools: [tool({ name: "pay", execute: () => "paid" })],
      permissions: { ask: () => "suspend" }
    })
    const [first, second] = [page(url), page(url)]
    act(() => void first.current.sendMessage({ text: "Pay" }))
    await model.whenOpened(1)
    const toolCall = { id: "c0", name: "pay", arguments: {}, rawArguments: "{}" }
    await act(async () => second.current.setMessages(await load(url)))
    act(() => void second.current.sendMessage({ text: "And?" }))
    const chat = await troupe.chat("anna/c")
    await waitFor(() => expect(chat.getSnapshot()?.context.inbox.length).toBe(1))
    model.say(
      { type: "tool_call_started", id: "c0", name: "pay" },
      { type: "tool_call_completed", ...toolCall },
      {
        type: "message_completed",
        message: { role: "assistant", content: "", toolCalls: [toolCall] },
        finishReason: "tool_calls"
      }
    )
    model.end()
    await waitFor(() => expect([first.current.status, second.current.status]).toEqual(["ready", "error"]))
    expect(second.current.error?.message).toContain("do not send it again")
    await act(async () => second.current.setMessages(await load(url)))
    await act(async () => second.current.addToolApprovalResponse({ id: "c0", approved: true }))
    act(() => void second.current.sendMessage())
    await model.whenOpened(2)
    model.finish("stop", "Paid")
    await model.whenOpened(3)
    model.finish("stop", "And that is all")
    await waitFor(async () => expect((await load(url)).map(textOf)).toEqual(["Pay", "Paid", "And?", "And that is all"]))
  })

  it("takes up an answer after a reload in its middle", async () => {
    const model = handModel()
    const { url } = await serving({ adapter: model.adapter })
    const before = page(url)
    act(() => void before.current.sendMessage({ text: "Tell me" }))
    await model.whenOpened(1)
    model.text("Once ")
    await waitFor(() => expect(textOf(before.current.messages.at(-1))).toBe("Once "))
    cleanup()
    const chat = page(url, { messages: await load(url), resume: true })
    await waitFor(() => expect(textOf(chat.current.messages.at(-1))).toBe("Once "))
    expect(chat.current.status).toBe("streaming")
    model.text("upon a time")
    model.finish("stop", "Once upon a time")
    await waitFor(() => expect(chat.current.status).toBe("ready"))
    expect(chat.current.messages.map(textOf)).toEqual(["Tell me", "Once upon a time"])
    expect((await load(url)).map(({ id }) => id)).toEqual(chat.current.messages.map(({ id }) => id))
  })

  it("takes up an answer that ended between the load of the messages and the resume, also in strict mode", async () => {
    const model = handModel()
    const { url } = await serving({ adapter: model.adapter })
    const before = page(url)
    act(() => void before.current.sendMessage({ text: "Tell me" }))
    await model.whenOpened(1)
    const messages = await load(url)
    model.finish("stop", "Once upon a time")
    await waitFor(() => expect(before.current.status).toBe("ready"))
    cleanup()
    const after = encodeURIComponent(messages.at(-1)?.id ?? "")
    const transport = new DefaultChatTransport({
      api: `${url}/api/chat`,
      prepareReconnectToStreamRequest: () => ({ api: `${url}/api/chat/c/stream?after=${after}` })
    })
    const options = { id: "c", messages, resume: true, transport }
    const chat = renderHook(() => useChat(options), { reactStrictMode: true }).result
    await waitFor(() => expect(chat.current.messages.map(textOf)).toEqual(["Tell me", "Once upon a time"]))
    await waitFor(() => expect(chat.current.status).toBe("ready"))
    expect((await load(url)).map(outline)).toEqual(chat.current.messages.map(outline))
  })

  it("finds nothing to take up where nothing is under way", async () => {
    const { url } = await serving({ adapter: Fake.make({ script: [{ text: "Hello" }, { finish: "stop" }] }) })
    const chat = page(url, { resume: true })
    await act(() => chat.current.resumeStream())
    expect(chat.current.status).toBe("ready")
    await act(() => chat.current.sendMessage({ text: "Hi" }))
    expect(chat.current.messages.map(textOf)).toEqual(["Hi", "Hello"])
  })

  it("stops: the reading by itself, the turn by the server's stop", async () => {
    const model = handModel()
    const { url, post } = await serving({ adapter: model.adapter })
    const chat = page(url)
    act(() => void chat.current.sendMessage({ text: "Tell me" }))
    await model.whenOpened(1)
    model.text("Once ")
    await waitFor(() => expect(textOf(chat.current.messages.at(-1))).toBe("Once "))
    await act(async () => {
      await post("/api/chat/c/stop", {})
      await chat.current.stop()
    })
    expect(chat.current.status).toBe("ready")
    expect((await load(url)).map(textOf)).toEqual(["Tell me", "Once "])
    expect(model.left).toBe(1)
  })

  it("has the last answer given again, while the first is still under way too", async () => {
    const model = handModel()
    const { url } = await serving({ adapter: model.adapter })
    const chat = page(url)
    act(() => void chat.current.sendMessage({ text: "A number?" }))
    await model.whenOpened(1)
    model.text("On")
    await waitFor(() => expect(textOf(chat.current.messages.at(-1))).toBe("On"))
    await act(() => chat.current.stop())
    act(() => void chat.current.regenerate())
    await model.whenOpened(2)
    model.text("Two")
    model.finish("stop", "Two")
    await waitFor(() => expect(chat.current.messages.map(textOf)).toEqual(["A number?", "Two"]))
    expect((await load(url)).map(textOf)).toEqual(["A number?", "Two"])
  })

  it("replaces an earlier message; the messages after it stay in the log", async () => {
    for (const edited of [0, 1, 2]) {
      const { url, troupe } = await serving({ adapter: counting(6) })
      const chat = page(url)
      for (const text of ["a", "b", "c"]) await act(() => chat.current.sendMessage({ text }))
      const earlier = chat.current.messages
      const before = await troupe.history("anna/c")
      const messageId = earlier[2 * edited]?.id ?? ""
      await act(() => chat.current.sendMessage({ text: "other", messageId }))
      expect(chat.current.status).toBe("ready")
      expect(chat.current.messages.map(textOf)).toEqual([...earlier.slice(0, 2 * edited).map(textOf), "other", "4"])
      expect(chat.current.messages.map(({ id }) => id)).toEqual(earlier.slice(0, 2 * edited + 2).map(({ id }) => id))
      expect((await load(url)).map(outline)).toEqual(chat.current.messages.map(outline))
      const after = await troupe.history("anna/c")
      expect(after.slice(0, before.length)).toEqual(before)
      expect(after[before.length]?.kind).toBe("rewound")
      await act(() => chat.current.sendMessage({ text: "on" }))
      expect(chat.current.messages.map(textOf).slice(-2)).toEqual(["on", "5"])
    }
  })

  it("begins anew with setMessages([]), and edits without a messageId", async () => {
    const adapter = counting(6)
    const { url } = await serving({ adapter }, { posts: { history: "replace" } })
    const chat = page(url)
    for (const text of ["a", "b", "c"]) await act(() => chat.current.sendMessage({ text }))
    act(() => chat.current.setMessages(chat.current.messages.slice(0, 2)))
    await act(() => chat.current.sendMessage({ text: "other" }))
    expect(chat.current.messages.map(textOf)).toEqual(["a", "1", "other", "4"])
    expect((await load(url)).map(outline)).toEqual(chat.current.messages.map(outline))
    act(() => chat.current.setMessages([]))
    await act(() => chat.current.sendMessage({ text: "anew" }))
    expect((await load(url)).map(outline)).toEqual(chat.current.messages.map(outline))
    expect(adapter.requests.at(-1)?.messages.map(({ content }) => content)).toEqual(["anew"])
  })

  it("sends the last message alone where its transport says so", async () => {
    const { url } = await serving({ adapter: counting(3) })
    const transport = new DefaultChatTransport({
      api: `${url}/api/chat`,
      prepareSendMessagesRequest: ({ id, messages, trigger, messageId }) => ({
        body: { id, trigger, messageId, message: messages.at(-1) }
      })
    })
    const chat = page(url, { transport })
    await act(() => chat.current.sendMessage({ text: "a" }))
    act(() => chat.current.setMessages([]))
    await act(() => chat.current.sendMessage({ text: "b" }))
    await act(() => chat.current.regenerate())
    expect((await load(url)).map(textOf)).toEqual(["a", "1", "b", "3"])
  })

  it("has an earlier message said another way again and again, also after a reload", async () => {
    const { url } = await serving({ adapter: counting(6) })
    const chat = page(url)
    for (const text of ["a", "b", "c"]) await act(() => chat.current.sendMessage({ text }))
    const ids = chat.current.messages.map(({ id }) => id)
    await act(() => chat.current.sendMessage({ text: "b2", messageId: ids[2] ?? "" }))
    cleanup()
    const again = page(url, { messages: await load(url) })
    await act(() => again.current.sendMessage({ text: "b3", messageId: ids[2] ?? "" }))
    expect(again.current.messages.map(textOf)).toEqual(["a", "1", "b3", "5"])
    await act(() => again.current.sendMessage({ text: "a2", messageId: ids[0] ?? "" }))
    expect(again.current.messages.map(textOf)).toEqual(["a2", "6"])
    expect((await load(url)).map(outline)).toEqual(again.current.messages.map(outline))
  })

  it("has an earlier answer given again, and a message said another way while a turn runs", async () => {
    const model = handModel()
    const { url } = await serving({ adapter: model.adapter })
    const chat = page(url)
    const answered = async (count: number, text: string) => {
      await model.whenOpened(count)
      model.text(text)
      model.finish("stop", text)
      await waitFor(() => expect([textOf(chat.current.messages.at(-1)), chat.current.status]).toEqual([text, "ready"]))
    }
    for (const [index, text] of ["a", "b"].entries()) {
      act(() => void chat.current.sendMessage({ text }))
      await answered(index + 1, `${text}1`)
    }
    const ids = chat.current.messages.map(({ id }) => id)
    act(() => void chat.current.regenerate({ messageId: ids[1] ?? "" }))
    await answered(3, "a2")
    expect(chat.current.messages.map(textOf)).toEqual(["a", "a2"])
    expect(chat.current.messages.map(({ id }) => id)).toEqual([ids[0], `${ids[1]}.2`])
    act(() => void chat.current.sendMessage({ text: "c" }))
    await model.whenOpened(4)
    model.text("c1")
    await waitFor(() => expect(textOf(chat.current.messages.at(-1))).toBe("c1"))
    await act(() => chat.current.stop())
    act(() => void chat.current.sendMessage({ text: "d", messageId: ids[0] ?? "" }))
    await answered(5, "d1")
    expect(chat.current.messages.map(textOf)).toEqual(["d", "d1"])
    expect((await load(url)).map(outline)).toEqual(chat.current.messages.map(outline))
    expect(model.left).toBe(5)
  })

  it("is refused a replaced message when the store keeps no log, and nothing changes", async () => {
    const kept = new Map<string, unknown>()
    const store = {
      load: (id: string) => kept.get(id),
      save: (record: { readonly id: string }) => void kept.set(record.id, record),
      delete: (id: string) => void kept.delete(id)
    } as Store.Store
    const { url } = await serving({ adapter: counting(3), store })
    const chat = page(url)
    await act(() => chat.current.sendMessage({ text: "a" }))
    await act(() => chat.current.sendMessage({ text: "b" }))
    const before = await load(url)
    await act(() => chat.current.sendMessage({ text: "other", messageId: before[0]?.id ?? "" }))
    expect(chat.current.status).toBe("error")
    expect(chat.current.error?.message).toContain("store_without_log")
    await act(() => chat.current.regenerate({ messageId: before[0]?.id ?? "" }))
    expect(chat.current.error?.message).toContain("store_without_log")
    expect(await load(url)).toEqual(before)
  })

  it("has one turn for a message of unknown outcome that it posts again, whether or not the server had it", async () => {
    for (const isServed of [true, false]) {
      const { url } = await serving({ adapter: counting(2) })
      let isFirst = true
      const silentFirst: typeof fetch = async (...request) => {
        const answer = isFirst && !isServed ? undefined : await fetch(...request)
        if (!isFirst && answer !== undefined) return answer
        isFirst = false
        await answer?.text()
        return Response.json({ error: { code: "home_silent", message: "No answer" } }, { status: 504 })
      }
      const transport = new DefaultChatTransport({ api: `${url}/api/chat`, fetch: silentFirst })
      const chat = page(url, { transport })
      await act(() => chat.current.sendMessage({ text: "Hi" }))
      expect([chat.current.status, chat.current.messages.map(textOf)]).toEqual(["error", ["Hi"]])
      await act(() => chat.current.sendMessage())
      expect([chat.current.status, chat.current.messages.map(textOf)]).toEqual(["ready", ["Hi", "1"]])
      expect((await load(url)).map(textOf)).toEqual(["Hi", "1"])
      cleanup()
    }
  })

  it("gets the text of an error, and can try again", async () => {
    const { url } = await serving({
      adapter: Fake.make({
        scripts: [[{ preflightError: "authentication_failed" }], [{ text: "Hello" }, { finish: "stop" }]]
      })
    })
    const chat = page(url)
    await act(() => chat.current.sendMessage({ text: "Hi" }))
    expect(chat.current.status).toBe("error")
    expect(chat.current.error?.message).toBe("The model request failed: authentication failed")
    await act(() => chat.current.regenerate())
    expect(chat.current.messages.map(textOf)).toEqual(["Hi", "Hello"])
  })
})
