import { Fake, Troupe } from "@troupe/chat"
import { ChatView } from "@troupe/chat/view"
import { describe, expect, test } from "vitest"
import * as Client from "../../src/client/Client.ts"
import { local } from "../../src/link/Local.ts"
import { linked, until, watched } from "../double/linked.ts"

const hi = Fake.make({ script: [{ text: "Hi " }, { text: "there" }, { finish: "stop" }] })

const innerId = "anna/c1"

describe("a chat behind a server", () => {
  test("is shown as it is", async () => {
    const { link, troupe } = await linked(hi)
    const chat = link.chat("c1")
    expect(chat.getState()).toMatchObject({ status: "connecting", view: { messages: [] } })
    watched(chat)
    await chat.send("Hello")
    await until(() => chat.getState().view.messages.length === 2)
    await until(() => chat.getState().view.phase === "idle")
    const ref = await troupe.chat(innerId)
    expect(chat.getState()).toEqual({
      status: "open",
      error: undefined,
      view: ChatView.of("c1", ref.getSnapshot())
    })
  })

  test("sends a message of parts, as a link of the program does", async () => {
    const { link, troupe } = await linked(hi)
    const parts = () => [
      { type: "text" as const, text: "What is this?" },
      { type: "image" as const, image: { url: "https://example.org/a.png" } }
    ]
    await link.chat("c1").send(parts())
    await local(troupe).chat(innerId).send(parts())
    const ref = await troupe.chat(innerId)
    await until(() => ref.thread.messages.length === 4)
    expect(ref.thread.messages.filter(({ role }) => role === "user").map(({ content }) => content)).toEqual([
      parts(),
      parts()
    ])
  })

  test("RCHAT1 has a stream while somebody is subscribed, and only then", async () => {
    const { link, streams, asked } = await linked(hi)
    const chat = link.chat("c1")
    expect(asked).toEqual([])
    const first = watched(chat)
    const second = watched(chat)
    await until(() => chat.getState().status === "open")
    expect(streams.map(({ path }) => path)).toEqual(["/chats/c1/view"])
    first.leave()
    first.leave()
    expect(streams[0]?.isOver()).toBe(false)
    second.leave()
    await until(() => streams[0]?.isOver() === true)
    const third = watched(chat)
    await until(() => streams.length === 2 && chat.getState().status === "open")
    third.leave()
  })

  test("RCHAT1 leaves no request that is under way", async () => {
    const { link, streams, clock } = await linked(hi)
    const { leave, states } = watched(link.chat("c1"))
    leave()
    await until(() => streams.every((stream) => stream.isOver()))
    for (let hop = 0; hop < 50; hop++) await until(() => true)
    expect(states).toEqual([])
    expect(clock.pending).toBe(0)
  })

  test("RCHAT2 has the same state until something changed", async () => {
    const { link } = await linked(hi)
    const chat = link.chat("c1")
    const { states } = watched(chat)
    await until(() => chat.getState().status === "open")
    expect(chat.getState()).toBe(chat.getState())
    await chat.send("Hello")
    await until(() => chat.getState().view.phase === "idle" && chat.getState().view.messages.length === 2)
    for (const [index, state] of states.entries()) expect(state).not.toBe(states[index - 1])
    const [first] = chat.getState().view.messages
    await chat.send("Again")
    await until(() => chat.getState().view.messages.length === 4)
    expect(chat.getState().view.messages[0]).toBe(first)
  })

  test("RCHAT3 that was stopped is closed, and followed again when something is said to it", async () => {
    const { link, troupe } = await linked(hi)
    const chat = link.chat("c1")
    watched(chat)
    await until(() => chat.getState().status === "open")
    await (await troupe.chat(innerId)).stop()
    await until(() => chat.getState().status === "closed")
    expect(chat.getState().error).toMatchObject({ _tag: "HttpError", code: "chat_stopped" })
    await chat.send("Hello")
    await until(() => chat.getState().status === "open" && chat.getState().view.messages.length === 2)
  })

  test("is the same link for the same id", async () => {
    const { link } = await linked(hi)
    expect(link.chat("c1")).toBe(link.chat("c1"))
    expect(link.chat("c1")).not.toBe(link.chat("c2"))
  })
})

