/**
 * Requests to the routes of the foreign protocols, with one or more parts replaced by something odd.
 *
 * The valid bodies of each route are in `corpus.json`, with `$chat` for the id of a conversation, and so are the odd values.
 */
import { readFileSync } from "node:fs"
import { type Chance, pick } from "../chance.ts"

/** A request. */
export interface Shot {
  readonly method: "GET" | "POST"
  /** The path of the route, with its parameter as `:id`. */
  readonly route: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

interface Corpus {
  readonly bodies: Readonly<Record<string, readonly [object, ...ReadonlyArray<object>]>>
  readonly odd: readonly [unknown, ...ReadonlyArray<unknown>]
}

const { bodies, odd } = JSON.parse(readFileSync(new URL("corpus.json", import.meta.url), "utf8")) as Corpus

const routes = [
  ...(["GET /v1/models", "GET /v1/models/:id", "GET /v1/responses/:id", "POST /v1/responses/:id/cancel"] as const),
  ...(["GET /api/chat/:id/stream", "GET /api/chat/:id/messages", "POST /api/chat/:id/stop"] as const),
  "GET /ag-ui/:id/messages"
] as const

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

const jsonType = "application/json"

/** A request by chance. */
export const shot = (chance: Chance, chat: string, ids: ReadonlyArray<string>): Shot => {
  const accept = chance() < 0.05 ? pick(chance, ["text/event-stream", jsonType, "text/html", "*/*"]) : "*/*"
  if (chance() < 0.2) {
    const [method, route] = pick(chance, routes).split(" ") as [Shot["method"], string]
    const id = chance() < 0.5 ? pick(chance, [chat, "troupe", "fast", "kept", ...ids]) : String(pick(chance, odd))
    const path = route.replace(":id", encodeURIComponent(id.isWellFormed() ? id : "x"))
    return { method, route, path, headers: { accept }, body: undefined }
  }
  const route = pick(chance, Object.keys(bodies) as [string, ...Array<string>])
  const valid = pick(chance, bodies[route] ?? [{}])
  let body: unknown = JSON.parse(JSON.stringify(valid).replaceAll("$chat", chat))
  // Some bodies are left as they are, so that conversations go on.
  for (let left = pick(chance, [0, 1, 1, 1, 2, 3]); left > 0; left--) body = mutated(body, chance, ids)
  const text = JSON.stringify(body)
  const cut = chance() < 0.03 ? text.slice(0, Math.floor(chance() * text.length)) : text
  const type = chance() < 0.97 ? jsonType : pick(chance, [jsonType, `${jsonType}; charset=utf-8`, "text/plain", ""])
  const headers = { accept, "content-type": type, ...(chance() < 0.05 ? { "x-troupe-chat": chat } : {}) }
  return { method: "POST", route, path: route, headers, body: cut }
}
