import { askUser, Fake, tool } from "@troupe/chat"
import { SessionError } from "@troupe/chat/errors"
import { Codec } from "@troupe/chat/store"
import { Clock, System } from "@troupe/otp"
import { describe, expect, test, vi } from "vitest"
import * as z from "zod"
import { isErrorCode } from "../../src/errors/HttpError.ts"
import { handModel } from "../double/handModel.ts"
import { codeOf, endless, framesIn, reading, served, turn, until } from "../double/served.ts"
import type { ServerOptions } from "../../src/server/serverOptions.ts"

const events = { accept: "text/event-stream" }

const asking = () =>
  Fake.make({
    scripts: [
      [{ toolCall: { id: "q1", name: "ask", arguments: {} } }, { finish: "tool_calls" }],
      [{ text: "Noted." }, { finish: "stop" }]
    ]
  })

/** What a stream of events says, its fragments joined. */
const textOf = (text: string): string =>
  framesIn(text)
    .map(({ json }) => (json as { readonly delta?: string }).delta ?? "")
    .join("")

const failing = tool({
  name: "fail",
  execute: () => {
    throw new Error("it broke", { cause: new Error("the secret") })
  }
})

describe("a message", () => {
  test("is answered with its receipt, and is in the conversation then", async () => {
    const { ask } = await served()
    const response = await ask("POST", "/chats/c1/messages", { input: "Hello", id: "m1" })
    expect([response.status, await response.json()]).toEqual([202, { id: "m1", status: "delivered" }])
    expect(await (await ask("GET", "/chats/c1")).json()).toMatchObject({
      id: "c1",
      messages: expect.arrayContaining([expect.objectContaining({ role: "user", content: "Hello" })])
    })
  })

  test("is answered with the turn's events where the client takes those, which the Codec reads", async () => {
    const { ask } = await served()
    const response = await ask("POST", "/chats/c1/messages", { input: "Hello" }, events)
    expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8")
    const said = framesIn(await response.text()).map(({ json }) => Codec.fromJson("Event", json))
    expect(said.map(({ type }) => type).slice(0, 1)).toEqual(["message_started"])
    expect(said.at(-1)).toMatchObject({ type: "chat_completed", result: { haltedReason: "completed" } })
  })

  test("is answered with its turn's result where the client waits", async () => {
    const { ask } = await served()
    const response = await ask("POST", "/chats/c1/messages?wait", { input: "Hello" })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ status: "delivered", result: { haltedReason: "completed" } })
  })

  test("that is sent twice under one id is one message", async () => {
    const { ask } = await served()
    await ask("POST", "/chats/c1/messages?wait", { input: "Hello", id: "m1" })
    const again = await ask("POST", "/chats/c1/messages", { input: "Hello", id: "m1" })
    expect([again.status, await again.json()]).toEqual([202, { id: "m1", status: "delivered" }])
    expect(await codeOf(await ask("POST", "/chats/c1/messages?wait", { input: "Hello", id: "m1" }))).toBe(
      "409 already_delivered"
    )
    const { messages } = (await (await ask("GET", "/chats/c1")).json()) as { readonly messages: ReadonlyArray<unknown> }
    expect(messages).toHaveLength(2)
  })

  test("FOLLOWTURN1 that is said again while its turn runs or waits is answered with all of that turn, however the first is", async () => {
    const model = handModel()
    const { ask } = await served({ adapter: model.adapter })
    const say = async (id: string, headers: Readonly<Record<string, string>> = events) =>
      (await ask("POST", "/chats/c1/messages", { input: id, id }, headers)).text()
    const first = say("m1")
    await model.whenOpened(1)
    model.text("Once ")
    const again = say("m1")
    expect(await say("m1", {})).toContain("delivered")
    expect(await say("m2", {})).toContain("pending")
    const waiting = [say("m2"), say("m2")]
    // Both read before their turn begins.
    await turn()
    model.text("upon")
    model.finish("stop", "Once upon")
    await model.whenOpened(2)
    model.text("Two")
    model.finish("stop", "Two")
    const notified = await Promise.all([first, again, ...waiting])
    expect(notified.map(textOf)).toEqual(["Once upon", "Once upon", "Two", "Two"])
    expect(notified.map((text) => framesIn(text).at(-1)?.type)).toEqual(Array(4).fill("chat_completed"))
  })

  test("that is said again by a client that left is answered with all of its turn", async () => {
    const model = handModel()
    const { ask } = await served({ adapter: model.adapter })
    const say = () => ask("POST", "/chats/c1/messages", { input: "Tell", id: "m1" }, events)
    const left = reading(await say())
    model.text("Once ")
    await left.until("Once")
    await left.leave()
    const again = await say()
    model.finish("stop", "Once upon")
    expect(await again.text()).toMatch(/message_started.*Once .*chat_completed/su)
  })

  test("that is not to wait is refused while a turn runs, and a cancel ends the turn", async () => {
    const { ask } = await served({ adapter: endless() })
    const stream = reading(await ask("POST", "/chats/c1/messages", { input: "Tell" }, events))
    await stream.until("upon")
    expect(await codeOf(await ask("POST", "/chats/c1/messages", { input: "No", whenBusy: "reject" }))).toBe("409 busy")
    expect((await ask("POST", "/chats/c1/cancel", {})).status).toBe(200)
    expect(await stream.rest()).toContain('"haltedReason":"cancelled"')
  })

  test.each([
    ["", "400 invalid_json"],
    ["{", "400 invalid_json"],
    ["[".repeat(65) + "]".repeat(65), "400 invalid_json"],
    ["null", "422 invalid_input"],
    ['{"input":""}', "422 invalid_input"],
    ['{"input":"a","more":1}', "422 invalid_input"],
    ['{"input":"a","whenBusy":"later"}', "422 invalid_input"],
    ['{"input":[{"type":"text"}]}', "422 invalid_input"],
    [JSON.stringify({ input: "a".repeat(101) }), "413 message_too_long"],
    [JSON.stringify({ input: "a".repeat(1_000) }), "413 body_too_large"]
  ])("SERVE3 with the body %j is %s", async (body, code) => {
    const { ask } = await served({}, { limits: { messageCharacters: 100, bodyBytes: 500 } })
    expect(await codeOf(await ask("POST", "/chats/c1/messages", body))).toBe(code)
    expect(await codeOf(await ask("GET", "/chats/c1"))).toBe("404 unknown_chat")
  })

  test.each([
    {},
    { input: 1 },
    { input: [{ type: "text" }] },
    { input: [{ type: "image", image: "https://a.b/c.png" }] }
  ])("CONTENT3 with the body %j is refused with the shapes that the server accepts", async (body) => {
    const { ask } = await served()
    const response = await ask("POST", "/chats/c1/messages", body)
    const { error } = (await response.json()) as { error: { issues: ReadonlyArray<object> } }
    expect(error.issues).toHaveLength(1)
    for (const shape of [
      '{"type":"text","text"}',
      '{"type":"image","image":{"url"}}',
      '{"type":"file","file":{"url"},"mediaType"}'
    ]) {
      expect(error.issues[0]).toMatchObject({ field: ["input"], reason: expect.stringContaining(shape) as unknown })
    }
  })

  test("SERVE2 that is not sent as JSON is refused, as a form of another place would send it", async () => {
    const { ask } = await served()
    const response = await ask("POST", "/chats/c1/messages", '{"input":"Hello"}', { "content-type": "text/plain" })
    expect(await codeOf(response)).toBe("415 unsupported_media_type")
  })
})