describe("a stream that is cut", () => {
  test("FOLLOW1 is opened again, and shows what was missed", async () => {
    const { link, streams, clock } = await linked(hi)
    const chat = link.chat("c1")
    watched(chat)
    await until(() => chat.getState().status === "open")
    streams[0]?.cut()
    await until(() => chat.getState().status === "reconnecting")
    expect(chat.getState().error).toBeInstanceOf(Error)
    await chat.send("Hello")
    await clock.advance(250)
    await until(() => chat.getState().status === "open")
    await until(() => chat.getState().view.messages.length === 2)
    expect(chat.getState().error).toBeUndefined()
  })

  test("FOLLOW4 because its chat left is opened again, and shows the next start", async () => {
    const { link, troupe, clock } = await linked(
      Fake.make({ script: [{ text: "Once " }, { text: "upon" }, { hang: true }] })
    )
    const chat = link.chat("c1")
    const { states } = watched(chat)
    await chat.send("Tell")
    await until(() => chat.getState().view.partial.text === "Once upon")
    const ref = await troupe.chat(innerId)
    const before = states.length
    await ref.leave()
    await until(() => chat.getState().status === "reconnecting")
    expect(chat.getState().view).toMatchObject({ phase: "streaming", partial: { text: "Once upon" } })
    await clock.advance(250)
    await until(() => chat.getState().status === "open")
    expect(chat.getState()).toMatchObject({
      error: undefined,
      view: { phase: "interrupted", partial: { text: "Once upon" } }
    })
    expect(states.slice(before).map(({ status }) => status)).not.toContain("closed")
  })

  test("FOLLOW1 is tried less and less often, up to a bound, and at once again after it was open", async () => {
    const { link, streams, clock, asked, down } = await linked(hi)
    const chat = link.chat("c1")
    watched(chat)
    await until(() => chat.getState().status === "open")
    down(true)
    streams[0]?.cut()
    const pauses: Array<number> = []
    for (let tries = 0; tries < 8; tries++) {
      const before = asked.length
      await until(() => clock.pending === 1)
      const from = clock.now()
      while (asked.length === before) {
        await clock.advance(250)
        await until(() => clock.pending === 1)
      }
      pauses.push(clock.now() - from)
    }
    expect(pauses).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 10_000, 10_000])
    down(false)
    await clock.advance(10_000)
    await until(() => chat.getState().status === "open")
    streams.at(-1)?.cut()
    await until(() => chat.getState().status === "reconnecting")
    await clock.advance(250)
    await until(() => chat.getState().status === "open")
  })

  test("FOLLOW1 is one that says nothing for longer than a server is silent", async () => {
    const { link, streams, clock } = await linked(hi)
    const chat = link.chat("c1")
    watched(chat)
    await until(() => chat.getState().status === "open")
    await clock.advance(45_000)
    await until(() => chat.getState().status === "reconnecting")
    expect(streams[0]?.isOver()).toBe(true)
    await clock.advance(250)
    await until(() => streams.length === 2 && chat.getState().status === "open")
  })

  test("FOLLOW1 by a server that closes is opened again", async () => {
    const { link, server } = await linked(hi)
    const chat = link.chat("c1")
    watched(chat)
    await until(() => chat.getState().status === "open")
    await server.close()
    await until(() => chat.getState().status === "reconnecting")
    expect(chat.getState().error).toBeInstanceOf(Client.ConnectionError)
  })

  test("FOLLOW3 and left has neither connection nor timer", async () => {
    const { link, streams, clock, down } = await linked(hi)
    const chat = link.chat("c1")
    const { leave, states } = watched(chat)
    await until(() => chat.getState().status === "open")
    down(true)
    streams[0]?.cut()
    await until(() => clock.pending === 1)
    leave()
    const notified = states.length
    await until(() => clock.pending === 0)
    await clock.advance(60_000)
    expect(states.length).toBe(notified)
  })
})

