/** A reply with parts of every kind, in a chat that is stored, loaded, forked, rewound and shown. */
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { tool, Troupe } from "@troupe/chat"
import type { AdapterEvent } from "@troupe/chat/events"
import { Message } from "@troupe/chat/messages"
import type { Adapter } from "@troupe/chat/models"
import { ChatView } from "@troupe/chat/view"
import { afterAll, expect, test } from "vitest"
import { sqlite } from "../../src/index.ts"

const folder = mkdtempSync(join(tmpdir(), "troupe-parts-"))
afterAll(() => rmSync(folder, { recursive: true }))

const about = { metadata: { providerMetadata: { p: { signature: "s" } } } }
const parts = [
  { type: "reasoning", text: "think", ...about },
  { type: "text", text: "I look.", ...about },
  { type: "provider_tool_call", id: "s", name: "search", arguments: { q: "tides" }, ...about },
  { type: "provider_tool_result", toolCallId: "s", name: "search", result: [{ url: "https://example.org" }] },
  { type: "reasoning", text: "", ...about },
  { type: "tool_call", toolCallId: "c" },
  { type: "source", id: "u", source: { url: "https://example.org" }, title: "Tides" },
  { type: "file", file: { base64: "AAAA" }, mediaType: "image/png" },
  { type: "custom", kind: "p.other", data: { x: [1, null] } }
] as const

/** Its first reply has all parts, the later ones say what came before. */
const adapter: Adapter.Adapter = {
  name: "mixed",
  stream: async function* ({ messages }): AsyncGenerator<AdapterEvent> {
    yield { type: "message_started", message: { role: "assistant", content: "" } }
    if (messages.length > 1) {
      const replies = messages.filter(({ role }) => role === "assistant")
      const text = JSON.stringify(replies.map((reply) => reply.role === "assistant" && Message.parts(reply).length))
      yield { type: "text_delta", id: null, delta: text }
      yield { type: "text_completed", id: null, text }
      yield { type: "message_completed", message: { role: "assistant", content: text }, finishReason: "stop" }
      return
    }
    yield { type: "reasoning_delta", id: "0", delta: "think" }
    yield { type: "text_delta", id: "1", delta: "I look." }
    yield { type: "text_completed", id: "1", text: "I look." }
    yield { type: "tool_call_completed", id: "c", name: "look", arguments: {}, rawArguments: "{}" }
    yield {
      type: "message_completed",
      message: { role: "assistant", content: "I look.", parts },
      finishReason: "tool_calls"
    }
  }
}

test("MSGPARTS1 all parts are the same in the log, in a fork, after a rewind, in a view and after a restart", async () => {
  const path = join(folder, "chats.db")
  const options = { adapter, tools: [tool({ name: "look", execute: () => "seen" })] }
  const first = await Troupe.start({ ...options, store: sqlite(path) })
  const chat = await first.chat("c")
  const blank = ChatView.of("c", chat.getSnapshot())
  await chat.send("Go").result()
  const { messages } = chat.thread
  expect(messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"])
  expect(messages[1]).toMatchObject({ content: "I look.", toolCalls: [{ id: "c" }], parts })
  expect(messages[3]?.content).toBe("[9]")

  const view = ChatView.of("c", chat.getSnapshot())
  const patch = JSON.parse(JSON.stringify(ChatView.patch(blank, view))) as ChatView.ChatViewPatch
  expect(ChatView.apply(blank, patch).messages).toEqual(messages)

  const fork = await first.fork("c")
  expect(fork.thread.messages).toEqual(messages)
  await first.stop()

  const second = await Troupe.start({ ...options, store: sqlite(path) })
  const loaded = await second.chat("c")
  expect(loaded.thread.messages).toEqual(messages)
  const log = await second.history("c")
  expect(log.flatMap((entry) => entry.messages)).toContainEqual(messages[1])
  await loaded.send("And now?").result()
  expect(loaded.thread.messages.at(-1)?.content).toBe("[9,1]")
  const ended = log.at(-1)?.seq
  if (ended === undefined) throw new Error("the log is empty")
  await second.rewind("c", ended)
  expect((await second.chat("c")).thread.messages).toEqual(messages)
  await second.stop()
})