describe("attached", () => {
  test("a reader gets a snapshot, then what is said, each frame with its cursor; a cursor goes on behind it", async () => {
    const { ask } = await served()
    await ask("POST", "/chats/c1/messages?wait", { input: "Hello" })
    const first = reading(await ask("GET", "/chats/c1/events"))
    const [snapshot] = framesIn(await first.until("\n\n"))
    expect(snapshot?.json).toMatchObject({ type: "snapshot", view: { id: "c1", phase: "idle" } })
    await first.leave()

    await ask("POST", "/chats/c1/messages?wait", { input: "Again" })
    const again = reading(await ask("GET", `/chats/c1/events?cursor=${snapshot?.cursor ?? ""}`))
    const missed = framesIn(await again.until("chat_completed"))
    expect(missed[0]?.type).toBe("message_started")
    expect(new Set(missed.map(({ cursor }) => cursor)).size).toBe(missed.length)

    const last = reading(
      await ask("GET", "/chats/c1/events", undefined, { "last-event-id": missed.at(-2)?.cursor ?? "" })
    )
    expect(framesIn(await last.until("chat_completed")).map(({ cursor }) => cursor)).toEqual([missed.at(-1)?.cursor])
  })

  test("a reader with a cursor that is none is refused", async () => {
    const { ask } = await served()
    await ask("POST", "/chats/c1/messages?wait", { input: "Hello" })
    expect(await codeOf(await ask("GET", "/chats/c1/events?cursor=nonsense"))).toBe("422 invalid_input")
  })

  test("FRAME4 a reader of a quiet conversation gets frames that show that the server is there", async () => {
    const clock = Clock.test()
    const system = System.make({ clock })
    const { ask } = await served({ system })
    await ask("POST", "/chats/c1/messages?wait", { input: "Hello" })
    const stream = reading(await ask("GET", "/chats/c1/events"))
    await stream.until("snapshot")
    const quiet = stream.until("\n: \n\n")
    await clock.advance(15_000)
    expect(await quiet).toContain(": ")
  })

  test("SERVE4 when the server closes, a reader gets a last frame and its stream ends; later requests are refused", async () => {
    const adapter = endless()
    const { ask, server } = await served({ adapter })
    const waits = ask("POST", "/chats/c1/messages?wait", { input: "Tell" })
    await until(() => adapter.open === 1)
    const stream = reading(await ask("POST", "/chats/c2/messages", { input: "Tell" }, events))
    await stream.until("upon")
    await server.close()
    expect(framesIn(await stream.rest()).at(-1)?.type).toBe("closing")
    expect(await codeOf(await waits)).toBe("503 closing")
    expect(await codeOf(await ask("GET", "/chats/c1"))).toBe("503 closing")
  })
})