describe("a refusal", () => {
  test("FOLLOW2 that will not change closes the link, with the server's own error", async () => {
    const { link, asked, clock } = await linked(hi, { authorize: () => ({ deny: 401 }) })
    const chat = link.chat("c1")
    watched(chat)
    await until(() => chat.getState().status === "closed")
    expect(chat.getState().error).toMatchObject({ _tag: "HttpError", code: "unauthorized", status: 401 })
    expect(clock.pending).toBe(0)
    expect(asked).toEqual(["GET /chats/c1/view"])
  })

  test("FOLLOW1 for a while is waited for, as long as it says", async () => {
    const { link, clock } = await linked(hi, { limits: { streams: 1 } })
    const first = watched(link.chat("c1"))
    await until(() => link.chat("c1").getState().status === "open")
    const chat = link.chat("c2")
    watched(chat)
    await until(() => chat.getState().status === "reconnecting")
    expect(chat.getState().error).toMatchObject({ code: "too_many_streams" })
    first.leave()
    await clock.advance(1_000)
    await until(() => chat.getState().status === "open")
  })

  test("REMOTE1 rejects what was said with the server's own error", async () => {
    const { link } = await linked(hi)
    await expect(link.chat("c1").retry()).rejects.toMatchObject({ _tag: "HttpError", code: "unknown_chat" })
    await link.chat("c1").send("Hello", { id: "m1" })
    const unknown = link.chat("c1").submitToolResults({ t1: 1 })
    await expect(unknown).rejects.toBeInstanceOf(Client.HttpError)
    await expect(unknown).rejects.toMatchObject({ code: "unknown_tool_call_id", status: 409 })
    await expect(link.chat("..").send("Hello")).rejects.toMatchObject({ code: "invalid_id" })
    for (const id of [".", "..", "\ud800", ""]) {
      const refusal = { code: "invalid_input", issues: [{ field: ["toolCallId"] }] }
      await expect(link.chat("c1").approve(id, { type: "allow" })).rejects.toMatchObject(refusal)
      await expect(link.chat("c1").cancelToolCall(id)).rejects.toMatchObject(refusal)
      await expect(link.chat("c1").restartToolCall(id)).rejects.toMatchObject(refusal)
    }
  })

  test("REMOTE1 that is none of the server's, and no answer, are connection errors", async () => {
    const { link, down } = await linked(hi)
    down(true)
    await expect(link.chat("c1").send("Hello")).rejects.toBeInstanceOf(Client.ConnectionError)
    const proxy = Client.connect({
      url: "http://localhost",
      fetch: async () => new Response("<h1>Bad gateway</h1>", { status: 502 })
    })
    await expect(proxy.chat("c1").send("Hello")).rejects.toMatchObject({ _tag: "ConnectionError", status: 502 })
    const garbled = Client.connect({ url: "http://localhost", fetch: async () => new Response("{") })
    await expect(garbled.chat("c1").cancel()).rejects.toBeInstanceOf(Client.ConnectionError)
  })

  test("FOLLOW2 of an id that is none closes the link, and nothing is asked", async () => {
    const { link, asked } = await linked(hi)
    const chat = link.chat("..")
    watched(chat)
    expect(chat.getState()).toMatchObject({ status: "closed", error: { code: "invalid_id" } })
    expect(asked).toEqual([])
  })
})

test("every verb reaches the chat", async () => {
  const asking = Fake.make({ scripts: [] })
  const { link, asked } = await linked(asking)
  const chat = link.chat("c1")
  const path = (rest: string) => `POST /chats/c1${rest}`
  await Promise.allSettled([
    chat.send("Hello", { whenBusy: "steer", id: "m1" }),
    chat.cancel(),
    chat.retry(),
    chat.resume(),
    chat.approve("a/b", { type: "allow" }),
    chat.submitToolResults({ t1: 1 }),
    chat.cancelToolCall("t1"),
    chat.restartToolCall("t1"),
    chat.setPermissionMode("plan"),
    chat.fork({ at: 1 }),
    chat.rewind(1)
  ])
  expect(asked.toSorted()).toEqual(
    [
      path("/messages"),
      path("/cancel"),
      path("/retry"),
      path("/resume"),
      path("/approvals/a%2Fb"),
      path("/results"),
      path("/tools/t1/cancel"),
      path("/tools/t1/restart"),
      path("/mode"),
      path("/fork"),
      path("/rewind")
    ].toSorted()
  )
})

test("headers are asked for with each request", async () => {
  let token = 0
  const troupe = await Troupe.start({ adapter: hi })
  const seen: Array<string | null> = []
  const link = Client.connect({
    url: "http://localhost",
    headers: () => ({ authorization: `Bearer ${++token}` }),
    fetch: async (_, init) => {
      seen.push(new Headers(init.headers).get("authorization"))
      return Response.json({})
    }
  })
  await link.chat("c1").cancel()
  await link.chat("c1").cancel()
  expect(seen).toEqual(["Bearer 1", "Bearer 2"])
  await troupe.stop()
})

test("OPT1 a link without a URL, and one with an unknown option, is refused with what to write", () => {
  expect(() => Client.connect({} as never)).toThrow("write connect({ url })")
  expect(() => Client.connect(undefined as never)).toThrow("write connect({ url })")
  const misspelt = { url: "http://localhost", header: { authorization: "Bearer s3cret" } }
  expect(() => Client.connect(misspelt as never)).toThrow("no option header; use url, fetch, headers, clock, random")
})
