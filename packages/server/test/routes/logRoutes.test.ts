import { Fake, tool } from "@troupe/chat"
import { Memory } from "@troupe/chat/memory"
import type { Store } from "@troupe/chat/store"
import { describe, expect, test } from "vitest"
import * as Client from "../../src/client/Client.ts"
import { codeOf, endless, reading, served, type Served } from "../double/served.ts"

const say = (ask: Served["ask"], id: string, input: string, owner = "anna") =>
  ask("POST", `/chats/${id}/messages?wait`, { input }, { authorization: owner })

const listed = async (response: Response): Promise<Store.ChatList> => (await response.json()) as Store.ChatList

const commits = async (ask: Served["ask"], id: string): Promise<ReadonlyArray<Store.Commit>> =>
  ((await (await ask("GET", `/chats/${id}/history`)).json()) as { readonly commits: ReadonlyArray<Store.Commit> })
    .commits

const said = async (ask: Served["ask"], id: string): Promise<ReadonlyArray<unknown>> => {
  const view = (await (await ask("GET", `/chats/${id}`)).json()) as {
    readonly messages: ReadonlyArray<{ readonly role: string; readonly content: unknown }>
  }
  return view.messages.filter(({ role }) => role === "user").map(({ content }) => content)
}

describe("SERVE1 the list", () => {
  test("has the owner's conversations, by the owner's names, and nobody else's", async () => {
    const { ask } = await served()
    await say(ask, "c1", "Weather in Oslo")
    await say(ask, "c2", "A joke")
    await say(ask, "c3", "The secret of ben", "ben")
    const { chats } = await listed(await ask("GET", "/chats"))
    expect(chats.map(({ id, title }) => [id, title])).toEqual([
      ["c2", "A joke"],
      ["c1", "Weather in Oslo"]
    ])
    expect((await listed(await ask("GET", "/chats?search=secret"))).chats).toEqual([])
    expect((await listed(await ask("GET", "/chats?search=oslo"))).chats.map(({ id }) => id)).toEqual(["c1"])
  })

  test("comes in pages", async () => {
    const { ask } = await served()
    for (const id of ["c1", "c2", "c3"]) await say(ask, id, "Hello")
    const first = await listed(await ask("GET", "/chats?limit=2"))
    const rest = await listed(await ask("GET", `/chats?limit=2&after=${encodeURIComponent(first.next ?? "")}`))
    expect([...first.chats, ...rest.chats].map(({ id }) => id)).toEqual(["c3", "c2", "c1"])
  })

  test.each(["limit=0", "limit=x", "limit=1001", `search=${"a".repeat(257)}`])("with %s is refused", async (query) => {
    const { ask } = await served()
    expect(await codeOf(await ask("GET", `/chats?${query}`))).toBe("422 invalid_input")
  })
})

describe("MEMO2 the memories of an owner", () => {
  test("are listed, recalled and deleted by this owner alone, in the scope of the owner's chats", async () => {
    const script = [
      { toolCall: { id: "t1", name: "remember", arguments: { text: "Anna drinks tea." } } },
      { finish: "tool_calls" as const }
    ]
    const adapter = Fake.make({ scripts: [script, [{ text: "Noted." }, { finish: "stop" }]] })
    const { ask, server } = await served({ adapter, tools: [Memory.remember()] })
    await say(ask, "c1", "I drink tea")
    const ben = { authorization: "ben" }
    const of = async (path: string, headers = {}) =>
      ((await (await ask("GET", path, undefined, headers)).json()) as Store.Lists.MemoryList).memories
    expect(await of("/memories", ben)).toEqual([])
    expect(await of("/memories?query=tea", ben)).toEqual([])
    const [memory] = await of("/memories?query=tea")
    expect(memory?.text).toBe("Anna drinks tea.")
    const path = `/memories/${memory?.id}`
    expect((await ask("DELETE", path, undefined, ben)).status).toBe(200)
    const link = Client.connect({
      url: "http://localhost",
      fetch: (to, init) => server.fetch(new Request(to, init)),
      headers: { authorization: "anna" }
    })
    expect((await link.memories()).memories).toEqual([memory])
    await link.forget(memory?.id ?? "")
    expect((await link.memories({ query: "tea" })).memories).toEqual([])
    expect(await codeOf(await ask("GET", "/memories?limit=1001"))).toBe("422 invalid_input")
  })

  test("stay when their owner may not delete", async () => {
    const { ask } = await served({}, { authorize: () => ({ owner: "anna", may: { delete: false } }) })
    expect(await codeOf(await ask("DELETE", "/memories/m1"))).toBe("403 forbidden")
  })
})