describe("a question, a call that waits, results", () => {
  test("an answer goes to the question that is asked, once", async () => {
    const asks = tool({ name: "ask", execute: () => askUser("Which city?") })
    const server = await served({ adapter: asking(), tools: [asks] })
    await server.ask("POST", "/chats/c1/messages?wait", { input: "Weather?" })
    const body = { input: "Oslo", toolCallId: "q1" }
    expect(await codeOf(await server.ask("POST", "/chats/c1/answer", { ...body, toolCallId: "q2" }))).toBe(
      "409 no_question"
    )
    const response = await server.ask("POST", "/chats/c1/answer?wait", body)
    expect(await response.json()).toMatchObject({ result: { haltedReason: "completed" } })
    expect(await codeOf(await server.ask("POST", "/chats/c1/answer", body))).toBe("409 no_question")
  })

  test("OPT2 a decision about a call counts once; an unknown kind and an unknown field are refused", async () => {
    const runs: Array<unknown> = []
    const pay = tool({
      name: "ask",
      parameters: z.object({}),
      execute: () => {
        runs.push("paid")
        return "paid"
      }
    })
    const server = await served({
      adapter: asking(),
      tools: [pay],
      permissions: { ask: () => ({ type: "suspend" }) }
    })
    await server.ask("POST", "/chats/c1/messages?wait", { input: "Pay" })
    expect(await codeOf(await server.ask("POST", "/chats/c1/approvals/q9", { type: "allow" }))).toBe(
      "409 unknown_tool_call_id"
    )
    expect(await codeOf(await server.ask("POST", "/chats/c1/approvals/q1", { type: "perhaps" }))).toBe(
      "422 invalid_input"
    )
    const unknown = await server.ask("POST", "/chats/c1/approvals/q1", { approved: true })
    expect(await unknown.text()).toContain(String.raw`must be one of \"allow\", \"deny\", \"halt\", \"result\"`)
    const renewed = await server.ask("POST", "/chats/c1/approvals/q1", { type: "allow", renew: true })
    expect(renewed.status).toBe(422)
    expect(await renewed.text()).toContain(String.raw`has the unknown field \"renew\"`)
    expect((await server.ask("POST", "/chats/c1/approvals/q1?wait", { type: "allow" })).status).toBe(200)
    expect(await codeOf(await server.ask("POST", "/chats/c1/approvals/q1", { type: "allow" }))).toMatch(/^409 /u)
    expect(runs).toEqual(["paid"])
  })

  test("results are taken for the calls that wait, once", async () => {
    const manual = tool({ name: "ask", parameters: z.object({}), manual: true })
    const server = await served({ adapter: asking(), tools: [manual] })
    await server.ask("POST", "/chats/c1/messages?wait", { input: "Go" })
    const results = { results: { q1: { done: true } } }
    expect((await server.ask("POST", "/chats/c1/results?wait", results)).status).toBe(200)
    expect(await codeOf(await server.ask("POST", "/chats/c1/results", results))).toMatch(/^409 /u)
  })
})

