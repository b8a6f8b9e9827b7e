/**
 * Streams in each API's own events that have everything that a reply can have, and the parts that a package makes of them.
 *
 * @module
 */
import { type Column, columns, packages, type ProviderPackage } from "./packages.ts"
import {
  block,
  bodyOf,
  candidate,
  chunk,
  chunkUsage,
  item,
  messageEnd,
  messageStart,
  response
} from "../wire/dialects.ts"
import type { Dialect } from "../wire/recording.ts"

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
  chunk({}, "tool_calls", chunkUsage)
]

/** Only Mistral has content in a list. */
const flatChat = chat.filter((_, at) => at !== 2)

const citation = { type: "url_citation", url: "https://example.org", title: "Weather", start_index: 0, end_index: 2 }
const search = { type: "web_search_call", id: "ws", action: { type: "search", query: "Oslo" } }
const output = { type: "output_text", text: "It rains.", annotations: [citation] }
const called = { type: "function_call", id: "fc", call_id: "c1", name: "weather", arguments: "{}" }
const summary = { item_id: "rs", summary_index: 0 }
const content = { item_id: "msg", content_index: 0 }

const responses = response(
  ...item(
    0,
    { type: "reasoning", id: "rs", summary: [] },
    { type: "response.reasoning_summary_part.added", ...summary },
    { type: "response.reasoning_summary_text.delta", ...summary, delta: "Hm" }
  ),
  ...item(1, search),
  ...item(
    2,
    { type: "message", id: "msg", role: "assistant", content: [output] },
    { type: "response.output_text.delta", ...content, delta: "It rains." },
    { type: "response.output_text.annotation.added", ...content, annotation_index: 0, annotation: citation }
  ),
  ...item(3, called, { type: "response.function_call_arguments.delta", item_id: "fc", delta: "{}" }),
  ...item(4, { type: "mcp_approval_request", id: "ap", server_label: "files", name: "read", arguments: "{}" }),
  ...item(5, { type: "compaction", id: "cmp", encrypted_content: "e" })
)

const hit = {
  type: "web_search_result",
  url: "https://example.org",
  title: "Weather",
  encrypted_content: "e",
  page_age: null
}
const input = { type: "input_json_delta", partial_json: "{}" }

const messages: ReadonlyArray<unknown> = [
  messageStart(),
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
  ...messageEnd("tool_use")
]

const grounding = {
  groundingMetadata: { groundingChunks: [{ web: { uri: "https://example.org", title: "Weather" } }] }
}

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
].map((parts, at, all) =>
  candidate(parts, { ...grounding, ...(at === all.length - 1 ? { finishReason: "STOP" } : {}) })
)

const eventsOf = (column: Column, dialect: Dialect): ReadonlyArray<unknown> =>
  ({ chat: column === "mistral" ? chat : flatChat, responses, messages, gemini })[dialect]

/** The types of the parts that each package makes of its stream. */
export const partsSent = async (): Promise<ReadonlyMap<Column, ReadonlySet<string>>> =>
  new Map(await Promise.all(columns.map(async (column) => [column, await sentBy(packages[column], column)] as const)))

/** The parts of a stream that has everything, and of one that is broken. */
const sentBy = async (found: ProviderPackage, column: Column): Promise<ReadonlySet<string>> => {
  const events = eventsOf(column, found.dialect)
  const complete = await partsOf(found, bodyOf(found.dialect, events))
  if (complete.has("error")) throw new Error(`${found.module} cannot read its stream`)
  const broken = await partsOf(found, `${bodyOf("responses", events.slice(0, 2))}data: {\n\n`)
  return broken.has("error") ? complete.add("error") : complete
}

const partsOf = async (found: ProviderPackage, body: string): Promise<Set<string>> => {
  const fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream" } })
  const model = found.model({ fetch })
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
