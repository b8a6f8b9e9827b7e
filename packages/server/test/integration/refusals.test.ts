/** The refusals of each route: their status, and their body in the form of its protocol. */
import { Fake, tool, type TroupeOptions } from "@troupe/chat"
import type { Store } from "@troupe/chat/store"
import { describe, expect, it } from "vitest"
import { endless, hello, type Served, served } from "../double/served.ts"
import type { ServerOptions } from "../../src/server/serverOptions.ts"

/** A body of this server's own form, which the AI SDK's client shows as text. */
const ownForm = (code: string) => ({ error: expect.objectContaining({ code, message: expect.any(String) }) })

/** A body of OpenAI's form. */
const openAiForm = (type: string) => (code: string) => ({
  error: { code, message: expect.any(String), type, param: expect.toSatisfy(isParam) }
})

const isParam = (param: unknown): boolean => param === null || typeof param === "string"

const typeOf = (status: number): string => {
  if (status === 401) return "authentication_error"
  if (status === 403) return "permission_error"
  if (status === 429) return "rate_limit_error"
  return status < 500 ? "invalid_request_error" : "server_error"
}

interface Protocol {
  readonly path: string
  /** A message of this text. */
  readonly body: (text: string, id?: string) => object
  readonly headers?: Readonly<Record<string, string>>
  readonly isOpenAi?: boolean
}

const protocols: Readonly<Record<string, Protocol>> = {
  own: { path: "/chats/c/messages", body: (input, id) => ({ input, ...(id === undefined ? {} : { id }) }) },
  "AI SDK": {
    path: "/api/chat",
    body: (said, id = "u1") => ({ id: "c", message: { id, role: "user", parts: [{ type: "text", text: said }] } })
  },
  responses: {
    path: "/v1/responses",
    body: (input) => ({ model: "troupe", input, stream: true }),
    headers: { "x-troupe-chat": "c" },
    isOpenAi: true
  },
  completions: {
    path: "/v1/chat/completions",
    body: (content) => ({
      model: "troupe",
      messages: [{ role: "user", content }],
      stream: true,
      metadata: { chat_id: "c" }
    }),
    isOpenAi: true
  }
}

/** A refusal in the protocol's form. OpenAI reports an invalid body as a bad request. */
const refusal = ({ isOpenAi = false }: Protocol, status: number, code: string) => {
  const expected = isOpenAi && status === 422 ? 400 : status
  return {
    status: expected,
    type: "application/json",
    retries: expected === 429 || expected === 503,
    body: (isOpenAi ? openAiForm(typeOf(expected)) : ownForm)(code)
  }
}

const shown = async (response: Response) => ({
  status: response.status,
  type: response.headers.get("content-type"),
  retries: Number(response.headers.get("retry-after")) > 0,
  body: (await response.json()) as unknown
})

/** A refusal that a message of each protocol can meet. */
interface Refusal {
  readonly status: number
  readonly code: string
  readonly troupe?: () => Partial<TroupeOptions>
  readonly server?: Partial<ServerOptions>
  readonly first?: (server: Served, protocol: Protocol) => Promise<unknown>
  readonly ask?: (server: Served, protocol: Protocol) => Promise<Response>
}

const pay = tool({ name: "pay", execute: () => "paid" })
const where = tool({ name: "where", manual: true })
const calling = (name: string) =>
  Fake.make({ scripts: [[{ toolCall: { id: "c0", name } }, { finish: "tool_calls" }], [{ finish: "stop" }]] })

const sayFirst: NonNullable<Refusal["first"]> = ({ ask }) => ask("POST", "/chats/c/messages?wait", { input: "Hi" })

const refusals: ReadonlyArray<Refusal> = [
  {
    status: 401,
    code: "unauthorized",
    ask: ({ server }, { path, body }) =>
      server.fetch(
        new Request(`http://localhost${path}`, {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify(body("Hi"))
        })
      )
  },
  { status: 403, code: "forbidden", server: { authorize: () => ({ deny: 403 }) } },
  { status: 400, code: "invalid_json", ask: ({ ask }, { path }) => ask("POST", path, "{") },
  { status: 422, code: "invalid_input", ask: ({ ask }, { path }) => ask("POST", path, []) },
  {
    status: 415,
    code: "unsupported_media_type",
    ask: ({ ask }, { path, body }) => ask("POST", path, body("Hi"), { "content-type": "text/plain" })
  },
  { status: 413, code: "body_too_large", server: { limits: { bodyBytes: 10 } } },
  { status: 413, code: "message_too_long", server: { limits: { messageCharacters: 1 } } },
  { status: 429, code: "rate_limited", server: { limits: { requestsPerMinute: 1 } }, first: sayFirst },
  {
    status: 429,
    code: "too_many_streams",
    troupe: () => ({ adapter: endless() }),
    server: { limits: { streams: 1 } },
    first: ({ ask }) => ask("POST", "/chats/other/messages", { input: "Hi" }, { accept: "text/event-stream" }),
    ask: ({ ask }, { path, body }) => ask("POST", path, body("Hi"), { accept: "text/event-stream" })
  },
  {
    status: 429,
    code: "too_many_conversations",
    troupe: () => ({ adapter: endless() }),
    server: { limits: { conversations: 1 } },
    first: ({ ask }) => ask("POST", "/chats/other/messages", { input: "Hi" })
  },
  {
    status: 409,
    code: "awaiting_approval",
    troupe: () => ({ adapter: calling("pay"), tools: [pay], permissions: { ask: () => "suspend" } }),
    first: sayFirst
  },
  {
    status: 409,
    code: "awaiting_tool_results",
    troupe: () => ({ adapter: calling("where"), tools: [where] }),
    server: { posts: { calls: "refuse" } },
    first: sayFirst
  },
  { status: 503, code: "closing", first: ({ server }) => server.close() }
]

