import { HttpAgent } from "@ag-ui/client"
import { Fake, tool, type TroupeOptions, Troupe } from "@troupe/chat"
import { Codec, Store } from "@troupe/chat/store"
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { AgUi } from "../../src/index.ts"
import * as Server from "../../src/server/Server.ts"
import { handModel } from "../double/handModel.ts"
import { chunksOf, messageOf, plain } from "../double/uiClient.ts"

const said = (id: string) => ({ id, role: "user", parts: [{ type: "text", text: id }] })

/** A store whose records are written as JSON text. */
const textStore = (): Store.SessionStore => {
  const store = Store.memory()
  return {
    ...store,
    load: async (id) => {
      const record = await store.load(id)
      return record && Codec.decode("ChatRecord", Codec.encode("ChatRecord", record))
    }
  }
}

/** Servers of one store, one after another. */
const restarting = (options: Omit<TroupeOptions, "store">) => {
  const store = textStore()
  let troupe: Awaited<ReturnType<typeof Troupe.start>> | undefined
  let server: ReturnType<typeof Server.make> | undefined
  const start = async (): Promise<void> => {
    await troupe?.stop()
    troupe = await Troupe.start({ ...options, store })
    server = Server.make({ troupe, authorize: () => ({ owner: "anna", may: { approve: true } }) })
  }
  const fetch = async (url: string, init?: RequestInit): Promise<Response> => {
    if (server === undefined) throw new Error("no server")
    return server.fetch(new Request(new URL(url, "http://localhost"), init))
  }
  const ask = (path: string, body: object): Promise<Response> =>
    fetch(path, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })
  const post = async (body: object) => messageOf(chunksOf(await (await ask("/api/chat", { id: "c", ...body })).text()))
  return {
    start,
    ask,
    post,
    store,
    /** The conversation is unloaded here, or with `isRestart` the program ends and another one starts. */
    again: async (isRestart: boolean): Promise<void> => {
      if (isRestart) return start()
      await (await troupe?.chat("anna/c"))?.leave()
    },
    agent: () => new HttpAgent({ url: "http://localhost/ag-ui", threadId: "c", fetch }),
    kept: async () => {
      const { messages } = (await (await fetch("/api/chat/c/messages")).json()) as {
        readonly messages: ReadonlyArray<{ readonly id: string; readonly metadata?: unknown }>
      }
      return messages
    },
    agUiIds: async () => {
      const { messages } = (await (await fetch("/ag-ui/c/messages")).json()) as {
        readonly messages: ReadonlyArray<{ readonly id: string }>
      }
      return messages.map(({ id }) => id)
    },
    stop: async () => troupe?.stop()
  }
}

const counting = () => {
  let answers = 0
  return Fake.make({ respond: () => [{ text: String(++answers) }, { usage: { outputTokens: 3 } }, { finish: "stop" }] })
}

describe.each([
  ["is unloaded", false],
  ["is loaded by another program", true]
])("when a conversation %s", (_name, isRestart) => {
  it("AGUISTATE4. a client has the state that another client sent, or that a handler set", async () => {
    const counts = tool({
      name: "count",
      execute: (_, { context }) => (AgUi.of(context)?.setState({ page: "maps", count: 1 }), "done")
    })
    const servers = restarting({
      adapter: Fake.make({
        scripts: [
          [{ text: "Hi" }, { finish: "stop" }],
          [{ toolCall: { id: "c0", name: "count" } }, { finish: "tool_calls" }],
          [{ text: "Counted" }, { finish: "stop" }]
        ]
      }),
      tools: [counts]
    })
    await servers.start()
    const agent = servers.agent()
    agent.setState({ page: "maps" })
    agent.addMessage({ id: "u1", role: "user", content: "Hi" })
    await agent.runAgent()
    await servers.again(isRestart)
    const second = servers.agent()
    await second.runAgent()
    expect(second.state).toEqual({ page: "maps" })
    second.addMessage({ id: "u2", role: "user", content: "Count" })
    await second.runAgent()
    expect(second.state).toEqual({ page: "maps", count: 1 })
    await servers.again(isRestart)
    const third = servers.agent()
    await third.runAgent()
    expect(third.state).toEqual({ page: "maps", count: 1 })
    await servers.stop()
  })

  it("UIMETA1. a reply has the metadata that its stream had", async () => {
    const servers = restarting({ adapter: counting() })
    await servers.start()
    const message = await servers.post({ messages: [said("u1")] })
    expect(message?.metadata).toMatchObject({
      startedAt: expect.any(Number),
      endedAt: expect.any(Number),
      usage: { outputTokens: 3 }
    })
    await servers.again(isRestart)
    expect((await servers.kept()).at(-1)?.metadata).toEqual(message?.metadata)
    const earlier = await servers.post({ messages: [said("u1")] })
    expect(earlier?.metadata).toEqual(message?.metadata)
    await servers.post({ messages: [said("u1"), plain(message), said("u2")] })
    await servers.again(isRestart)
    expect((await servers.kept())[1]?.metadata).toEqual(message?.metadata)
    await servers.stop()
  })

  it("RNAME2. another answer keeps an id of its own, and a further one has another", async () => {
    const servers = restarting({ adapter: counting() })
    await servers.start()
    await servers.post({ messages: [said("u1")] })
    const again = { messages: [said("u1")], trigger: "regenerate-message" }
    expect((await servers.post(again))?.id).toBe("u1.reply.2")
    const ids = await servers.agUiIds()
    await servers.again(isRestart)
    expect((await servers.kept()).map(({ id }) => id)).toEqual(["u1", "u1.reply.2"])
    expect(await servers.agUiIds()).toEqual(ids)
    expect((await servers.post({ messages: [said("u1")] }))?.id).toBe("u1.reply.2")
    expect((await servers.post(again))?.id).toBe("u1.reply.3")
    await servers.stop()
  })

  it("AGUIRUN4. a message whose answer was read gets another answer", async () => {
    const servers = restarting({ adapter: counting() })
    await servers.start()
    const agent = servers.agent()
    agent.addMessage({ id: "u1", role: "user", content: "u1" })
    await agent.runAgent()
    const [, first] = agent.messages
    await servers.again(isRestart)
    agent.setMessages(agent.messages.slice(0, 1))
    await agent.runAgent()
    expect(agent.messages.map(({ content }) => content)).toEqual(["u1", "2"])
    expect(agent.messages[1]?.id).not.toBe(first?.id)
    await servers.stop()
  })

  it("AGUIRUN4. a message whose answer was not read gets that answer", async () => {
    const model = handModel()
    const servers = restarting({ adapter: model.adapter })
    await servers.start()
    const agent = servers.agent()
    agent.addMessage({ id: "u1", role: "user", content: "u1" })
    const running = agent.runAgent().catch(() => {})
    await model.whenOpened(1)
    model.text("Once")
    agent.abortRun()
    await running
    model.say({ type: "message_completed", message: { role: "assistant", content: "" }, finishReason: "stop" })
    model.end()
    const load = async () => (await servers.kept()).length
    while ((await servers.store.load("anna/c"))?.running !== false || (await load()) < 2);
    await servers.again(isRestart)
    agent.setMessages([{ id: "u1", role: "user", content: "u1" }])
    await agent.runAgent()
    expect(agent.messages.map(({ content }) => content)).toEqual(["u1", "Once"])
    await servers.stop()
  })
})

