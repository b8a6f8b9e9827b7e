/** The log of conversations: the list, what they wait for, the history, fork, rewind, delete. */
import { SessionError } from "@troupe/chat/errors"
import { Codec, type Store } from "@troupe/chat/store"
import * as z from "zod"
import { HttpError } from "../errors/index.ts"
import { withAgent } from "../access/index.ts"
import { json, handled, paramOf } from "./responses.ts"
import { type Call, queryOf, type Route } from "../http/index.ts"

const seq = z.int().min(1)
const limit = z.coerce.number().int().min(1).max(1_000).optional()
const text = z.string().max(256).optional()

const Listing = z.object({ prefix: text, search: text, limit, after: z.string().max(2_048).optional() })
const Waiting = z.object({
  prefix: text,
  kind: z.enum(["question", "approval", "unknown_outcome", "tool_result"]).optional(),
  agent: text,
  limit,
  after: z.string().max(64).optional()
})
const Memories = z.object({
  query: z.string().min(1).max(2_000).optional(),
  limit,
  after: z.string().max(64).optional()
})
const Reading = z.object({ after: z.coerce.number().int().min(0).optional(), limit })
const Fork = z.strictObject({ at: seq.optional(), id: z.string().optional(), agent: text })
const Rewind = z.strictObject({ seq: z.int().min(0), cancel: z.boolean().optional() })

/** The Troupe's id of an existing chat. Throws an `HttpError` (404) otherwise. */
const known = async ({ chats, params, troupe }: Call): Promise<string> => {
  const inner = chats.innerId(params["id"] ?? "")
  if (await troupe.has(inner)) return inner
  throw new HttpError("unknown_chat", "There is no such conversation; the list has those there are")
}

/** Lists an owner's chats, by the owner's ids. */
const list = handled({
  run: (call) => {
    const { prefix = "", ...options } = queryOf(call.url, Listing)
    return call.troupe.list({ ...options, prefix: call.chats.prefix + prefix })
  },
  shows: ({ chats, next }, call) => ({
    chats: chats.map((chat) => ({ ...chat, id: call.chats.outerId(chat.id) })),
    next
  })
})

/** Lists what an owner's chats wait for, by the owner's ids. */
const waiting = handled({
  run: (call) => {
    const { prefix = "", ...options } = queryOf(call.url, Waiting)
    return call.troupe.waiting({ ...options, owner: call.chats.prefix + prefix })
  },
  shows: ({ waits, next }, call) => ({
    waits: waits.map((wait) => ({ ...wait, chat: call.chats.outerId(wait.chat) })),
    next
  })
})

/** The scope of an owner's memories (MEMO2). */
const scopeOf = ({ troupe, chats }: Call): string => troupe.memories.scopeOf(chats.prefix)

/** Lists the memories of an owner, or recalls those that fit a query. */
const memories = handled({
  run: async (call) => {
    const { query, ...options } = queryOf(call.url, Memories)
    const scope = scopeOf(call)
    if (query === undefined) return call.troupe.memories.list(scope, options)
    return { memories: await call.troupe.memories.recall(scope, query, options.limit), next: undefined }
  },
  shows: (page) => page
})

const forget = handled({
  may: "delete",
  run: (call) => call.troupe.memories.forget(scopeOf(call), paramOf(call, "memory"))
})

const history = handled({
  run: async (call) => call.troupe.history(await known(call), queryOf(call.url, Reading)),
  shows: (commits, call) => ({ commits: commits.map((commit) => written(call.shown.commit(commit), call)) })
})

/** The bytes of an image or a file of a conversation. The id is their digest, so that they never change. */
const blob = handled({
  run: async (call) => {
    const id = paramOf(call, "blob")
    const inner = await known(call)
    const bytes = blobId.test(id) ? await call.troupe.blob(inner, id) : undefined
    if (bytes !== undefined) return { id, bytes }
    throw new HttpError(
      "not_found",
      "The conversation has no such image or file; its view has the URLs of those there are"
    )
  },
  shows: ({ id, bytes }, { request, url }) => {
    const tag = `"${id}"`
    const headers = {
      etag: tag,
      "cache-control": "private, max-age=31536000, immutable",
      "x-content-type-options": "nosniff",
      "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"
    }
    if (request.headers.get("if-none-match")?.includes(tag) === true)
      return new Response(null, { status: 304, headers })
    return new Response(new Uint8Array(bytes), { headers: { ...headers, ...typeOf(url.searchParams.get("type")) } })
  }
})

