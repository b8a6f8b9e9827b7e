import { Fake } from "@troupe/chat"
import { Store } from "@troupe/chat/store"
import { Clock } from "@troupe/otp"
import { Client, Server } from "@troupe/server"
import { describe, expect, it, onTestFinished } from "vitest"
import { Forwarder, MountedServers } from "../../src/gateway/index.ts"
import * as Cluster from "../../src/node/Cluster.ts"
import { hello, nodes, post, secret, until } from "../double/clusterNodes.ts"

const events = { accept: "text/event-stream" }
const everything = {
  mode: undefined,
  approve: true,
  observe: true,
  rewind: true,
  delete: true,
  agents: true,
  models: true
}

/** The store for a node whose loads wait for `loaded`; `loading` resolves with the first. */
const slowStore = (store: Store.SessionStore) => {
  const [loading, loaded] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const load: typeof store.load = async (id) => {
    loading.resolve()
    await loaded.promise
    return store.load(id)
  }
  const slow = new Proxy(store, { get: (_, name) => (name === "load" ? load : Reflect.get(store, name)) })
  return { slow, loading, loaded }
}

describe("a request to a node that is not the home", () => {
  it("FORWARD1: is answered by the home, with its stream, and leaves no chat at the first node", async () => {
    const { node } = nodes()
    const [home, other] = [await node(), await node()]
    const answer = await post(`${other.url}/chats/c/messages`, { input: "Hello", id: "m1" }, events)
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("chat_completed")])
    expect([home.troupe.local.isAlive("anna/c"), other.troupe.local.isAlive("anna/c")]).toEqual([true, false])
    const view = await fetch(`${other.url}/chats/c`)
    expect(await view.json()).toMatchObject({ id: "c", messages: [{ content: "Hello" }, { content: "Hi there" }] })
  })

  it("BLOBURL1: any node and a gateway answer with the bytes of an image, also before the store has them", async () => {
    const bytes = Uint8Array.from({ length: 30_000 }, (_, at) => at % 251)
    const image = { type: "image", image: { base64: Buffer.from(bytes).toString("base64"), mediaType: "image/png" } }
    const { node, store } = nodes()
    const stored = Promise.withResolvers<void>()
    const puts = Promise.withResolvers<string>()
    const put: NonNullable<typeof store.blobs>["put"] = async (chat, id, ...given) => {
      puts.resolve(id)
      await stored.promise
      return store.blobs?.put(chat, id, ...given)
    }
    const blobs = store.blobs && { ...store.blobs, put }
    const slow = new Proxy(store, { get: (_, name) => (name === "blobs" ? blobs : Reflect.get(store, name)) })
    const home = await node({ troupe: { store: slow } })
    const [other, gateway] = [await node(), await node({ cluster: { role: "gateway" } })]
    const sent = post(`${other.url}/chats/c/messages?wait`, { input: [image] })
    const blob = await puts.promise
    const path = `/chats/c/blobs/${blob}?type=image%2Fpng&bytes=30000`
    expect(new Uint8Array(await (await fetch(gateway.url + path)).arrayBuffer())).toEqual(bytes)
    expect(await other.troupe.blob("anna/c", blob)).toEqual(bytes)
    stored.resolve()
    const answer = await sent
    expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("delivered")])
    const read = async () => {
      for (const { url } of [home, other, gateway]) {
        const found = await fetch(url + path)
        expect([found.status, new Uint8Array(await found.arrayBuffer())]).toEqual([200, bytes])
      }
      for (const { troupe } of [home, other]) expect(await troupe.blob("anna/c", blob)).toEqual(bytes)
      expect(await other.troupe.blob("anna/c", "0".repeat(64))).toBeUndefined()
      expect(await other.troupe.blob("anna/none", blob)).toBeUndefined()
    }
    await read()
  })

  it("CLUSTER7: two sends with one id on two nodes are one turn", async () => {
    const { node } = nodes(Fake.make({ script: [{ text: "Once " }, { hang: true }] }))
    const [a, b, c] = [await node(), await node(), await node({ cluster: { role: "gateway" } })]
    const say = (url: string) => post(`${url}/chats/c/messages`, { input: "Hello", id: "m1" }, events)
    const answers = await Promise.all([say(b.url), say(c.url)])
    await post(`${b.url}/chats/c/cancel`, {})
    for (const answer of answers) expect(await answer.text()).toContain('"haltedReason":"cancelled"')
    const record = await a.troupe.history("anna/c")
    expect(record.flatMap(({ messages }) => messages).filter(({ role }) => role === "user")).toHaveLength(1)
  })

  it("FORWARD1: has a body as large as the limit of its bytes, also when that of a history is smaller", async () => {
    const { node } = nodes()
    const server = { limits: { bodyBytes: 4_000, historyBytes: 1_000 } }
    const [, other] = [await node({ server }), await node({ server })]
    const answer = await post(`${other.url}/chats/c/messages`, { input: "x".repeat(2_000) })
    expect(answer.status).toBe(202)
  })

  it("FORWARD3: a client that leaves before its request is forwarded is no unexpected error", async () => {
    const { node, placements } = nodes()
    await node()
    const other = await node()
    // The gateway has no connection to the home of the chat yet.
    await placements.move("anna", other.troupe.address)
    const errors: Array<unknown> = []
    const left = new AbortController()
    const gateway = await node({
      cluster: { role: "gateway" },
      server: {
        onError: (error) => void errors.push(error),
        authorize: () => {
          left.abort()
          return { owner: "anna" }
        }
      }
    })
    const answer = await gateway.server.fetch(new Request("http://a/chats/c/view", { signal: left.signal }))
    expect([answer.status, errors]).toEqual([503, []])
  })

  it("a refusal of the home is the client's, and a page of the node's own link follows the chat", async () => {
    const { node } = nodes()
    const [, other] = [await node(), await node()]
    const answer = await fetch(`${other.url}/chats/none`)
    expect([answer.status, ((await answer.json()) as { error: { code: string } }).error.code]).toEqual([
      404,
      "unknown_chat"
    ])
    const chat = Client.connect({ url: other.url }).chat("c")
    const done = Promise.withResolvers<void>()
    const leave = chat.subscribe(() => {
      if (chat.getState().view.messages.length === 2) done.resolve()
    })
    await chat.send("Hello")
    await done.promise
    leave()
    expect(await chat.fork({ id: "copy" })).toBe("copy")
    expect((await chat.history()).length).toBeGreaterThan(0)
  })
})