describe("what the conversations wait for", () => {
  const pay = tool({ name: "pay", execute: () => "paid" })
  const script = [{ toolCall: { id: "t1", name: "pay", arguments: { to: "Ann" } } }, { finish: "tool_calls" as const }]
  const options = {
    adapter: Fake.make({ respond: () => script }),
    tools: [pay],
    permissions: { ask: () => "suspend" as const }
  }
  const waits = async (response: Response) => ((await response.json()) as Store.Lists.WaitList).waits

  test("SERVE1 are those of the owner, by the owner's names, in pages, from the store alone", async () => {
    const { ask } = await served(options)
    for (const id of ["c1", "c2"]) await say(ask, id, "Pay Ann")
    await say(ask, "c3", "Pay Ann", "ben")
    const found = await waits(await ask("GET", "/waiting"))
    expect(found.map(({ chat, kind, tool: name, text }) => [chat, kind, name, text])).toEqual([
      ["c1", "approval", "pay", '{"to":"Ann"}'],
      ["c2", "approval", "pay", '{"to":"Ann"}']
    ])
    expect(await waits(await ask("GET", "/waiting?prefix=c2&kind=approval&limit=1"))).toMatchObject([{ chat: "c2" }])
    expect(await waits(await ask("GET", "/waiting?kind=question"))).toEqual([])
    expect(await codeOf(await ask("GET", "/waiting?limit=1001"))).toBe("422 invalid_input")
    expect(await codeOf(await ask("GET", "/waiting?kind=other"))).toBe("422 invalid_input")
  })

  test("a second decision is refused with the first one, without its values", async () => {
    const { ask } = await served(options)
    await say(ask, "c1", "Pay Ann")
    const decision = { type: "result", value: "secret" }
    await ask("POST", "/chats/c1/approvals/t1?wait", { type: "deny", reason: "too much" })
    await ask("POST", "/chats/c1/approvals/t1?wait", decision)
    const { error } = (await (await ask("POST", "/chats/c2/approvals/t1", decision)).json()) as {
      readonly error: unknown
    }
    expect(error).toMatchObject({ code: "unknown_chat" })
    await say(ask, "c4", "Pay Ann")
    const both = await Promise.all([
      ask("POST", "/chats/c4/approvals/t1?wait", { type: "halt", reason: "closed" }),
      ask("POST", "/chats/c4/approvals/t1?wait", { type: "allow" })
    ])
    expect(both.map(({ status }) => status)).toEqual([200, 409])
    expect(await both[1].json()).toMatchObject({
      error: { code: "unknown_tool_call_id", decided: { type: "halt", reason: "closed", outcome: "denied" } }
    })
  })
})

describe("the history of a conversation", () => {
  test("has every entry, and goes on behind one", async () => {
    const { ask } = await served()
    await say(ask, "c1", "One")
    const all = await commits(ask, "c1")
    expect(all.map(({ seq }) => seq)).toEqual(all.map((_, index) => index + 1))
    expect(all.flatMap(({ messages }) => messages)).toMatchObject([{ content: "One" }, { content: "Hi there" }])
    const rest = (await (await ask("GET", "/chats/c1/history?after=1&limit=1")).json()) as object
    expect(rest).toEqual({ commits: [all[1]] })
  })

  test("SERVE1 of somebody else is not there", async () => {
    const { ask } = await served()
    await say(ask, "c1", "One", "ben")
    expect(await codeOf(await ask("GET", "/chats/c1/history"))).toBe("404 unknown_chat")
    expect(await codeOf(await ask("POST", "/chats/c1/fork", {}))).toBe("404 unknown_chat")
    expect(await codeOf(await ask("POST", "/chats/c1/rewind", { seq: 1 }))).toBe("404 unknown_chat")
    expect(await codeOf(await ask("DELETE", "/chats/c1"))).toBe("404 unknown_chat")
  })
})

