/**
 * Sends odd requests to the routes of the foreign protocols, over loopback, some of which leave in the middle.
 *
 * LAB24. Each request is answered in the form of its protocol, or refused with a typed 4xx error without internals.
 * LAB25. A conversation that no request names loses nothing, and afterwards each protocol answers as before.
 */
import { askUser, Fake, tool, Troupe } from "@troupe/chat"
import { System } from "@troupe/otp"
import { listen } from "@troupe/server/Node"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { unlimited } from "../../bench/work/served.ts"
import { chanceOf } from "../chance.ts"
import { Counts, wrongLeft } from "../check/counts.ts"
import { idsOf } from "../check/kept.ts"
import { until } from "../delays.ts"
import { bodyFor, plain, replies, shot, type Shot } from "./bodies.ts"

const together = 8

/** A conversation gets so many requests before another one begins. */
const perChat = 60

/** A request without an answer in so many milliseconds is wrong. */
const mostMs = 60_000

const tools = [
  tool({ name: "where", manual: true }),
  tool({ name: "pay", execute: () => "paid" }),
  tool({ name: "ask", execute: () => askUser("Which?") })
]

/** The last data of a whole stream. */
const done = /data: \[DONE\]\n\n$/u
const ends: Readonly<Record<string, RegExp>> = {
  "/api/chat": done,
  "/api/chat/:id/stream": done,
  "/ag-ui": /"type":"RUN_(?:FINISHED|ERROR)"[^\n]*\n\n$/u,
  "/v1/chat/completions": done,
  "/v1/responses": /"type":"response\.(?:completed|failed|incomplete)"[^\n]*\n\n$/u
}

/** Text of the program that a client must not see. */
const internals = /\n\s+at |\.ts:\d|node_modules/u

const json = Schema.decodeUnknownOption(Schema.fromJsonString(Schema.Unknown))
const typed = Schema.Struct({ error: Schema.Struct({ code: Schema.String, message: Schema.String }) })
const refusal = Schema.decodeUnknownOption(Schema.fromJsonString(typed))

/** The code of a typed error; `undefined` for text without one. */
const codeIn = (text: string): string | undefined => Option.getOrUndefined(refusal(text))?.error.code

/** LAB24: what is wrong with an answer; `undefined` when nothing is. */
export const faultOf = (route: string, response: Response, text: string): string | undefined => {
  if (internals.test(text)) return "shows internals"
  if (response.status === 204) return text === "" ? undefined : "has a body"
  if (response.status >= 400 && response.status < 500) return codeIn(text) === undefined ? "is not typed" : undefined
  if (response.status !== 200) return "is no refusal"
  if (response.headers.get("content-type")?.startsWith("text/event-stream") === true)
    return ends[route]?.test(text) === true ? undefined : "does not end"
  return Option.isNone(json(text)) ? "is not JSON" : undefined
}

/** LAB25: what a protocol answers to a plain request. */
export const wrongAnswer = (path: string, answer: string): ReadonlyArray<string> =>
  /^200 [^]*Hel/u.test(answer) ? [] : [`LAB25: ${path} answers ${answer}`]

/** LAB25: the messages of the conversation that no request names. */
export const wrongMessages = (before: string, after: string): ReadonlyArray<string> =>
  before === after ? [] : [`LAB25: the conversation that no request names has changed to ${after.slice(0, 300)}`]

/** Sends so many requests from a seed, and checks the answers and the server. `seen`: how often each route gave each code. */
export const fuzz = async (requests: number, seed: number) => {
  const chance = chanceOf(seed)
  const wrong: Array<string> = []
  const seen = new Counts()
  let calls = 0
  let isCalm = true
  const adapter = Fake.make({ respond: () => replies[isCalm ? 0 : calls++ % replies.length] ?? [] })
  const troupe = await Troupe.start({
    adapter,
    tools,
    permissions: { ask: ({ toolCall }) => (toolCall.name === "pay" ? "suspend" : "allow") },
    passivateAfterMs: 20
  })
  const atRest = System.stats(troupe.system)
  const server = unlimited({
    troupe,
    // A stream that is counted for ever would soon be one too many.
    limits: { streams: together * 2 },
    models: { fast: { temperature: 0 } },
    onError: (error) => void wrong.push(`LAB24: unexpected: ${String(error)}`)
  })
  // On a busy machine the server must not close a connection that the client is about to use.
  const patient = { headersMs: 600_000, requestMs: 600_000, keepAliveMs: 600_000 }
  const { url, close } = await listen(server, { graceMs: 1_000, ...patient })
  /** Sends a request that every server answers. */
  const post = async (path: string, chat: string): Promise<string> => {
    const headers = { "content-type": "application/json" }
    const body = JSON.stringify(bodyFor(chat, plain[path]))
    const response = await fetch(`${url}${path}`, { method: "POST", headers, body })
    return `${response.status} ${await response.text()}`
  }
  const messages = async (): Promise<string> => (await fetch(`${url}/api/chat/kept/messages`)).text()
  const check = async (when: string): Promise<void> => {
    for (const path of Object.keys(plain))
      wrong.push(...wrongAnswer(`${when}, ${path}`, await post(path, `${when}${path.replaceAll("/", "-")}`)))
  }

  await check("before")
  await post("/api/chat", "kept")
  const before = await messages()
  isCalm = false

  let ids: ReadonlyArray<string> = []
  const send = async ({ method, path, route, headers, body }: Shot, leaves: boolean): Promise<void> => {
    const abort = new AbortController()
    const signal = AbortSignal.any([abort.signal, AbortSignal.timeout(mostMs)])
    const request = `${method} ${path} ${body ?? ""}`
    try {
      const response = await fetch(`${url}${path}`, { method, headers, signal, body: body ?? null })
      if (leaves) return
      const text = await response.text()
      ids = [...ids, ...(text.match(/\b(?:resp|msg|rs|fc|call)_[\w-]+(?:\.\w+)?/gu) ?? []).slice(0, 2)].slice(-40)
      const kind = `${method} ${route} ${response.status}${response.status < 400 ? "" : ` ${codeIn(text) ?? ""}`}`
      seen.add(kind)
      const fault = faultOf(route, response, text)
      if (fault !== undefined) wrong.push(`LAB24: the answer ${fault}: ${request} → ${kind} ${text.slice(-300)}`)
    } catch (error) {
      wrong.push(`LAB24: no answer: ${request} → ${String(error)}`)
    } finally {
      abort.abort()
    }
  }
  let sent = 0
  await Promise.all(
    Array.from({ length: together }, async () => {
      while (sent < requests) await send(shot(chance, `c${Math.floor(sent++ / perChat)}`, ids), chance() < 0.1)
    })
  )

  isCalm = true
  await check("after")
  wrong.push(...wrongMessages(before, await messages()))
  // A chat in which a message waits for a person stays in memory until it is deleted.
  for await (const id of idsOf((after) => troupe.list({ limit: 1_000, after }))) {
    await (await troupe.chat(id)).cancel()
    await troupe.delete(id)
  }
  const left = (): Readonly<Record<string, number>> => ({
    "model requests": adapter.open,
    ...Object.fromEntries(
      Object.entries(System.stats(troupe.system)).map(([name, count]) => [name, count - Reflect.get(atRest, name)])
    )
  })
  await until(() => wrongLeft(left()).length === 0, 10_000, 20)
  wrong.push(...wrongLeft(left()))
  await close()
  await troupe.stop()
  return { seen, wrong }
}