describe("a node that joins", () => {
  it("HOP6: answers the first requests of another node when its program has made its server", async () => {
    const { node, placements, store } = nodes()
    const cluster = { listen: "127.0.0.1:0", secret, leaseMs: 1_000, placement: placements.join() }
    const home = await Cluster.start({ adapter: hello(), store, cluster })
    onTestFinished(() => home.stop())
    const refused = Promise.withResolvers<void>()
    const placement: NonNullable<Cluster.ClusterOptions["placement"]> = async (address) => ({
      ...(await placements.join("gateway")(address)),
      forget: () => refused.resolve()
    })
    const gateway = await node({ cluster: { role: "gateway", placement } })
    const asked = post(`${gateway.url}/chats/c/messages?wait`, { input: "Hello" })
    await Promise.race([refused.promise, asked])
    Server.make({ troupe: home, authorize: () => ({ owner: "anna" }) })
    expect((await asked).status).toBe(200)
  })
})

describe("two servers of one node", () => {
  const may = { owner: "anna", may: { approve: true } }

  it("HOP5: with one `basePath` are refused, and the first one goes on", async () => {
    const { node } = nodes()
    const server = { basePath: "/api" }
    const [home, other] = [await node({ server }), await node({ server })]
    const second = (): unknown => Server.make({ troupe: home.troupe, authorize: () => ({ deny: 403 }), ...server })
    expect(second).toThrow(/basePath.*"\/second"/u)
    expect(second).toThrow(expect.objectContaining({ _tag: "ValidationError", reason: "invalid_options" }))
    const answer = await post(`${other.url}/api/chats/c/messages?wait`, { input: "Hello" })
    expect(answer.status).toBe(200)
  })

  it("HOP5: with two get the requests of their own", async () => {
    const { node } = nodes()
    const [home, other] = [await node(), await node()]
    const called: Array<string> = []
    const make = (troupe: typeof home.troupe, basePath: string): Server.Server =>
      Server.make({
        troupe,
        basePath,
        authorize: () => may,
        chatId: (_, id) => {
          called.push(`${basePath} ${troupe === home.troupe ? "home" : "other"}`)
          return `anna/${id}`
        }
      })
    for (const basePath of ["/one", "/two"]) {
      make(home.troupe, basePath)
      const { fetch: ask } = make(other.troupe, basePath)
      expect((await ask(new Request(`http://a${basePath}/chats/none`))).status).toBe(404)
    }
    expect([...new Set(called)]).toEqual(["/one other", "/one home", "/two other", "/two home"])
  })

  it("HOP5: may have one `basePath` when the first one has closed", async () => {
    const { node } = nodes()
    const [home, other] = [await node(), await node()]
    await home.server.close()
    const server = Server.make({ troupe: home.troupe, authorize: () => may })
    expect((await post(`${other.url}/chats/c/messages?wait`, { input: "Hello" })).status).toBe(200)
    await server.close()
  })
})

