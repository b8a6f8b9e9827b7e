/** The ordered parts of a reply. */
import { describe, expect, test } from "vitest"
import type { Adapter } from "../../src/adapter/Adapter.ts"
import { decode, encode } from "../../src/session/Codec.ts"
import type { AdapterEvent } from "../../src/events/Event.ts"
import * as Chat from "../../src/loop/Chat.ts"
import { parts } from "../../src/model/Message.ts"
import { messageFindings } from "../../src/model/messageFindings.ts"
import type { AssistantMessage, AssistantPart } from "../../src/model/messageShapes.ts"
import * as Engine from "../../src/options/Engine.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import * as Fake from "../../src/adapter/Fake.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import { handling, hi } from "../double/scripts.ts"

const call = (id: string) => ({ id, name: "look", arguments: {} })
const text = (said: string): AssistantPart => ({ type: "text", text: said })
const thought = (said: string): AssistantPart => ({ type: "reasoning", text: said })
const place = (toolCallId: string): AssistantPart => ({ type: "tool_call", toolCallId })

/** One part of each kind. */
const mixed: ReadonlyArray<AssistantPart> = [
  { type: "reasoning", text: "think", metadata: { providerMetadata: { p: { signature: "s" } } } },
  text("one"),
  { type: "provider_tool_call", id: "s1", name: "search", arguments: { query: "q" } },
  { type: "provider_tool_result", toolCallId: "s1", name: "search", result: [{ url: "https://example.org" }] },
  place("c1"),
  text("two"),
  { type: "source", id: "q1", source: { url: "https://example.org" }, title: "Example" },
  { type: "source", id: "q2", source: { mediaType: "application/pdf", filename: "a.pdf" }, title: "A" },
  { type: "file", file: { base64: "AAAA" }, mediaType: "image/png" },
  { type: "image", image: { url: "https://example.org/a.png" } },
  { type: "custom", kind: "p.compaction", metadata: { providerMetadata: { p: { id: "x" } } } },
  place("c2")
]

const reply: AssistantMessage = {
  role: "assistant",
  content: "onetwo",
  toolCalls: [call("c1"), call("c2")],
  parts: mixed
}

describe("MSGPARTS1 the parts of a reply agree with its content and its calls", () => {
  test("as they came, if they do", () => {
    expect(parts(reply)).toEqual(mixed)
  })

  test("a call without a part comes last, a part without a call is left out, and no call has two", () => {
    const listed = [place("gone"), thought("t"), place("c2"), place("c2")]
    expect(parts({ ...reply, content: "", parts: listed })).toEqual([thought("t"), place("c2"), place("c1")])
  })

  test("a text that was changed takes the place of the first", () => {
    const listed = [thought("t"), text("one"), thought("u"), text("two"), place("c1")]
    const message = { ...reply, toolCalls: [call("c1")], parts: listed }
    expect(parts({ ...message, content: "else" })).toEqual([thought("t"), text("else"), thought("u"), place("c1")])
    expect(parts({ ...message, content: "" })).toEqual([thought("t"), thought("u"), place("c1")])
    expect(parts({ ...message, content: "said", parts: [thought("t"), place("c1")] })).toEqual([
      thought("t"),
      text("said"),
      place("c1")
    ])
  })
})

describe("MSGPARTS2 a reply that was stored without parts has them in the order that was sent", () => {
  test("its reasoning, its content, its calls", () => {
    const metadata = { reasoning: [thought("first"), { type: "text", text: "no reasoning" }, 7] }
    const content = [text("said"), thought("second"), { type: "file", file: { base64: "AA==" }, mediaType: "a/b" }]
    const message = { role: "assistant", content, toolCalls: [call("c1")], metadata } as AssistantMessage
    expect(parts(message)).toEqual([thought("first"), thought("second"), text("said"), content[2], place("c1")])
  })

  test("a text and its calls", () => {
    expect(parts({ role: "assistant", content: "hi", toolCalls: [call("c1")] })).toEqual([text("hi"), place("c1")])
    expect(parts({ role: "assistant", content: "" })).toEqual([])
  })
})

/** The message in the thread of a run whose adapter says this. */
const stored = async (message: unknown, ...said: ReadonlyArray<AdapterEvent>): Promise<AssistantMessage> => {
  let requests = 0
  const adapter: Adapter = {
    name: "scripted",
    stream: async function* (): AsyncGenerator<AdapterEvent> {
      yield { type: "message_started", message: { role: "assistant", content: "" } }
      const isFirst = requests++ === 0
      const isCalling = isFirst && said.some(({ type }) => type === "tool_call_completed")
      if (isFirst) yield* said
      yield {
        type: "message_completed",
        message: (isFirst ? message : { role: "assistant", content: "" }) as AssistantMessage,
        finishReason: isCalling ? "tool_calls" : "stop"
      }
    }
  }
  const engine = Engine.make({ adapter, tools: [handling("look", () => ok("seen"))] })
  const result = await Chat.run(engine, hi)
  if (result.haltedReason === "error") throw result.metadata["error"]
  const found = result.thread.messages.find(({ role }) => role === "assistant")
  if (found?.role !== "assistant") throw new Error("no reply")
  return found
}