describe("an error", () => {
  test("SERVE3 of every reason of a chat has that reason as its code", () => {
    expect(SessionError.reasons.filter((reason) => !isErrorCode(reason))).toEqual([])
  })

  test("SERVE3 in a conversation is sent without stack, cause and metadata", async () => {
    const adapter = Fake.make({
      scripts: [
        [{ toolCall: { id: "f1", name: "fail", arguments: {} } }, { finish: "tool_calls" }],
        [{ text: "Sorry." }, { finish: "stop" }]
      ]
    })
    const { ask } = await served({ adapter, tools: [failing] })
    const text = await (await ask("POST", "/chats/c1/messages", { input: "Go" }, events)).text()
    expect(text).toContain("handler_raised")
    expect(text).not.toMatch(/the secret|\.ts:\d|"stack"/u)
  })

  test("SERVE3 that nobody expects is a 500 with an id, and onError is called", async () => {
    const fault = new Error("the secret")
    const { ask, errors } = await served({}, { authorize: () => Promise.reject(fault) })
    const response = await ask("GET", "/chats/c1")
    const text = await response.text()
    expect([response.status, errors]).toEqual([500, [fault]])
    expect(text).toMatch(/"id":"[\da-f-]{36}"/u)
    expect(text).not.toContain("secret")
  })

  test("SERVE3 without onError it is one report, with the id that the client got", async () => {
    const reports: Array<System.Report> = []
    const { ask, troupe } = await served(
      { logger: (report) => void reports.push(report) },
      { authorize: () => Promise.reject(new Error("the secret")), onError: undefined }
    )
    const { error } = (await (await ask("GET", "/chats/c1")).json()) as { readonly error: { readonly id: string } }
    await ask("GET", "/nowhere")
    await troupe.stop()
    expect(reports).toMatchObject([
      {
        message: expect.stringContaining(`GET /chats/c1 failed with the id ${error.id}: Error: the secret (at `),
        attributes: { id: error.id, method: "GET", path: "/chats/c1" }
      }
    ])
  })

  test("SERVE3 without onError a refusal is no report", async () => {
    const reports: Array<System.Report> = []
    const { ask } = await served({ logger: (report) => void reports.push(report) }, { onError: undefined })
    const answers = [ask("GET", "/chats/c1"), ask("POST", "/chats/c1/messages", {}), ask("GET", "/nowhere")]
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([404, 422, 404])
    expect(reports).toEqual([])
  })

  test("SERVE3 of an onError that fails later, the report has both errors, and the answer is the same", async () => {
    const lines: Array<string> = []
    const { ask } = await served(
      { logger: ({ message }) => void lines.push(message) },
      { authorize: () => Promise.reject(new Error("no")), onError: () => Promise.reject(new Error("nor here")) }
    )
    expect((await ask("GET", "/chats/c1")).status).toBe(500)
    await vi.waitFor(() => expect(lines).toHaveLength(2))
    expect(lines).toEqual([
      expect.stringMatching(/^GET \/chats\/c1 failed with the id \S+: Error: no/),
      expect.stringMatching(/^onError of the server failed with the id \S+: Error: nor here/)
    ])
  })
})

describe("a path", () => {
  test.each([
    ["GET", "/", "404 not_found"],
    ["GET", "/nothing", "404 not_found"],
    ["GET", "//chats/c1", "404 not_found"],
    ["GET", "/chats//events", "400 invalid_id"],
    ["GET", "/chats/%00", "400 invalid_id"],
    ["GET", "/chats/%0d%0aset-cookie:a", "400 invalid_id"],
    ["GET", `/chats/${"a".repeat(257)}`, "400 invalid_id"],
    ["GET", "/chats/%E0%A4%A", "400 invalid_path"],
    ["GET", "/chats/a%2Fb", "404 unknown_chat"],
    ["GET", "/chats/..%2Fb", "404 unknown_chat"],
    ["GET", "/chats/%252e%252e", "404 unknown_chat"],
    ["HEAD", "/chats/c1", "405 "],
    ["DELETE", "/chats/c1/messages", "405 method_not_allowed"],
    ["PATCH", "/chats/c1", "405 method_not_allowed"]
  ])("%s %s is %s", async (method, path, code) => {
    const { ask } = await served()
    const response = await ask(method, path)
    expect(method === "HEAD" ? `${response.status} ` : await codeOf(response)).toBe(code)
  })

  test("that has another method says which", async () => {
    const { ask } = await served()
    expect((await ask("GET", "/chats/c1/messages")).headers.get("allow")).toBe("POST")
  })

  test("that cannot answer in what the client takes is a 406", async () => {
    const { ask } = await served()
    expect(await codeOf(await ask("GET", "/chats/c1", undefined, { accept: "text/html" }))).toBe("406 not_acceptable")
    expect(await codeOf(await ask("GET", "/chats/c1", undefined, { accept: "text/html, */*;q=0.1" }))).toBe(
      "404 unknown_chat"
    )
  })

  test("stands behind the base path, and nowhere else", async () => {
    const { ask } = await served({}, { basePath: "/api" })
    expect(await codeOf(await ask("GET", "/api/chats/c1"))).toBe("404 unknown_chat")
    expect(await codeOf(await ask("GET", "/apichats/c1"))).toBe("404 not_found")
    expect(await codeOf(await ask("GET", "/chats/c1"))).toBe("404 not_found")
  })
})