describe("a new conversation", () => {
  it("FORWARD1: that a home of few buckets begins as a fork has its home there", async () => {
    const { node, placements } = nodes()
    const [, b] = [await node(), await node()]
    // As many buckets as one shard has.
    for (const id of ["c", ...Array.from({ length: 15 }, (_, at) => `d${at}`)])
      await placements.move(`anna/${id}`, b.troupe.address)
    const create = async (body: object) => {
      const answer = await post(`${b.url}/v1/responses`, { model: "troupe", input: "Hello", ...body })
      return { code: answer.status, ...((await answer.json()) as { readonly id: string }) }
    }
    await post(`${b.url}/chats/c/messages?wait`, { input: "Hello" })
    const first = await create({ conversation: "c" })
    await create({ previous_response_id: first.id })
    // The conversation has gone on, so that another one begins from its first response.
    expect((await create({ previous_response_id: first.id })).code).toBe(200)
    const fork = await post(`${b.url}/chats/c/fork`, {})
    expect(fork.status).toBe(201)
    expect(b.troupe.isHome(`anna/${((await fork.json()) as { readonly id: string }).id}`)).toBe(true)
  })
})

describe("a move", () => {
  it("HOP4: an answer that is cut makes the next request look up the home", async () => {
    const calls: Array<string> = []
    const forwarder = new Forwarder({
      placement: {
        address: "a:1",
        homeOf: async () => "b:1",
        forget: (bucket) => void calls.push(`forget ${bucket}`)
      },
      client: {
        request: async (_, { onCut }) => {
          onCut?.()
          return new Response("cut")
        }
      },
      clock: Clock.live,
      isHome: () => false,
      nodes: { has: async () => false },
      servers: new MountedServers(),
      deadlineMs: 1_000
    })
    const by = { server: "/", owner: "anna", may: everything, via: ["anna/c"], streams: true }
    const request = {
      method: "GET",
      url: "http://a/chats/c/view",
      headers: [],
      body: undefined,
      signal: new AbortController().signal,
      closing: new AbortController().signal
    }
    await forwarder.forward({ ...request, ...by })
    expect(calls).toEqual([`forget ${Store.bucketOf("anna/c")}`])
  })

  it("CLUSTER10: a node that is no longer the home refuses, and the sender finds the new home", async () => {
    const { node, placements } = nodes()
    const [a, b, c] = [await node(), await node(), await node()]
    await placements.move("anna/c", b.troupe.address)
    placements.remember(c.troupe.address, "anna/c", a.troupe.address)
    const answer = await post(`${c.url}/chats/c/messages?wait`, { input: "Hello", id: "m1" })
    expect([answer.status, b.troupe.local.isAlive("anna/c"), a.troupe.local.isAlive("anna/c")]).toEqual([
      200,
      true,
      false
    ])
  })

  it("CLUSTER10: a request whose chat is being loaded when its home loses it is answered by the next home", async () => {
    const { node, placements, store } = nodes()
    const { slow, loading, loaded } = slowStore(store)
    const [a, b] = [await node({ troupe: { store: slow } }), await node()]
    const say = (id: string) => post(`${a.url}/chats/c/messages?wait`, { input: "Hello", id })
    const first = say("m1")
    await loading.promise
    const moved = placements.move("anna/c", b.troupe.address)
    await until(() => !a.troupe.isHome("anna/c"))
    const later = say("m2")
    loaded.resolve()
    await moved
    expect([(await first).status, (await later).status]).toEqual([200, 200])
    expect([a.troupe.local.isAlive("anna/c"), b.troupe.local.isAlive("anna/c")]).toEqual([false, true])
    const { messages = [] } = (await store.load("anna/c"))?.thread ?? {}
    expect(messages.filter(({ role }) => role === "user")).toHaveLength(2)
  })

  it("CLUSTER10: a forwarded request whose chat is being loaded when its home loses it is answered by the next home", async () => {
    const { node, placements, store } = nodes()
    const { slow, loading, loaded } = slowStore(store)
    const [a, b, c] = [await node({ troupe: { store: slow } }), await node(), await node()]
    // A `fetch` of a client would send the request again after a 421.
    const init = { method: "POST", headers: { "content-type": "application/json" }, body: '{"input":"Hello"}' }
    const first = c.server.fetch(new Request("http://a/chats/c/messages?wait", init))
    await loading.promise
    const moved = placements.move("anna/c", b.troupe.address)
    await until(() => !a.troupe.isHome("anna/c"))
    loaded.resolve()
    await moved
    expect((await first).status).toBe(200)
    expect((await store.load("anna/c"))?.thread.messages).toHaveLength(2)
  })

  it("FORWARD8: a forwarded request that has rewound its chat when the home loses it rewinds it once, and goes on", async () => {
    const { node, placements, store } = nodes()
    const rewinds: Array<string> = []
    const rewind: NonNullable<typeof store.rewind> = async (...args) => {
      const rewound = await store.rewind(...args)
      rewinds.push(args[0])
      void placements.move("anna/c", b.troupe.address)
      return rewound
    }
    const moving = new Proxy(store, { get: (_, name) => (name === "rewind" ? rewind : Reflect.get(store, name)) })
    const [, b, c] = [
      await node({ troupe: { store: moving } }),
      await node({ troupe: { store: moving } }),
      await node()
    ]
    const say = (id: string, text: string, more: object = {}) => {
      const body = JSON.stringify({ id: "c", message: { id, role: "user", parts: [{ type: "text", text }] }, ...more })
      const init = { method: "POST", headers: { "content-type": "application/json" }, body }
      return c.server.fetch(new Request("http://a/api/chat", init))
    }
    await (await say("u1", "Hello")).text()
    const edited = await say("u1", "Hi", { messageId: "u1" })
    expect([edited.status, await edited.text()]).toEqual([200, expect.stringContaining("there")])
    expect(rewinds).toEqual(["anna/c"])
  })

  it("a server whose node has stopped refuses with 503, and reports no unexpected error", async () => {
    const { node } = nodes()
    const errors: Array<unknown> = []
    const a = await node({ server: { onError: (error) => void errors.push(error) } })
    await node()
    await a.troupe.stop()
    const answer = await post(`${a.url}/chats/c/messages`, { input: "Hello" })
    expect([answer.status, await answer.json()]).toMatchObject([503, { error: { code: "troupe_stopped" } }])
    expect(errors).toEqual([])
  })

  it("CLUSTER6: in the middle of a stream the client's link goes on at the new home", async () => {
    const adapter = Fake.make({
      scripts: [
        [{ text: "Once " }, { hang: true }],
        [{ text: "Once upon a time" }, { finish: "stop" }]
      ]
    })
    const { node, placements } = nodes(adapter)
    const [, b, c] = [await node(), await node(), await node()]
    const chat = Client.connect({ url: c.url }).chat("c")
    const streaming = Promise.withResolvers<void>()
    const done = Promise.withResolvers<void>()
    const leave = chat.subscribe(() => {
      const { view } = chat.getState()
      if (view.partial.text !== "") streaming.resolve()
      if (view.messages.at(-1)?.content === "Once upon a time") done.resolve()
    })
    await chat.send("Tell me a story", { id: "m1" })
    await streaming.promise
    await placements.move("anna/c", b.troupe.address)
    await done.promise
    expect(b.troupe.local.isAlive("anna/c")).toBe(true)
    leave()
  })
})