const blobId = /^[0-9a-f]{64}$/u

/** The media types that a browser shows without running anything of them. Any other is sent as bytes to save. */
const shownTypes = /^(?:image|audio|video)\/[\w.+-]+$|^application\/pdf$/u

const typeOf = (type: string | null): Readonly<Record<string, string>> =>
  type !== null && shownTypes.test(type)
    ? { "content-type": type }
    : { "content-type": "application/octet-stream", "content-disposition": "attachment" }

/**
 * A commit in the Codec's form, without its named entries and without summaries, which no filter has passed. Of a compaction it has that and
 * when it ran. The id of the conversation it was forked from becomes the owner's id.
 */
const written = (entry: Store.Commit, { chats }: Call): Record<string, unknown> => {
  const { messages, state, from, entries = [], compaction: _, ...commit } = entry
  const compacted = entries.flatMap((one) => (one.type === "Compacted" ? [withoutSummary(one)] : []))
  return {
    ...commit,
    ...(compacted.length === 0 ? {} : { entries: compacted }),
    ...(from === undefined ? {} : { from: { ...from, id: chats.outerId(from.id) } }),
    messages: messages.map((message) => Codec.toJson("Message", message, { unencodable: "describe" }).data),
    state: stateOf(state)
  }
}

const withoutSummary = ({
  type,
  compaction
}: Extract<Store.Entry, { readonly type: "Compacted" }>): Extract<Store.Entry, { readonly type: "Compacted" }> =>
  compaction === undefined
    ? { type }
    : { type, compaction: { upTo: compaction.upTo, kept: [], tokens: compaction.tokens } }

const stateOf = (state: Store.Commit["state"]): unknown => {
  const record = { ...state, id: "", thread: { messages: [] } }
  const { data } = Codec.toJson("ChatRecord", record, { unencodable: "describe" })
  const { id: _, thread: __, ...said } = data as Record<string, unknown>
  return said
}

const fork = handled({
  body: Fork,
  may: "rewind",
  run: (call, { at, id, agent }) =>
    withAgent(call.may, agent, async () => call.chats.forked(await known(call), { at, id, agent })),
  shows: ({ id }, { chats }) => Response.json({ id: chats.outerId(id) }, { status: 201 })
})

const rewind = handled({
  body: Rewind,
  may: "rewind",
  run: async (call, { seq: to, cancel }) => {
    const inner = await known(call)
    try {
      return await call.troupe.rewind(inner, to, { cancel })
    } catch (error) {
      if (error instanceof SessionError && error.reason === "busy") throw busy(error)
      throw error
    }
  },
  shows: ({ version }) => ({ ok: true, seq: version })
})

const busy = (cause: SessionError): HttpError =>
  new HttpError("busy", "A turn runs or waits in this conversation; cancel it first, or give cancel: true", { cause })

const remove = handled({
  may: "delete",
  run: async (call): Promise<void> => {
    await call.troupe.delete(await known(call))
  }
})

export const logRoutes: ReadonlyArray<Route> = [
  { method: "GET", path: "/chats", handle: list, produces: [json] },
  { method: "GET", path: "/waiting", handle: waiting, produces: [json] },
  { method: "GET", path: "/memories", handle: memories, produces: [json] },
  { method: "DELETE", path: "/memories/:memory", handle: forget, produces: [json] },
  { method: "GET", path: "/chats/:id/history", handle: history, produces: [json] },
  { method: "GET", path: "/chats/:id/blobs/:blob", handle: blob },
  { method: "POST", path: "/chats/:id/fork", handle: fork, produces: [json] },
  { method: "POST", path: "/chats/:id/rewind", handle: rewind, produces: [json] },
  { method: "DELETE", path: "/chats/:id", handle: remove, produces: [json] }
]
