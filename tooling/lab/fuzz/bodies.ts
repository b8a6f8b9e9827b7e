/**
 * Requests to the routes of the foreign protocols, with one or more parts replaced by something odd.
 *
 * The valid bodies of each route are in `corpus.json`, with `$chat` for the id of a conversation, and so are the odd values.
 */
import { readFileSync } from "node:fs"
import type { Fake } from "@troupe/chat"
import { anyOf, type Chance, pick, type Some } from "../chance.ts"

/** A request; its route is the path with its parameter as `:id`. */
export type Shot = ReturnType<typeof shot>

interface Corpus {
  /** The requests that every server answers, for each protocol. */
  readonly plain: Readonly<Record<string, object>>
  readonly bodies: Readonly<Record<string, ReadonlyArray<object>>>
  /** The routes without a body. */
  readonly routes: ReadonlyArray<string>
  readonly odd: Some<unknown>
  /** The replies of the model, one after another. */
  readonly replies: ReadonlyArray<Fake.Script>
}

const { plain, bodies, odd, routes, replies } = JSON.parse(
  readFileSync(new URL("corpus.json", import.meta.url), "utf8")
) as Corpus

export { plain, replies }

/** The value with one part of it, somewhere, replaced, omitted or repeated. `ids` are ids that the server made. */
const mutated = (value: unknown, chance: Chance, ids: ReadonlyArray<string>): unknown => {
  const strange = (): unknown => (ids.length > 0 && chance() < 0.2 ? anyOf(chance, ids) : pick(chance, odd))
  if (typeof value !== "object" || value === null || chance() < 0.15) return strange()
  const key = anyOf(chance, Object.keys(value))
  if (key === undefined) return strange()
  const within = (): unknown => mutated(Reflect.get(value, key), chance, ids)
  if (Array.isArray(value)) return chance() < 0.1 ? [...value, value[Number(key)]] : value.with(Number(key), within())
  if (chance() < 0.1) return Object.fromEntries(Object.entries(value).filter(([other]) => other !== key))
  return { ...value, [key]: within() }
}

/** A body for a conversation. */
export const bodyFor = (chat: string, body: object = {}): unknown =>
  JSON.parse(JSON.stringify(body).replaceAll("$chat", chat))

const jsonType = "application/json"

/** A request by chance. */
export const shot = (chance: Chance, chat: string, ids: ReadonlyArray<string>) => {
  const accept = chance() < 0.05 ? pick(chance, ["text/event-stream", jsonType, "text/html", "*/*"]) : "*/*"
  if (chance() < 0.2) {
    const [method = "GET", route = ""] = (anyOf(chance, routes) ?? "").split(" ")
    const id = chance() < 0.5 ? pick(chance, [chat, "troupe", "fast", "kept", ...ids]) : String(pick(chance, odd))
    const path = route.replace(":id", encodeURIComponent(id.isWellFormed() ? id : "x"))
    return { method, route, path, headers: { accept }, body: undefined }
  }
  const route = anyOf(chance, Object.keys(bodies)) ?? ""
  let body = bodyFor(chat, anyOf(chance, bodies[route] ?? []))
  // Some bodies are left as they are, so that conversations go on.
  for (let left = pick(chance, [0, 1, 1, 1, 2, 3]); left > 0; left--) body = mutated(body, chance, ids)
  const text = JSON.stringify(body)
  const cut = chance() < 0.03 ? text.slice(0, Math.floor(chance() * text.length)) : text
  const type = chance() < 0.97 ? jsonType : pick(chance, [jsonType, `${jsonType}; charset=utf-8`, "text/plain", ""])
  const headers = { accept, "content-type": type, ...(chance() < 0.05 ? { "x-troupe-chat": chat } : {}) }
  return { method: "POST", route, path: route, headers, body: cut }
}
