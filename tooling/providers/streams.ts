/**
 * Streams in each API's own events that have everything that a reply can have, and the parts that a package makes of them.
 *
 * @module
 */
import { type Column, columns, packages, type ProviderPackage } from "./packages.ts"
import type { Dialect } from "../wire/recording.ts"

const chunk = (delta: unknown, reason: string | null = null, more: object = {}) => ({
  id: "c",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason: reason }],
  ...more
})

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const call = {
  index: 0,
  id: "call12345",
  type: "function",
  function: { name: "weather", arguments: '{"city":"Oslo"}' }
}

const chat: ReadonlyArray<unknown> = [
  chunk({ role: "assistant", content: "" }),
  chunk({ reasoning_content: "Hm", reasoning: "Hm" }),
  chunk({ content: [{ type: "thinking", thinking: [{ type: "text", text: "Hm" }] }] }),
  chunk({ content: "It rains." }),
  chunk({ tool_calls: [call] }),
  chunk({}, "tool_calls", { usage })
]

/** Only Mistral has content in a list. */
const flatChat = chat.filter((_, at) => at !== 2)

const item = (index: number, value: object): ReadonlyArray<unknown> => [
  { type: "response.output_item.added", output_index: index, item: { status: "in_progress", ...value } },
  { type: "response.output_item.done", output_index: index, item: { status: "completed", ...value } }
]
const response = { id: "resp", object: "response", created_at: 1, model: "m" }
const citation = { type: "url_citation", url: "https://example.org", title: "Weather", start_index: 0, end_index: 2 }
const search = { type: "web_search_call", id: "ws", action: { type: "search", query: "Oslo" } }
const said = { type: "message", id: "msg", role: "assistant" }

const responses: ReadonlyArray<unknown> = [
  { type: "response.created", response: { ...response, status: "in_progress", output: [] } },
  { type: "response.output_item.added", output_index: 0, item: { type: "reasoning", id: "rs", summary: [] } },
  { type: "response.reasoning_summary_part.added", item_id: "rs", output_index: 0, summary_index: 0 },
  { type: "response.reasoning_summary_text.delta", item_id: "rs", output_index: 0, summary_index: 0, delta: "Hm" },
  { type: "response.output_item.done", output_index: 0, item: { type: "reasoning", id: "rs", summary: [] } },
  ...item(1, search),
  { type: "response.output_item.added", output_index: 2, item: { ...said, status: "in_progress", content: [] } },
  { type: "response.output_text.delta", item_id: "msg", output_index: 2, content_index: 0, delta: "It rains." },
  {
    type: "response.output_text.annotation.added",
    item_id: "msg",
    output_index: 2,
    content_index: 0,
    annotation_index: 0,
    annotation: citation
  },
  {
    type: "response.output_item.done",
    output_index: 2,
    item: {
      ...said,
      status: "completed",
      content: [{ type: "output_text", text: "It rains.", annotations: [citation] }]
    }
  },
  {
    type: "response.output_item.added",
    output_index: 3,
    item: { type: "function_call", id: "fc", call_id: "c1", name: "weather", arguments: "", status: "in_progress" }
  },
  { type: "response.function_call_arguments.delta", item_id: "fc", output_index: 3, delta: "{}" },
  {
    type: "response.output_item.done",
    output_index: 3,
    item: { type: "function_call", id: "fc", call_id: "c1", name: "weather", arguments: "{}", status: "completed" }
  },
  ...item(4, { type: "mcp_approval_request", id: "ap", server_label: "files", name: "read", arguments: "{}" }),
  ...item(5, { type: "compaction", id: "cmp", encrypted_content: "e" }),
  {
    type: "response.completed",
    response: { ...response, status: "completed", output: [], usage: { input_tokens: 1, output_tokens: 1 } }
  }
]

const block = (index: number, begun: unknown, ...deltas: ReadonlyArray<unknown>): ReadonlyArray<unknown> => [
  { type: "content_block_start", index, content_block: begun },
  ...deltas.map((delta) => ({ type: "content_block_delta", index, delta })),
  { type: "content_block_stop", index }
]
const hit = {
  type: "web_search_result",
  url: "https://example.org",
  title: "Weather",
  encrypted_content: "e",
  page_age: null
}
const input = { type: "input_json_delta", partial_json: "{}" }

