/** Replies of 200 mixed parts, on `Chat.stream` and directly. */
import { Chat, Engine, user } from "@troupe/chat"
import type { AdapterEvent } from "@troupe/chat/events"

/** How many replies one after another, and how many rounds of four parts each. */
const replies = 50
const rounds = 50

const signed = { metadata: { providerMetadata: { bench: { signature: "c2lnbmF0dXJl" } } } }

/** One reply: reasoning, a text, a call that the provider ran, and its result, in turns. */
async function* mixed(): AsyncGenerator<AdapterEvent, void> {
  yield { type: "message_started", message: { role: "assistant", content: "" } }
  let content = ""
  const parts = []
  for (let round = 0; round < rounds; round++) {
    const text = `word ${round} `
    const id = `s${round}`
    content += text
    yield { type: "reasoning_delta", id: `r${round}`, delta: "a thought" }
    yield { type: "text_delta", id: `t${round}`, delta: text }
    parts.push(
      { type: "reasoning", text: "a thought", ...signed } as const,
      { type: "text", text, ...signed } as const,
      { type: "provider_tool_call", id, name: "search", arguments: { query: text }, ...signed } as const,
      { type: "provider_tool_result", toolCallId: id, name: "search", result: [{ title: text }] } as const
    )
  }
  yield { type: "text_completed", id: null, text: content }
  yield { type: "message_completed", message: { role: "assistant", content, parts }, finishReason: "stop" }
}

const read = async (events: AsyncIterable<{ readonly type: string }>): Promise<void> => {
  let deltas = 0
  for await (const { type } of events) if (type === "text_delta" || type === "reasoning_delta") deltas++
  if (deltas !== 2 * rounds) throw new Error(`read ${deltas} deltas`)
}

/** The replies, read directly. */
export const plainParts = async (): Promise<void> => {
  for (let reply = 0; reply < replies; reply++) await read(mixed())
}

/** The replies through `Chat.stream`. */
export const streamedParts = async (): Promise<void> => {
  const engine = Engine.make({ adapter: { name: "mixed", stream: mixed } })
  for (let reply = 0; reply < replies; reply++) await read(await Chat.stream(engine, [user("go")]))
}