const delta = (said: string): AdapterEvent => ({ type: "text_delta", id: null, delta: said })
const called = (id: string): AdapterEvent => ({
  type: "tool_call_completed",
  ...call(id),
  rawArguments: "{}"
})

describe("the message of a reply", () => {
  test("has all parts that its adapter gave, in their order", async () => {
    const events = [delta("one"), called("c1"), delta("two"), called("c2")]
    const message = await stored({ role: "assistant", content: "onetwo", parts: mixed }, ...events)
    expect(message.parts).toEqual(mixed)
    expect(message.content).toBe("onetwo")
    expect(message.toolCalls?.map(({ id }) => id)).toEqual(["c1", "c2"])
  })

  test("has no parts when its text and its calls are all of it", async () => {
    const listed = [text("one"), place("c1"), place("c2")]
    const events = [delta("one"), called("c1"), called("c2")]
    expect("parts" in (await stored({ role: "assistant", content: "", parts: listed }, ...events))).toBe(false)
    const turned = [text("one"), place("c2"), place("c1")]
    expect((await stored({ role: "assistant", content: "", parts: turned }, ...events)).parts).toEqual(turned)
  })

  test("keeps a part of an unknown kind as it came, and drops a value that is no part", async () => {
    const listed = [{ type: "hologram", rays: [1] }, 7, null, { type: "text", text: 7 }, thought("t")]
    expect((await stored({ role: "assistant", content: "", parts: listed })).parts).toEqual([
      { type: "custom", kind: "hologram", data: { type: "hologram", rays: [1] } },
      { type: "custom", kind: "text", data: { type: "text", text: 7 } },
      thought("t")
    ])
    expect("parts" in (await stored({ role: "assistant", content: "", parts: "none" }))).toBe(false)
  })

  test("with a part that no store can keep ends the request", async () => {
    const listed = [{ type: "custom", kind: "x", data: () => 1 }]
    await expect(stored({ role: "assistant", content: "", parts: listed })).rejects.toMatchObject({
      reason: "malformed_response"
    })
  })
})

test("CODEC1 all parts of a message survive its JSON", () => {
  const thread = { messages: [reply] }
  expect(decode("Thread", encode("Thread", thread))).toEqual(thread)
  expect(messageFindings(reply, [])).toEqual([])
})

test.each([
  ["no list", "text"],
  ["a list of no parts", [{ type: "hologram" }]],
  ["an image that no provider can read", [{ type: "image", image: { url: "file:///a.png" } }]]
])("a message whose parts are %s is refused", (_, listed) => {
  expect(messageFindings({ role: "assistant", content: "", parts: listed }, [])).toHaveLength(1)
})

describe("COLL5 a reply that is not whole keeps the reasoning that its readers saw", () => {
  const thinks = [{ reasoning: "I " }, { reasoning: "think" }]
  const kept = (more: ReadonlyArray<AssistantPart>) => [thought("I think"), ...more]

  const lastParts = async (script: Script, cancelAt?: string) => {
    const controller = new AbortController()
    const engine = Engine.make({ adapter: Fake.make({ script }) })
    const stream = await Chat.stream(engine, hi, { signal: controller.signal })
    let last: AssistantMessage | undefined
    for await (const event of stream) {
      if (event.type === cancelAt) controller.abort()
      if (event.type !== "chat_completed") continue
      const message = event.result.thread.messages.at(-1)
      if (message?.role === "assistant") last = message
    }
    return last === undefined ? undefined : parts(last)
  }

  test("when it broke", async () => {
    const broken = [{ error: "rate_limited" }, { finish: "error" }] as const
    expect(await lastParts([...thinks, { text: "Hel" }, ...broken])).toEqual(kept([text("Hel")]))
    expect(await lastParts([...thinks, ...broken])).toEqual(kept([]))
  })

  test("when it was cancelled, also before its first word", async () => {
    expect(await lastParts([...thinks, { text: "Hel" }, { hang: true }], "text_delta")).toEqual(kept([text("Hel")]))
    expect(await lastParts([{ reasoning: "I think" }, { hang: true }], "reasoning_delta")).toEqual(kept([]))
  })

  test("and a whole reply has it once", async () => {
    expect(await lastParts([...thinks, { text: "Hel" }, { finish: "stop" }])).toEqual(kept([text("Hel")]))
  })
})