const messages: ReadonlyArray<unknown> = [
  {
    type: "message_start",
    message: {
      id: "msg",
      type: "message",
      role: "assistant",
      model: "m",
      content: [],
      stop_reason: null,
      usage: { input_tokens: 1, output_tokens: 1 }
    }
  },
  { type: "ping" },
  ...block(
    0,
    { type: "thinking", thinking: "" },
    { type: "thinking_delta", thinking: "Hm" },
    { type: "signature_delta", signature: "s" }
  ),
  ...block(1, { type: "server_tool_use", id: "srv", name: "web_search", input: {} }, input),
  ...block(2, { type: "web_search_tool_result", tool_use_id: "srv", content: [hit] }),
  ...block(3, { type: "text", text: "" }, { type: "text_delta", text: "It rains." }),
  ...block(4, { type: "tool_use", id: "c1", name: "weather", input: {} }, input),
  ...block(5, { type: "compaction", content: "" }, { type: "compaction_delta", content: "short" }),
  { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { input_tokens: 1, output_tokens: 1 } },
  { type: "message_stop" }
]

const gemini: ReadonlyArray<unknown> = [
  [{ text: "Hm", thought: true }],
  [{ text: "It rains." }],
  [
    { executableCode: { language: "PYTHON", code: "1" } },
    { codeExecutionResult: { outcome: "OUTCOME_OK", output: "1" } }
  ],
  [{ inlineData: { mimeType: "image/png", data: "AA==" } }],
  [{ inlineData: { mimeType: "image/png", data: "AA==" }, thought: true }],
  [{ functionCall: { name: "weather", args: { city: "Oslo" } } }]
].map((parts, at, all) => ({
  candidates: [
    {
      content: { role: "model", parts },
      index: 0,
      groundingMetadata: { groundingChunks: [{ web: { uri: "https://example.org", title: "Weather" } }] },
      ...(at === all.length - 1 ? { finishReason: "STOP" } : {})
    }
  ],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 }
}))

const eventsOf = (column: Column, dialect: Dialect): ReadonlyArray<unknown> =>
  ({ chat: column === "mistral" ? chat : flatChat, responses, messages, gemini })[dialect]

/** The types of the parts that each package makes of its stream. */
export const partsSent = async (): Promise<ReadonlyMap<Column, ReadonlySet<string>>> =>
  new Map(await Promise.all(columns.map(async (column) => [column, await sentBy(packages[column], column)] as const)))

/** The parts of a stream that has everything, and of one that is broken. */
const sentBy = async (found: ProviderPackage, column: Column): Promise<ReadonlySet<string>> => {
  const frames = eventsOf(column, found.dialect).map((event) => `data: ${JSON.stringify(event)}\n\n`)
  const whole = frames.join("") + (found.dialect === "chat" ? "data: [DONE]\n\n" : "")
  const complete = await partsOf(found, whole)
  if (complete.has("error")) throw new Error(`${found.module} cannot read its stream`)
  const broken = await partsOf(found, `${frames.slice(0, 2).join("")}data: {\n\n`)
  return broken.has("error") ? complete.add("error") : complete
}

const partsOf = async (found: ProviderPackage, body: string): Promise<Set<string>> => {
  const model = found.model(async () => new Response(body, { headers: { "content-type": "text/event-stream" } }))
  const doStream = model.doStream.bind(model) as DoStream
  const { stream } = await doStream({
    prompt: [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    tools: [{ type: "function", name: "weather", inputSchema: { type: "object", properties: {} } }],
    includeRawChunks: true
  })
  const types = new Set<string>()
  for await (const { type } of stream) types.add(type)
  return types
}

/** The versions of the specification differ in the type of the options. */
type DoStream = (options: unknown) => PromiseLike<{ readonly stream: ReadableStream<{ readonly type: string }> }>
