/**
 * Requests to the routes of the foreign protocols, with one or more parts replaced by something odd.
 *
 * @module
 */
import { type Chance, pick } from "../soak/chance.ts"

/** A request. */
export interface Shot {
  readonly method: "GET" | "POST"
  /** The path of the route, with its parameter as `:id`. */
  readonly route: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

const user = (id: string, text: string) => ({ id, role: "user", parts: [{ type: "text", text }] })

const answered = (toolCallId: string) => ({
  id: "u1.reply",
  role: "assistant",
  parts: [
    { type: "tool-where", toolCallId, state: "output-available", input: {}, output: { city: "Oslo" } },
    { type: "tool-pay", toolCallId, state: "approval-responded", approval: { id: toolCallId, approved: true } }
  ]
})

const functionTool = { name: "here", description: "A tool of the client", parameters: { type: "object" } }
const image = "data:image/png;base64,iVBORw0KGgo="
const schema = { name: "a", schema: { type: "object" }, strict: true }

/** Valid bodies of each route that takes one, for a conversation. */
const bodies: Readonly<Record<string, (chat: string) => ReadonlyArray<object>>> = {
  "/api/chat": (id) => [
    { id, messages: [user("u1", "Hi")], trigger: "submit-message" },
    { id, messages: [user("u1", "Hi"), answered("c0"), user("u2", "And?")], messageId: "u1", whenBusy: "interrupt" },
    { id, message: answered("c0") },
    { id, messages: [user("u1", "Hi")], trigger: "regenerate-message", messageId: "u1.reply" }
  ],
  "/ag-ui": (threadId) => [
    { threadId, runId: "r", messages: [{ id: "u1", role: "user", content: "Hi" }], tools: [], context: [], state: {} },
    {
      threadId,
      runId: "r",
      messages: [
        {
          id: "t",
          role: "tool",
          toolCallId: "c0",
          content: [{ type: "image", source: { type: "url", value: "https://example.org/a.png" } }]
        }
      ]
    },
    {
      threadId,
      runId: "r",
      messages: [],
      resume: [{ interruptId: "approval:c0", status: "resolved", payload: { approved: true, arguments: {} } }]
    }
  ],
  "/v1/chat/completions": (chat) => [
    {
      model: "troupe",
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "Hi" },
            { type: "image_url", image_url: { url: image } }
          ]
        },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "c0", type: "function", function: { name: "where", arguments: "{" } }]
        },
        { role: "tool", tool_call_id: "c0", content: "x" }
      ],
      tools: [{ type: "function", function: functionTool }],
      tool_choice: "auto",
      response_format: { type: "json_schema", json_schema: schema },
      stop: ["END"],
      max_tokens: 10
    },
    { model: "troupe", messages: [{ role: "user", content: "Hi" }], stream: true, metadata: { chat_id: chat } },
    {
      model: "fast",
      messages: [{ role: "tool", tool_call_id: "c0", content: "x" }],
      metadata: { chat_id: chat },
      stream: true,
      stream_options: { include_usage: true }
    }
  ],
  "/v1/responses": (conversation) => [
    {
      model: "troupe",
      input: [
        { role: "user", content: [{ type: "input_text", text: "Hi" }] },
        { type: "reasoning", id: "rs_1", summary: [] },
        { type: "function_call", call_id: "c0", name: "where", arguments: "{" },
        { type: "function_call_output", call_id: "c0", output: [{ type: "input_text", text: "x" }] },
        { role: "user", content: "Go on" }
      ],
      instructions: "Be brief.",
      tools: [{ type: "function", ...functionTool }],
      tool_choice: { type: "function", name: "here" },
      text: { format: { type: "json_schema", ...schema } },
      reasoning: { effort: "low" },
      store: false
    },
    { model: "fast", input: "Hi", conversation, stream: true },
    { model: "troupe", input: "Hi", conversation: { id: conversation }, background: true },
    { model: "troupe", input: [{ role: "user", content: "And?" }], previous_response_id: "resp_1", stream: true },
    { model: "troupe", input: [{ type: "function_call_output", call_id: "c0", output: "x" }], conversation }
  ]
}