describe("SERVE1 a conversation", () => {
  test("is there for its owner, and for nobody else, whatever they call it", async () => {
    const { ask, troupe } = await served()
    await ask("POST", "/chats/c1/messages?wait", { input: "Hello" })
    expect((await ask("GET", "/chats/c1")).status).toBe(200)
    for (const id of ["c1", "anna/c1", "../anna/c1", "%61nna/c1"]) {
      const path = `/chats/${encodeURIComponent(id)}`
      expect(await codeOf(await ask("GET", path, undefined, { authorization: "ben" }))).toBe("404 unknown_chat")
      expect(await codeOf(await ask("POST", `${path}/cancel`, {}, { authorization: "ben" }))).toBe("404 unknown_chat")
    }
    expect(await troupe.has("anna/c1")).toBe(true)
  })

  test("has the id that chatId makes", async () => {
    const { ask, troupe } = await served({}, { chatId: (owner, id) => `tenant:${owner}:${id}` })
    await ask("POST", "/chats/c1/messages?wait", { input: "Hello" })
    expect(await troupe.has("tenant:anna:c1")).toBe(true)
  })
})

describe("SERVE2 who asks", () => {
  test("is let in only if authorize names an owner", async () => {
    const { server } = await served()
    const response = await server.fetch(new Request("http://localhost/chats/c1"))
    expect(response.headers.get("www-authenticate")).toBe("Bearer")
    expect(await codeOf(response)).toBe("401 unauthorized")
  })

  test("without the right gets a refusal that says so", async () => {
    const { ask } = await served({}, { authorize: () => ({ deny: 403 }) })
    expect(await codeOf(await ask("GET", "/chats/c1"))).toBe("403 forbidden")
  })
})

/** Options as a program without types may give them. */
const wrong = (options: object): Partial<ServerOptions> => options

test.each<[Partial<ServerOptions>, ReadonlyArray<string | number>]>([
  [{ limits: { streams: 0 } }, ["limits", "streams"]],
  [{ limits: { bodyBytes: Number.NaN } }, ["limits", "bodyBytes"]],
  [wrong({ limits: { streams: "5" } }), ["limits", "streams"]],
  [wrong({ limits: "5" }), ["limits"]],
  [wrong({ limits: null }), ["limits"]],
  [wrong({ origins: "https://app.example.com" }), ["origins"]],
  [wrong({ origins: [5] }), ["origins", 0]],
  [wrong({ hosts: "localhost" }), ["hosts"]],
  [wrong({ hosts: [["localhost"]] }), ["hosts", 0]],
  [wrong({ basePath: 5 }), ["basePath"]],
  [{ origins: ["https://app.example.com/"] }, ["origins", 0]],
  [{ origins: ["*"] }, ["origins", 0]],
  [{ hosts: ["localhost:80"] }, ["hosts", 0]],
  [{ basePath: "/api/" }, ["basePath"]],
  [{ basePath: "api" }, ["basePath"]],
  [{ onDisconnect: "stop" as never }, ["onDisconnect"]],
  [{ models: { fast: { modle: "small" } as never } }, ["models", "fast", "modle"]],
  [{ requestsPerMinute: 1 } as never, ["requestsPerMinute"]],
  [{ onError: 5 as never }, ["onError"]],
  [{ troupe: {} as never }, ["troupe"]]
])("options that cannot be meant are refused: %j", async (options, field) => {
  await expect(served({}, options)).rejects.toMatchObject({ reason: "invalid_options", errors: [{ field }] })
})

test.each([
  [{ autorize: () => ({ owner: "anna" }) } as never, "autorize: unknown; did you mean authorize?"],
  [{ limits: { requestPerMinute: 1 } } as never, "limits.requestPerMinute: unknown; did you mean requestsPerMinute?"],
  [{ posts: { stales: "follow" } } as never, "posts.stales: unknown; did you mean stale?"],
  [{ posts: { zzz: "follow" } } as never, "posts.zzz: unknown; use stale, calls, approvals, history"],
  [{ models: { fast: { modle: "small" } } } as never, "models.fast.modle: unknown"]
])("OPT1 the refusal of a misspelt option names the option that it resembles: %j", async (options, message) => {
  await expect(served({}, options)).rejects.toThrow(message)
})
