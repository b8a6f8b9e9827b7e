/** Requests that must be refused, by the dozen: made at random, the same for the same seed. */
import { everyRoute } from "../../src/routes/allRoutes.ts"

/** A request as bytes, and what it is an attempt at. */
export interface Attack {
  readonly kind: string
  readonly bytes: string
}

/** Numbers from 0 to 1. */
export type Chance = () => number

/** The mulberry32 generator. */
export const seeded = (seed: number): Chance => {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

const pick = <A>(chance: Chance, from: ReadonlyArray<A>): A => from[Math.floor(chance() * from.length)] as A

const word = (chance: Chance, letters: string, longest: number): string =>
  Array.from({ length: Math.floor(chance() * longest) }, () =>
    letters.charAt(Math.floor(chance() * letters.length))
  ).join("")

const request = (method: string, path: string, headers: Readonly<Record<string, string>>, body = ""): string =>
  [
    `${method} ${path} HTTP/1.1`,
    ...Object.entries({ host: "127.0.0.1", connection: "close", authorization: "mallory", ...headers }).map(
      ([name, value]) => `${name}: ${value}`
    ),
    "",
    body
  ].join("\r\n")

const withBody = (path: string, body: string, headers: Readonly<Record<string, string>> = {}): string =>
  request("POST", path, { "content-type": "application/json", "content-length": String(body.length), ...headers }, body)

/** A route's path with a value in place of each parameter. */
const filled = (path: string, id: string): string => path.replaceAll(/:\w+/gu, id)

/** Those that look at their body: a stop is one, whatever is sent with it. */
const posts = everyRoute
  .filter(({ method, path }) => method === "POST" && !path.endsWith("/stop"))
  .map(({ path }) => path)
/** Those that begin no conversation: a message and a look at one do, whose own it is then. */
const ofChats = everyRoute.filter(({ path }) => path.startsWith("/chats/:id") && !/\/(?:messages|view)$/u.test(path))

const valid = JSON.stringify({ input: [{ type: "text", text: "Hello" }], whenBusy: "queue", id: "m1" })

const wrong: ReadonlyArray<unknown> = [null, 0, -1.5, true, "", [], [[]], {}, { type: "text" }, [null], [{ type: 1 }]]

/** Ids that name a conversation of somebody else, however they are written. */
const foreign: ReadonlyArray<string> = [
  "kept",
  "anna/kept",
  "../anna/kept",
  "anna%2Fkept",
  "%2e%2e/anna/kept",
  "/anna/kept"
]

const tricks: ReadonlyArray<string> = [
  "..",
  ".",
  "%2e",
  "%2e%2e",
  "%2F",
  "%5c",
  "\\",
  "//",
  "/",
  "chat",
  "kept",
  "%00",
  "%",
  "%zz",
  "%c0%af",
  ";",
  "?",
  "%3f",
  "*",
  "~",
  "%0d%0a"
]

const makers: Readonly<Record<string, (chance: Chance) => string>> = {
  "cut JSON": (chance) =>
    withBody(filled(pick(chance, posts), "x"), valid.slice(0, 1 + Math.floor(chance() * (valid.length - 1)))),
  "no JSON": (chance) => withBody("/chats/x/messages", `{${word(chance, '{}[]",:\\x00\u00ff', 40)}`),
  "deep JSON": (chance) => {
    const depth = 65 + Math.floor(chance() * 5_000)
    return withBody(filled(pick(chance, posts), "x"), `{"input":${"[".repeat(depth)}${"]".repeat(depth)}}`)
  },
  "wrong types": (chance) => {
    const field = pick(chance, ["input", "whenBusy", "id", "constructor", "role", "metadata"])
    return withBody("/chats/x/messages", JSON.stringify({ input: "Hello", [field]: pick(chance, wrong) }))
  },
  "another body": (chance) =>
    withBody(filled(pick(chance, posts), "x"), JSON.stringify(pick(chance, wrong.slice(0, 4)))),
  "another media type": (chance) =>
    withBody(filled(pick(chance, posts), "x"), valid, {
      "content-type": pick(chance, [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data",
        "application/jsonx",
        "json"
      ])
    }),
  "a body too large": (chance) =>
    withBody("/chats/x/messages", JSON.stringify({ input: "a".repeat(20_000 + Math.floor(chance() * 40_000)) })),
  "chunks too large": (chance) => {
    const chunk = `1000\r\n${"a".repeat(4_096)}\r\n`
    const all = chunk.repeat(6 + Math.floor(chance() * 8))
    return request(
      "POST",
      "/chats/x/messages",
      { "content-type": "application/json", "transfer-encoding": "chunked" },
      `${all}0\r\n\r\n`
    )
  },
  "chunks that are none": (chance) =>
    request(
      "POST",
      "/chats/x/messages",
      { "content-type": "application/json", "transfer-encoding": "chunked" },
      `${word(chance, "xyz;-", 9)}z\r\n`
    ),
  "two lengths": () =>
    request("POST", "/chats/x/messages", { "content-length": "5", "transfer-encoding": "chunked" }, "0\r\n\r\n"),
  "a foreign id": (chance) => {
    const { method, path } = pick(chance, ofChats)
    const id = pick(chance, foreign)
    const target = filled(path, chance() < 0.5 ? id : encodeURIComponent(id))
    return method === "POST"
      ? withBody(target, pick(chance, ["{}", valid, '{"type":"allow"}', '{"mode":"plan"}']))
      : request(method, target, {})
  },
  "a path": (chance) => {
    const parts = Array.from({ length: 1 + Math.floor(chance() * 6) }, () => pick(chance, tricks))
    return request("GET", pick(chance, ["/", "/chats/"]) + parts.join(pick(chance, ["/", ""])), {})
  },
  "an injection": (chance) =>
    request(
      "GET",
      `/chats/kept/events?cursor=${pick(chance, ["%0d%0aset-cookie:%20a", "%00", "turn%0a", "'--", "${x}"])}`,
      {
        authorization: "anna",
        "last-event-id": pick(chance, ["x: y", "\u0001", "' or 1=1", "0.0", "%0d%0a", "-1"])
      }
    ),
  "a split header": (chance) =>
    request("GET", "/chats/kept", {
      [pick(chance, ["x", "origin", "accept"])]: `a${pick(chance, ["\r", "\n", "\0"])}b: c`
    }),
  "a replay": (chance) =>
    pick(chance, [
      () => withBody("/chats/kept/answer", '{"input":"Oslo","toolCallId":"q1"}', { authorization: "anna" }),
      () => withBody("/chats/kept/approvals/q1", '{"type":"allow"}', { authorization: "anna" }),
      () => withBody("/chats/kept/approvals/none", '{"type":"deny"}', { authorization: "anna" }),
      () => withBody("/chats/kept/results", '{"results":{"q1":1}}', { authorization: "anna" }),
      () => withBody("/chats/kept/results", '{"results":{}}', { authorization: "anna" }),
      () => withBody("/chats/kept/messages?wait", '{"input":"Weather?","id":"m0"}', { authorization: "anna" }),
      () => withBody("/chats/kept/messages?wait", '{"input":"Other","id":"m0"}', { authorization: "anna" }),
      () => withBody("/chats/kept/tools/q1/cancel", "{}", { authorization: "anna" })
    ])(),
  "another method": (chance) =>
    request(
      pick(chance, ["PUT", "PATCH", "TRACE", "PROPFIND", "OPTIONS", "SEARCH"]),
      filled(pick(chance, everyRoute).path, "x"),
      {}
    ),
  nobody: (chance) => request("GET", filled(pick(chance, everyRoute).path, "x"), { authorization: "" }),
  "a page of another place": (chance) =>
    withBody("/chats/x/messages", valid, {
      origin: pick(chance, [
        "https://evil.example",
        "null",
        "http://127.0.0.1.evil.example",
        "file://",
        "http://127.0.0.1:1"
      ])
    }),
  "another host": (chance) =>
    request("GET", "/chats/x", {
      host: pick(chance, [
        "evil.example",
        "127.0.0.1.evil.example",
        "a/b",
        "a@127.0.0.1",
        "",
        "[::1",
        "127.0.0.1:99999"
      ])
    })
}

/** The kinds there are. */
export const kinds: ReadonlyArray<string> = Object.keys(makers)

/** One of a kind. */
export const attack = (kind: string, chance: Chance): Attack => ({ kind, bytes: makers[kind]?.(chance) ?? "" })