/** A record as `Codec` of version 2 wrote it. */
const fixture = readFileSync(new URL("../fixtures/replies.json", import.meta.url), "utf8")

const added: ReadonlyArray<string> = ["attempt", "shared_state", "reply_part"]

/** The record without the data that an earlier version did not store. */
const earlier = JSON.stringify(JSON.parse(fixture, (key, value: unknown) => (added.includes(key) ? undefined : value)))

describe("a stored conversation", () => {
  const opened = async (text: string) => {
    const servers = restarting({ adapter: counting() })
    const record = Codec.decode("ChatRecord", text)
    await servers.store.append(record.id, [Store.saved(record)])
    await servers.start()
    return servers
  }

  it("UIMETA1, RNAME2, AGUISTATE4, READERS4. has the state that an earlier program stored", async () => {
    const servers = await opened(fixture)
    expect((await servers.kept()).map(({ id, metadata }) => [id, metadata])).toEqual([
      ["u1", undefined],
      ["u1.reply.2", { startedAt: 1795941844736, endedAt: 1795941844740, usage: usageOfOne }],
      ["u2", undefined],
      ["u2.reply", { startedAt: 1795941844761, endedAt: 1795941844764, usage: usageOfOne }]
    ])
    const agent = servers.agent()
    agent.setMessages(["u1", "u2"].map((id) => ({ id, role: "user", content: id })))
    await agent.runAgent()
    expect(agent.state).toEqual({ page: "maps" })
    expect(agent.messages.at(-1)).toMatchObject({ content: "1" })
    expect((await servers.kept()).at(-1)?.id).toBe("u2.reply.2")
    await servers.stop()
  })

  it("of a version without this state is read as before", async () => {
    expect(earlier).not.toMatch(/attempt|shared_state|reply_part/u)
    const servers = await opened(earlier)
    expect((await servers.kept()).map(({ id, metadata }) => [id, metadata])).toEqual([
      ["u1", undefined],
      ["u1.reply", undefined],
      ["u2", undefined],
      ["u2.reply", undefined]
    ])
    const agent = servers.agent()
    agent.setMessages(["u1", "u2"].map((id) => ({ id, role: "user", content: id })))
    await agent.runAgent()
    expect(agent.state).toEqual({})
    expect(agent.messages.at(-1)).toMatchObject({ content: "3" })
    await servers.stop()
  })
})

const usageOfOne = { inputTokens: 10, outputTokens: 3, totalTokens: 13 }

describe("another answer", () => {
  it("RNAME2. to an earlier message has an id that no answer before had", async () => {
    const servers = restarting({ adapter: counting() })
    await servers.start()
    await servers.post({ messages: [said("u1")] })
    const again = { messages: [said("u1")], trigger: "regenerate-message", messageId: "u1.reply" }
    const ids = [(await servers.post(again))?.id]
    for (const id of ["u2", "u3"]) {
      await servers.post({ messages: [said("u1"), said(id)] })
      ids.push((await servers.post(again))?.id)
    }
    expect(ids).toEqual(["u1.reply.2", "u1.reply.3", "u1.reply.4"])
    await servers.stop()
  })

  it("RNAME2. by the own route has an id of its own, too", async () => {
    const servers = restarting({ adapter: counting() })
    await servers.start()
    await servers.post({ messages: [said("u1")] })
    await (await servers.ask("/chats/c/retry?wait", {})).text()
    expect((await servers.kept()).map(({ id }) => id)).toEqual(["u1", "u1.reply.2"])
    await servers.stop()
  })
})
