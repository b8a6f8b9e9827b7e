import { askUser, Fake, tool } from "@troupe/chat"
import { expect, onTestFinished, test } from "vitest"
import { seedsOf } from "../../../../tooling/verify/volume.ts"
import * as Node from "../../src/node/Node.ts"
import { attack, type Attack, kinds, seeded } from "../double/attacks.ts"
import { served } from "../double/served.ts"
import { connected, everything, exchanged } from "../double/sockets.ts"

/** Each round is one request of each kind. */
const rounds = 160
const together = 16

const scripts: ReadonlyArray<Fake.Script> = [
  [{ toolCall: { id: "q1", name: "ask", arguments: {} } }, { finish: "tool_calls" }],
  [{ text: "Noted." }, { finish: "stop" }]
]

/** What they are refused for, as far as each kind gets. */
const refusals: Array<string> = [
  "already_delivered",
  "body_too_large",
  "host_refused",
  "invalid_host",
  "invalid_id",
  "invalid_input",
  "invalid_json",
  "invalid_path",
  "malformed_request",
  "method_not_allowed",
  "no_question",
  "not_found",
  "origin_refused",
  "tool_call_not_running",
  "unauthorized",
  "unknown_chat",
  "unknown_tool_call_id",
  "unsupported_media_type"
]

test("SERVE3 thousands of requests that mean harm get typed refusals, and a conversation that was there loses nothing", async () => {
  const asks = tool({ name: "ask", execute: () => askUser("Which city?") })
  const adapter = Fake.make({ respond: (_, call) => scripts[call] ?? scripts[1] ?? [] })
  const { server, ask, errors, troupe } = await served(
    { adapter, tools: [asks] },
    {
      authorize: ({ headers }) => {
        const owner = headers.get("authorization")
        return owner === null || owner === "" ? { deny: 401 } : { owner }
      },
      limits: { bodyBytes: 16_384, requestsPerMinute: 1_000_000, streams: 2 }
    }
  )
  const node = await Node.listen(server, { headersMs: 300, requestMs: 300 })
  onTestFinished(node.close)
  await ask("POST", "/chats/kept/messages?wait", { input: "Weather?", id: "m0" })
  await ask("POST", "/chats/kept/answer?wait", { input: "Oslo", toolCallId: "q1" })
  const before = await (await ask("GET", "/chats/kept")).json()

  const slow = await Promise.all(Array.from({ length: 50 }, () => connected(node.url)))
  const cut = slow.map(everything)
  for (const socket of slow) socket.write("POST /chats/x/messages HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 9\r\n")

  const seen = new Set<string | undefined>()
  const odd: Array<unknown> = []
  const judged = async ({ kind, bytes }: Attack): Promise<void> => {
    const came = await exchanged(node.url, bytes)
    const [head = "", body = ""] = came.split("\r\n\r\n")
    seen.add(/"code":"(?<code>\w+)"/u.exec(body)?.groups?.["code"])
    const isTyped = /^HTTP\/1\.1 4\d\d /u.test(head) && /"error":\{[^}]*"code":"\w+"/u.test(body)
    if (!isTyped || /\n\s+at |\.ts:\d|node_modules/u.test(came))
      odd.push({ kind, bytes: bytes.slice(0, 300), came: came.slice(0, 300) })
  }
  const queue = seedsOf(rounds).flatMap((seed) => {
    const chance = seeded(seed)
    return kinds.map((kind) => attack(kind, chance))
  })
  // Few of the random ids are invalid.
  queue.push({
    kind: "an invalid id",
    bytes: "GET /chats/%01 HTTP/1.1\r\nhost: 127.0.0.1\r\nconnection: close\r\nauthorization: mallory\r\n\r\n"
  })
  await Promise.all(
    Array.from({ length: together }, async () => {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) await judged(next)
    })
  )
  expect(odd.slice(0, 5)).toEqual([])
  expect(errors).toEqual([])
  expect(refusals.filter((code) => !seen.has(code))).toEqual([])
  for (const text of await Promise.all(cut)) expect(text).toContain('"code":"request_timeout"')

  expect(await (await ask("GET", "/chats/kept")).json()).toEqual(before)
  expect(await troupe.has("mallory/kept")).toBe(false)
  const after = await ask("POST", "/chats/kept/messages?wait", { input: "Still there?" })
  expect(await after.json()).toMatchObject({ result: { haltedReason: "completed" } })
})
