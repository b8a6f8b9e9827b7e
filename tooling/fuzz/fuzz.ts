/**
 * Sends odd requests to the routes of the foreign protocols, over loopback, some of which leave in the middle.
 *
 * FUZZ1. Each request is answered in the form of its protocol, or refused with a typed 4xx error without internals.
 * FUZZ2. A conversation that no request names loses nothing, and afterwards each protocol answers as before.
 * FUZZ3. Afterwards no stream, model request, process, fiber or timer is left.
 */
import { askUser, Fake, type RunningTroupe, tool, Troupe } from "@troupe/chat"
import { System } from "@troupe/otp"
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"
import { chanceOf } from "../soak/chance.ts"
import { shot, type Shot } from "./bodies.ts"

/** How many requests are sent, and from which seed. */
export interface FuzzOptions {
  readonly requests: number
  readonly seed: number
}

/** What was found. */
export interface Fuzzed {
  /** How often each route gave each status and code. */
  readonly seen: ReadonlyMap<string, number>
  /** What is wrong, each as one line. */
  readonly wrong: ReadonlyArray<string>
}

const together = 8

/** A conversation gets so many requests before another one begins. */
const perChat = 60

/** A request without an answer in so many milliseconds is wrong. */
const mostMs = 60_000

const replies: readonly [Fake.Script, ...ReadonlyArray<Fake.Script>] = [
  [{ text: "Hel" }, { text: "lo" }, { finish: "stop" }],
  [{ text: "Hello" }, { finish: "stop" }],
  [{ toolCall: { id: "c0", name: "where" } }, { finish: "tool_calls" }],
  [{ toolCall: { id: "c0", name: "pay" } }, { toolCall: { id: "c1", name: "where" } }, { finish: "tool_calls" }],
  [{ toolCall: { id: "c0", name: "ask" } }, { finish: "tool_calls" }]
]

const tools = [
  tool({ name: "where", manual: true }),
  tool({ name: "pay", execute: () => "paid" }),
  tool({ name: "ask", execute: () => askUser("Which?") })
]

/** A request that every server answers, for each protocol. */
const plain: Readonly<Record<string, (chat: string) => object>> = {
  "/api/chat": (id) => ({ id, messages: [{ id: "u1", role: "user", parts: [{ type: "text", text: "Hi" }] }] }),
  "/ag-ui": (threadId) => ({ threadId, runId: "r", messages: [{ id: "u1", role: "user", content: "Hi" }] }),
  "/v1/chat/completions": () => ({ model: "troupe", messages: [{ role: "user", content: "Hi" }] }),
  "/v1/responses": (conversation) => ({ model: "troupe", input: "Hi", conversation })
}

/** The last data of a whole stream. */
const ends: Readonly<Record<string, RegExp>> = {
  "/api/chat": /data: \[DONE\]\n\n$/u,
  "/api/chat/:id/stream": /data: \[DONE\]\n\n$/u,
  "/ag-ui": /"type":"RUN_(?:FINISHED|ERROR)"[^\n]*\n\n$/u,
  "/v1/chat/completions": /data: \[DONE\]\n\n$/u,
  "/v1/responses": /"type":"response\.(?:completed|failed|incomplete)"[^\n]*\n\n$/u
}

/** Text of the program that a client must not see. */
const internals = /\n\s+at |\.ts:\d|node_modules/u

/** The code of a typed error; `undefined` for text without one. */
const codeIn = (text: string): string | undefined => {
  try {
    const { error } = JSON.parse(text) as { readonly error?: { readonly code?: unknown; readonly message?: unknown } }
    return typeof error?.code === "string" && typeof error.message === "string" ? error.code : undefined
  } catch {
    return undefined
  }
}