describe("a message is refused in the form of its protocol", () => {
  for (const [name, protocol] of Object.entries(protocols)) {
    it.each(refusals)(`${name}: $status $code`, async ({ status, code, troupe, server, first, ask }) => {
      const made = await served(troupe?.(), server)
      await first?.(made, protocol)
      const response = await (ask?.(made, protocol) ??
        made.ask("POST", protocol.path, protocol.body("Hi", "u2"), protocol.headers))
      expect(await shown(response)).toEqual(refusal(protocol, status, code))
    })
  }
})

/** A store that keeps no log. */
const withoutLog = (): Store.Store => {
  const kept = new Map<string, unknown>()
  return {
    load: (id: string) => kept.get(id),
    save: (record: { readonly id: string }) => void kept.set(record.id, record),
    delete: (id: string) => void kept.delete(id)
  } as Store.Store
}

const ui = protocols["AI SDK"] ?? { path: "", body: () => ({}) }
const text = (id: string, said: string) => ({ id, role: "user", parts: [{ type: "text", text: said }] })
const answering = (part: object) => ({ id: "c", messages: [{ id: "u1.reply", role: "assistant", parts: [part] }] })
const said = (made: Served, id: string, words = "Hi") =>
  made.ask("POST", "/api/chat", { id: "c", message: text(id, words) }).then((response) => response.text())

describe("the routes of the AI SDK refuse what does not fit", () => {
  const cases: ReadonlyArray<Refusal & { readonly body: object }> = [
    { status: 422, code: "invalid_input", body: { id: "c", messages: [] } },
    { status: 400, code: "invalid_id", body: { id: "", message: text("u1", "Hi") } },
    {
      status: 404,
      code: "unknown_chat",
      body: answering({ type: "tool-x", toolCallId: "c0", state: "output-available" })
    },
    { status: 404, code: "unknown_chat", body: { id: "c", trigger: "regenerate-message", message: text("u1", "Hi") } },
    {
      status: 409,
      code: "already_delivered",
      body: { id: "c", message: text("u1", "Other") },
      first: (made) => said(made, "u1")
    },
    {
      status: 409,
      code: "invalid_status_for_operation",
      server: { posts: { stale: "refuse" } },
      body: answering({ type: "tool-x", toolCallId: "c0", state: "output-available" }),
      first: (made) => said(made, "u1")
    },
    {
      status: 409,
      code: "busy",
      troupe: () => ({ adapter: endless() }),
      body: { id: "c", message: text("u2", "And?"), whenBusy: "reject" },
      first: (made) => made.ask("POST", "/api/chat", { id: "c", message: text("u1", "Hi") })
    },
    {
      status: 403,
      code: "forbidden",
      troupe: () => ({ adapter: calling("pay"), tools: [pay], permissions: { ask: () => "suspend" } }),
      server: { authorize: () => ({ owner: "anna", may: { approve: false } }) },
      body: answering({
        type: "tool-pay",
        toolCallId: "c0",
        state: "approval-responded",
        approval: { id: "c0", approved: true }
      }),
      first: (made) => said(made, "u1")
    },
    {
      status: 403,
      code: "forbidden",
      server: { authorize: () => ({ owner: "anna", may: { rewind: false } }) },
      body: { id: "c", messageId: "u1", message: text("u1", "Other") },
      first: (made) => said(made, "u1")
    },
    {
      status: 501,
      code: "store_without_log",
      troupe: () => ({ adapter: hello(), store: withoutLog() }),
      body: { id: "c", messageId: "u1", message: text("u1", "Other") },
      first: (made) => said(made, "u1")
    }
  ]
  it.each(cases)("$status $code", async ({ status, code, troupe, server, first, body }) => {
    const made = await served(troupe?.(), server)
    await first?.(made, ui)
    expect(await shown(await made.ask("POST", "/api/chat", body))).toEqual(refusal(ui, status, code))
  })
})

describe("a response that is not there is refused in OpenAI's form", () => {
  const responses = protocols["responses"] ?? ui
  it.each([
    ["GET", "/v1/responses/none", "not_found"],
    ["GET", "/v1/responses/none?stream=true", "not_found"],
    ["POST", "/v1/responses/none/cancel", "not_found"],
    ["GET", "/v1/models/none", "not_found"]
  ])("%s %s", async (method, path, code) => {
    const made = await served()
    const response = await made.ask(method, path, method === "POST" ? {} : undefined)
    expect(await shown(response)).toEqual(refusal(responses, 404, code))
  })
})