const routes: readonly [Other, ...ReadonlyArray<Other>] = [
  ["GET", "/v1/models"],
  ["GET", "/v1/models/:id"],
  ["GET", "/v1/responses/:id"],
  ["POST", "/v1/responses/:id/cancel"],
  ["GET", "/api/chat/:id/stream"],
  ["GET", "/api/chat/:id/messages"],
  ["POST", "/api/chat/:id/stop"],
  ["GET", "/ag-ui/:id/messages"]
]

type Other = readonly [Shot["method"], string]

const odd: readonly [unknown, ...ReadonlyArray<unknown>] = [
  null,
  -1,
  1e308,
  0.5,
  "",
  "\u0000",
  "\uD800",
  [],
  {},
  [[]],
  [null],
  true,
  false,
  "__proto__",
  "../..",
  "data:,x",
  "data:image/png;base64,%%%",
  "x".repeat(300),
  "resp_W10",
  "call_W10.c0"
]

/** The value with one part of it, somewhere, replaced, omitted or repeated. `ids` are ids that the server made. */
const mutated = (value: unknown, chance: Chance, ids: ReadonlyArray<string>): unknown => {
  const [id, ...more] = ids
  const strange = (): unknown => (id !== undefined && chance() < 0.2 ? pick(chance, [id, ...more]) : pick(chance, odd))
  if (typeof value !== "object" || value === null || chance() < 0.15) return strange()
  const [first, ...rest] = Object.keys(value)
  if (first === undefined) return strange()
  const key = pick(chance, [first, ...rest])
  const within = (): unknown => mutated(Reflect.get(value, key), chance, ids)
  if (Array.isArray(value)) return chance() < 0.1 ? [...value, value[Number(key)]] : value.with(Number(key), within())
  if (chance() < 0.1) return Object.fromEntries(Object.entries(value).filter(([other]) => other !== key))
  return { ...value, [key]: within() }
}

const contentTypes = ["application/json", "application/json; charset=utf-8", "text/plain", ""] as const

/** A request by chance. */
export const shot = (chance: Chance, chat: string, ids: ReadonlyArray<string>): Shot => {
  const accept = chance() < 0.05 ? pick(chance, ["text/event-stream", "application/json", "text/html", "*/*"]) : "*/*"
  if (chance() < 0.2) {
    const [method, route] = pick(chance, routes)
    const [first, ...rest] = [...ids, chat, "troupe", "fast", "kept"]
    const id = chance() < 0.5 ? pick(chance, [first ?? chat, ...rest]) : String(pick(chance, odd))
    const path = route.replace(":id", encodeURIComponent(id.isWellFormed() ? id : "x"))
    return { method, route, path, headers: { accept }, body: undefined }
  }
  const [route, made] = pick(chance, Object.entries(bodies) as unknown as readonly [BodyOf, ...ReadonlyArray<BodyOf>])
  const [first, ...rest] = made(chat)
  let body: unknown = pick(chance, [first ?? {}, ...rest])
  // Some bodies are left as they are, so that conversations go on.
  for (let left = pick(chance, [0, 1, 1, 1, 2, 3]); left > 0; left--) body = mutated(body, chance, ids)
  const text = JSON.stringify(body)
  const cut = chance() < 0.03 ? text.slice(0, Math.floor(chance() * text.length)) : text
  const type = chance() < 0.97 ? contentTypes[0] : pick(chance, contentTypes)
  const headers = { accept, "content-type": type, ...(chance() < 0.05 ? { "x-troupe-chat": chat } : {}) }
  return { method: "POST", route, path: route, headers, body: cut }
}

type BodyOf = readonly [string, (chat: string) => ReadonlyArray<object>]