/** What is wrong with an answer; `undefined` when nothing is. */
const faultOf = ({ route }: Shot, response: Response, text: string): string | undefined => {
  if (internals.test(text)) return "shows internals"
  if (response.status === 204) return text === "" ? undefined : "has a body"
  if (response.status >= 400 && response.status < 500) return codeIn(text) === undefined ? "is not typed" : undefined
  if (response.status !== 200) return "is no refusal"
  if (response.headers.get("content-type")?.startsWith("text/event-stream") === true)
    return ends[route]?.test(text) === true ? undefined : "does not end"
  return isJson(text) ? undefined : "is not JSON"
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Sends the requests, and checks the answers and the server. */
export const fuzz = async ({ requests, seed }: FuzzOptions): Promise<Fuzzed> => {
  const chance = chanceOf(seed)
  const wrong: Array<string> = []
  const seen = new Map<string, number>()
  let calls = 0
  let isCalm = true
  const adapter = Fake.make({
    respond: () => replies[isCalm ? 0 : calls++ % replies.length] ?? replies[0]
  })
  const troupe = await Troupe.start({
    adapter,
    tools,
    permissions: { ask: ({ toolCall }) => (toolCall.name === "pay" ? "suspend" : "allow") },
    passivateAfterMs: 20
  })
  const atRest = System.stats(troupe.system)
  const server = Server.make({
    troupe,
    authorize: () => ({ owner: "anna", may: { approve: true } }),
    // A stream that is counted for ever would soon be one too many.
    limits: { requestsPerMinute: 1e9, conversations: 1e9, streams: together * 2 },
    models: { fast: { temperature: 0 } },
    onError: (error) => void wrong.push(`FUZZ1. unexpected: ${String(error)}`)
  })
  // On a busy machine the server must not close a connection that the client is about to use.
  const patient = { headersMs: 600_000, requestMs: 600_000, keepAliveMs: 600_000 }
  const { url, close } = await listen(server, { graceMs: 1_000, ...patient })
  const post = async (path: string, body: object): Promise<string> => {
    const headers = { "content-type": "application/json" }
    const response = await fetch(`${url}${path}`, { method: "POST", headers, body: JSON.stringify(body) })
    return `${response.status} ${await response.text()}`
  }
  const messages = async (): Promise<string> => (await fetch(`${url}/api/chat/kept/messages`)).text()
  const check = async (when: string): Promise<void> => {
    for (const [path, made] of Object.entries(plain)) {
      const answer = await post(path, made(`${when}${path.replaceAll("/", "-")}`))
      if (!answer.startsWith("200") || !/Hel/u.test(answer)) wrong.push(`FUZZ2. ${when}, ${path} answers ${answer}`)
    }
  }

  await check("before")
  await post("/api/chat", plain["/api/chat"]?.("kept") ?? {})
  const before = await messages()
  isCalm = false

  let ids: ReadonlyArray<string> = []
  let sent = 0
  const one = async (at: number): Promise<void> => {
    const request = shot(chance, `c${Math.floor(at / perChat)}`, ids)
    const { method, path, route, headers, body } = request
    const leaves = chance() < 0.1
    const abort = new AbortController()
    const late = setTimeout(() => abort.abort(new Error(`not within ${mostMs} ms`)), mostMs)
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers,
        signal: abort.signal,
        ...(body === undefined ? {} : { body })
      })
      if (leaves) return
      const text = await response.text()
      ids = [...ids, ...(text.match(/\b(?:resp|msg|rs|fc|call)_[\w-]+(?:\.\w+)?/gu) ?? []).slice(0, 2)].slice(-40)
      const kind = `${method} ${route} ${response.status}${response.status < 400 ? "" : ` ${codeIn(text) ?? ""}`}`
      seen.set(kind, (seen.get(kind) ?? 0) + 1)
      const fault = faultOf(request, response, text)
      if (fault === undefined) return
      wrong.push(`FUZZ1. the answer ${fault}: ${method} ${path} ${body ?? ""} → ${kind} ${text.slice(-300)}`)
    } catch (error) {
      wrong.push(`FUZZ1. no answer: ${method} ${path} ${body ?? ""} → ${String(error)}`)
    } finally {
      clearTimeout(late)
      abort.abort()
    }
  }
  await Promise.all(
    Array.from({ length: together }, async () => {
      while (sent < requests) await one(sent++)
    })
  )

  isCalm = true
  await check("after")
  if ((await messages()) !== before) wrong.push("FUZZ2. the conversation that no request names has changed")
  await deleteAll(troupe)
  await settled(() => adapter.open === 0 && same(System.stats(troupe.system), atRest))
  if (adapter.open > 0) wrong.push(`FUZZ3. ${adapter.open} model requests are left`)
  const left = System.stats(troupe.system)
  if (!same(left, atRest))
    wrong.push(`FUZZ3. of the Troupe is left ${JSON.stringify(left)}, not ${JSON.stringify(atRest)}`)
  await close()
  await troupe.stop()
  return { seen, wrong }
}

/** Cancels and deletes all conversations. A chat in which a message waits for a person stays in memory until then. */
const deleteAll = async (troupe: RunningTroupe): Promise<void> => {
  let after: string | undefined
  do {
    const { chats, next } = await troupe.list({ limit: 1_000, after })
    for (const { id } of chats) {
      await (await troupe.chat(id)).cancel()
      await troupe.delete(id)
    }
    after = next
  } while (after !== undefined)
}

const same = (one: object, other: object): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Waits until something holds, for some seconds at most. */
const settled = async (holds: () => boolean): Promise<void> => {
  for (let times = 0; times < 500 && !holds(); times++)
    await new Promise<void>((resolve) => void setTimeout(resolve, 20))
}