describe("a fork", () => {
  test("is a conversation of its own, with what was said up to there", async () => {
    const { ask } = await served()
    await say(ask, "c1", "One")
    const end = (await commits(ask, "c1")).at(-1)?.seq
    await say(ask, "c1", "Two")
    const forked = await ask("POST", "/chats/c1/fork", { at: end, id: "c2" })
    expect([forked.status, await forked.json()]).toEqual([201, { id: "c2" }])
    await say(ask, "c2", "Three")
    expect([await said(ask, "c1"), await said(ask, "c2")]).toEqual([
      ["One", "Two"],
      ["One", "Three"]
    ])
    expect((await commits(ask, "c2"))[0]).toMatchObject({ kind: "forked", from: { id: "c1", seq: end } })
  })

  test("has a new id unless one is given, and takes none that is taken", async () => {
    const { ask } = await served()
    await say(ask, "c1", "One")
    const { id } = (await (await ask("POST", "/chats/c1/fork", {})).json()) as { readonly id: string }
    expect(await said(ask, id)).toEqual(["One"])
    expect(await codeOf(await ask("POST", "/chats/c1/fork", { id: "c1" }))).toBe("409 chat_exists")
    expect(await codeOf(await ask("POST", "/chats/c1/fork", { at: 99 }))).toBe("404 unknown_commit")
    expect(await codeOf(await ask("POST", "/chats/c1/fork", { id: "." }))).toBe("400 invalid_id")
  })

  test("OWNER1 counts as a conversation", async () => {
    const { ask } = await served({}, { limits: { conversations: 1 } })
    await say(ask, "c1", "One")
    expect(await codeOf(await ask("POST", "/chats/c1/fork", {}))).toBe("429 too_many_conversations")
  })
})

describe("a rewind", () => {
  test("leads back, and what is said goes on from there", async () => {
    const { ask } = await served()
    await say(ask, "c1", "One")
    const end = (await commits(ask, "c1")).at(-1)?.seq
    await say(ask, "c1", "Two")
    expect((await ask("POST", "/chats/c1/rewind", { seq: end })).status).toBe(200)
    expect(await said(ask, "c1")).toEqual(["One"])
    await say(ask, "c1", "Three")
    expect(await said(ask, "c1")).toEqual(["One", "Three"])
  })

  test("leads to the beginning, where nothing was said", async () => {
    const { ask } = await served()
    await say(ask, "c1", "One")
    expect((await ask("POST", "/chats/c1/rewind", { seq: 0 })).status).toBe(200)
    expect(await said(ask, "c1")).toEqual([])
    await say(ask, "c1", "Two")
    expect(await said(ask, "c1")).toEqual(["Two"])
    expect(await codeOf(await ask("POST", "/chats/c1/rewind", { seq: -1 }))).toBe("422 invalid_input")
  })

  test("is refused while a turn runs, unless it may cancel it", async () => {
    const scripts: ReadonlyArray<Fake.Script> = [
      [{ text: "Hi." }, { finish: "stop" }],
      [{ text: "And" }, { hang: true }]
    ]
    const { ask } = await served({ adapter: Fake.make({ scripts }) })
    await say(ask, "c1", "One")
    const end = (await commits(ask, "c1")).at(-1)?.seq
    const events = { accept: "text/event-stream" }
    const stream = reading(await ask("POST", "/chats/c1/messages", { input: "Two" }, events))
    await stream.until("And")
    const refused = await ask("POST", "/chats/c1/rewind", { seq: end })
    expect([refused.status, await refused.json()]).toMatchObject([
      409,
      { error: { code: "busy", message: expect.stringContaining("cancel: true") } }
    ])
    expect((await ask("POST", "/chats/c1/rewind", { seq: end, cancel: true })).status).toBe(200)
    expect(await stream.rest()).toContain('"haltedReason":"cancelled"')
    expect(await said(ask, "c1")).toEqual(["One"])
  })
})

describe("a deleted conversation", () => {
  test("is gone, and its readers are notified; its id begins another", async () => {
    const { ask } = await served({ adapter: endless() }, { limits: { conversations: 1 } })
    const stream = reading(await ask("POST", "/chats/c1/messages", { input: "Tell" }, { accept: "text/event-stream" }))
    await stream.until("upon")
    expect((await ask("DELETE", "/chats/c1")).status).toBe(200)
    expect(await stream.rest()).toContain('"code":"chat_stopped"')
    expect(await codeOf(await ask("GET", "/chats/c1"))).toBe("404 unknown_chat")
    expect(await codeOf(await ask("DELETE", "/chats/c1"))).toBe("404 unknown_chat")
    expect((await listed(await ask("GET", "/chats"))).chats).toEqual([])
    expect((await ask("POST", "/chats/c2/messages", { input: "Hello" })).status).toBe(202)
  })
})

test("a store without a log says so", async () => {
  const records = new Map<string, Parameters<Store.RecordStore["save"]>[0]>()
  const store: Store.Store = {
    load: (id) => records.get(id),
    save: (record) => void records.set(record.id, record),
    delete: (id) => void records.delete(id)
  }
  const { ask } = await served({ store })
  await say(ask, "c1", "One")
  expect(await codeOf(await ask("GET", "/chats"))).toBe("501 store_without_log")
  expect(await codeOf(await ask("GET", "/chats/c1/history"))).toBe("501 store_without_log")
})
