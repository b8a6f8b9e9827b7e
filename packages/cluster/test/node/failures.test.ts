import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { Fake, tool } from "@troupe/chat"
import { Store } from "@troupe/chat/store"
import { listen } from "@troupe/server/Node"
import { sqlite } from "@troupe/store/Sqlite"
import { describe, expect, it } from "vitest"
import * as Cluster from "../../src/node/Cluster.ts"
import type { ChatView } from "@troupe/chat/view"
import { Clock, System } from "@troupe/otp"
import { hello, nodes, post, secret, turns, until } from "../double/clusterNodes.ts"
import { Placements } from "../double/placements.ts"

/** A placement that is never started, because the options are refused first. */
const noPlacement = (): Promise<never> => Promise.reject(new Error("the placement was started"))

/** The options of a node of its own cluster, some functions of whose placement fail. */
const alone = (...names: ReadonlyArray<"subscribe" | "stop">): Cluster.ClusterNodeOptions => ({
  adapter: hello(),
  store: Store.memory(),
  cluster: {
    listen: "127.0.0.1:0",
    secret,
    placement: async (address) => {
      const placement = await new Placements().join()(address)
      const failing = (name: string) => () => {
        throw new Error(`no ${name}`)
      }
      return { ...placement, ...Object.fromEntries(names.map((name) => [name, failing(name)])) }
    }
  }
})

const resources = (): number => process.getActiveResourcesInfo().filter((name) => /Timeout|TCP/u.test(name)).length

const statusOf = async ({ url }: { readonly url: string }): Promise<ChatView.ChatView["status"]> =>
  ((await (await fetch(`${url}/chats/c`)).json()) as ChatView.ChatView).status

const codeOf = async (answer: Response): Promise<string> =>
  `${answer.status} ${((await answer.json()) as { error: { code: string } }).error.code}`

describe("a frozen home", () => {
  it("HOP1: a message gets home_silent at the deadline, and is not sent again", async () => {
    const { node, store, placements } = nodes()
    const [home, other] = [await node(), await node()]
    await placements.move("anna", other.troupe.address)
    await post(`${other.url}/chats/c/messages?wait`, { input: "Hello" })
    home.proxy.freeze()
    const answer = await post(`${other.url}/chats/c/messages`, { input: "More" })
    expect(await codeOf(answer)).toBe("504 home_silent")
    expect((await store.load("anna/c"))?.thread.messages).toHaveLength(2)
  })

  it("HOP1: a message that the home did not get is refused with `moved`, as it may be sent again", async () => {
    const { node, placements } = nodes()
    const [home, other] = [await node(), await node()]
    await placements.move("anna", other.troupe.address)
    home.proxy.freeze()
    expect(await codeOf(await post(`${other.url}/chats/c/messages`, { input: "Hello" }))).toBe("503 moved")
  })

  it("HOP1: home_silent has the header that keeps the client of OpenAI from sending the message twice", async () => {
    const { node, placements } = nodes()
    const [home, other] = [await node(), await node()]
    await placements.move("anna", other.troupe.address)
    await fetch(`${other.url}/chats/c`)
    home.proxy.freeze()
    const answer = await post(`${other.url}/v1/responses`, { model: "troupe", conversation: "c", input: "Hello" })
    expect([answer.headers.get("x-should-retry"), await codeOf(answer)]).toEqual(["false", "504 home_silent"])
  })

  it("HOP1: a message with an id that is sent again finds the next home, once that has the bucket", async () => {
    const { node, placements } = nodes()
    const [home, other] = [await node(), await node()]
    await placements.move("anna", other.troupe.address)
    await fetch(`${other.url}/chats/c`)
    home.proxy.freeze()
    const first = post(`${other.url}/chats/c/messages?wait`, { input: "Hello", id: "m1" })
    expect(await codeOf(await first)).toBe("504 home_silent")
    await placements.inherit(home.troupe.address, other.troupe.address)
    const again = await post(`${other.url}/chats/c/messages?wait`, { input: "Hello", id: "m1" })
    expect(again.status).toBe(200)
  })

  it("HOP4: a message that is sent again through a third node finds the next home", async () => {
    const { node, placements } = nodes()
    const [home, next, gateway] = [await node(), await node(), await node({ cluster: { role: "gateway" } })]
    await placements.move("anna", next.troupe.address)
    const url = `${gateway.url}/chats/c/messages?wait`
    await post(url, { input: "Hello" })
    home.proxy.freeze()
    expect(await codeOf(await post(url, { input: "More", id: "m1" }))).toBe("504 home_silent")
    await placements.inherit(home.troupe.address, next.troupe.address)
    expect((await post(url, { input: "More", id: "m1" })).status).toBe(200)
  })

  it("without a home a request is refused with `moved` at its deadline", async () => {
    const { node } = nodes()
    const gateway = await node({ cluster: { role: "gateway", leaseMs: 1 } })
    const answer = await post(`${gateway.url}/chats/c/messages`, { input: "Hello" })
    expect(await codeOf(answer)).toBe("503 moved")
  })
})

describe("a stop", () => {
  const endless = { graceMs: 600_000 }

  it.each(["other", "home"] as const)("FORWARD7: waits for the end of a turn whose home is the %s node", async (of) => {
    const calling = [{ toolCall: { id: "t1", name: "look", arguments: {} } }, { finish: "tool_calls" as const }]
    const adapter = Fake.make({ scripts: [calling, [{ text: "Rain." }, { finish: "stop" }]] })
    const [runs, going] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()]
    const execute = (): Promise<string> => {
      runs.resolve()
      return going.promise
    }
    const { node } = nodes(adapter)
    const more = { cluster: { leaseMs: 600_000 }, troupe: { tools: [tool({ name: "look", execute })] } }
    const [home, other] = [await node(more), await node(more)]
    const { url, close } = await listen((of === "home" ? home : other).server, endless)
    const events = { accept: "text/event-stream" }
    const page = await fetch(`${url}/chats/c/view`)
    const whole = post(`${url}/chats/c/messages?wait`, { input: "Hello", id: "m1" })
    await runs.promise
    const answer = await post(`${url}/chats/c/messages`, { input: "Hello", id: "m1" }, events)
    const closed = close()
    await page.text().catch(() => "")
    going.resolve("rain")
    expect(await answer.text()).toContain('"chat_completed"')
    expect((await whole).status).toBe(200)
    await closed
  })

  it("FORWARD7: ends the stream of a turn with an error after the lease, whatever the grace is", async () => {
    const { node } = nodes(Fake.make({ script: [{ text: "Once " }, { hang: true }] }))
    const cluster = { leaseMs: 100 }
    await node({ cluster })
    const other = await node({ cluster })
    const { url, close } = await listen(other.server, endless)
    const events = { accept: "text/event-stream" }
    const answer = await post(`${url}/chats/c/messages`, { input: "Hello", id: "m1" }, events)
    const text = answer.text()
    await close()
    expect(await text).toContain('"code":"moved"')
  })

  it.each([
    ["a message", "/chats/c/messages?wait", { input: "Hello", id: "m1" }],
    ["a completion", "/v1/chat/completions", { model: "troupe", messages: [{ role: "user", content: "Hello" }] }]
  ])("FORWARD7: refuses %s without an answer after the lease, and the turn goes on", async (_, path, body) => {
    const adapter = Fake.make({ script: [{ text: "Once " }, { hang: true }] })
    const { node } = nodes(adapter)
    const more = { server: { onDisconnect: "cancel" as const }, cluster: { leaseMs: 100 } }
    const [home, other] = [await node(more), await node(more)]
    const { url, close } = await listen(other.server, endless)
    const answer = post(`${url}${path}`, body, { "x-troupe-chat": "c" })
    await until(() => adapter.open === 1)
    await close()
    expect(await codeOf(await answer)).toBe("503 closing")
    const view = (await (await fetch(`${home.url}/chats/c`)).json()) as { readonly status: string }
    expect(view.status).toBe("running")
  })

  it("FORWARD7: cuts no answer of another node that has begun", async () => {
    const text = "x".repeat(1_000_000)
    const { node } = nodes(Fake.make({ script: [{ text }, { finish: "stop" }] }))
    await node()
    const other = await node()
    const { url, close } = await listen(other.server, endless)
    const answer = await post(`${url}/chats/c/messages?wait`, { input: "Hello", id: "m1" })
    const closed = close()
    expect(await answer.json()).toMatchObject({ result: { finalResponse: { outputText: text } } })
    await closed
  })

  it("FORWARD7: looks for a home for as long as the lease", async () => {
    const { node, placements } = nodes()
    const gateway = await node({ cluster: { role: "gateway", leaseMs: 1_000 } })
    const { url, close } = await listen(gateway.server, endless)
    const answer = post(`${url}/chats/c/messages?wait`, { input: "Hello" })
    await until(() => placements.inVain > 1)
    const closed = close()
    await node()
    expect((await answer).status).toBe(200)
    await closed
  })
})

describe("a client that reads a turn through another node", () => {
  const server = { onDisconnect: "cancel" as const }
  const hanging = async () => {
    const adapter = Fake.make({ script: [{ text: "Once " }, { hang: true }] })
    const { node } = nodes(adapter)
    const [home, other] = [await node({ server }), await node({ server })]
    const { url, close } = await listen(other.server)
    const gone = new AbortController()
    const say = (query: string, headers: Record<string, string>) =>
      fetch(`${url}/chats/c/messages${query}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: '{"input":"Hello"}',
        signal: gone.signal
      })
    return { adapter, home, close, gone, say }
  }

  it.each([
    ["its stream", "", { accept: "text/event-stream" }],
    ["a whole answer", "?wait", {}]
  ] as const)("READERS1: and leaves %s cancels the turn", async (_, query, headers) => {
    const { adapter, home, gone, close, say } = await hanging()
    const said = say(query, headers).catch(() => undefined)
    await until(() => adapter.open === 1)
    const reader = query === "" ? (await said)?.body?.getReader() : undefined
    await reader?.read()
    gone.abort()
    await until(() => adapter.open === 0)
    await until(async () => (await statusOf(home)) !== "running")
    expect(await statusOf(home)).toBe("cancelled")
    await reader?.read().catch(() => {})
    await close()
  })

  it.each(["closes", "is cut off"])(
    "READERS1, PASSED2: has not left when that node %s, and the turn continues",
    async (end) => {
      const { adapter, home, close, say } = await hanging()
      const reader = (await say("", { accept: "text/event-stream" })).body?.getReader()
      await reader?.read()
      if (end === "closes") await close()
      else home.proxy.cut()
      await reader?.read().catch(() => {})
      const view = (await (await fetch(`${home.url}/chats/c`)).json()) as ChatView.ChatView
      expect([view.status, adapter.open]).toEqual(["running", 1])
      await close()
    }
  )
})

describe("the limits of owners", () => {
  const server = { limits: { requestsPerMinute: 5, streams: 2, conversations: 2 } }
  const cluster = { leaseMs: 5_000 }

  it("CLUSTER13: the requests of an owner are counted once, whatever the number of nodes", async () => {
    const { node } = nodes()
    const all = [await node({ server, cluster }), await node({ server, cluster }), await node({ server, cluster })]
    const answers = await Promise.all(Array.from({ length: 9 }, (_, index) => fetch(`${all[index % 3]?.url}/chats`)))
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([
      200, 200, 200, 200, 200, 429, 429, 429, 429
    ])
  })

  it("CLUSTER13: the streams and the chats of an owner are counted once", async () => {
    const { node } = nodes()
    const more = { server: { limits: { streams: 2, conversations: 2 } }, cluster }
    const all = [await node(more), await node(more), await node(more)]
    const open = (index: number, chat: string) => fetch(`${all[index]?.url}/chats/${chat}/view`)
    const streams = [await open(0, "a"), await open(1, "b")]
    expect(streams.map(({ status }) => status)).toEqual([200, 200])
    expect(await codeOf(await open(2, "a"))).toBe("429 too_many_streams")
    await streams[0]?.body?.cancel()
    let code = ""
    do code = await codeOf(await open(2, "c"))
    while (code === "429 too_many_streams")
    expect(code).toBe("429 too_many_conversations")
    await streams[1]?.body?.cancel()
  })

  it("CLUSTER13: a limit of `Infinity` refuses nothing, also at a node that does not count the owner", async () => {
    const { node } = nodes()
    const more = {
      server: { limits: { requestsPerMinute: Infinity, streams: Infinity, conversations: Infinity } },
      cluster
    }
    const all = [await node(more), await node(more)]
    for (const { url } of all) {
      const answer = await fetch(`${url}/chats/c/view`)
      expect(answer.status).toBe(200)
      await answer.body?.cancel()
    }
  })

  it("CLUSTER13: a chat that its program has started is counted with its first request, as on one machine", async () => {
    const { node } = nodes()
    const { troupe, url } = await node({ server: { limits: { conversations: 1 } }, cluster })
    await troupe.local.chat("anna/a")
    const first = await fetch(`${url}/chats/a/view`)
    expect(first.status).toBe(200)
    const [second, again] = [await fetch(`${url}/chats/b/view`), await fetch(`${url}/chats/a/view`)]
    expect([second.status, again.status]).toEqual([429, 200])
    for (const { body } of [first, second, again]) await body?.cancel()
  })

  it("OWNER3: a large answer that a gateway passes on is counted until it is taken", async () => {
    const { node } = nodes()
    const more = { server: { limits: { answerBytes: 100_000, messageCharacters: 200_000 } }, cluster }
    await node(more)
    const gateway = await node({ ...more, cluster: { ...cluster, role: "gateway" } })
    await post(`${gateway.url}/chats/c/messages?wait`, { input: "x".repeat(100_000) })
    const read = () => gateway.server.fetch(new Request("http://a/chats/c"))
    const first = await read()
    // The home has sent all of it to the gateway before.
    await turns(200)
    expect(await codeOf(await read())).toBe("429 too_many_bytes")
    expect((await first.text()).length).toBeGreaterThan(100_000)
    const again = await read()
    expect([again.status, (await again.text()).length]).toEqual([200, expect.any(Number)])
  })

  it("CLUSTER13: a stream that a gateway passes on is counted until it is over", async () => {
    const { node } = nodes()
    const clock = Clock.test()
    const more = () => ({ troupe: { system: System.make({ clock }) }, server: { limits: { streams: 2 } }, cluster })
    await node(more())
    const gateway = await node({ ...more(), cluster: { ...cluster, role: "gateway" } })
    const open = () => fetch(`${gateway.url}/chats/a/view`)
    const streams = [await open(), await open()]
    expect(streams.map(({ status }) => status)).toEqual([200, 200])
    // A wrong release would be sent after 100 ms.
    await turns(200)
    await clock.advance(200)
    await turns(200)
    expect(await codeOf(await open())).toBe("429 too_many_streams")
    for (const { body } of streams) await body?.cancel()
  })
})

describe("a node", () => {
  it("CLUSTER5, CLUSTER8: that stops in the middle of a turn hands it over, and the turn goes on", async () => {
    const scripts = [
      [{ text: "Once " }, { hang: true as const }],
      [{ text: "Again" }, { finish: "stop" as const }]
    ]
    const adapter = Fake.make({ scripts })
    const { node } = nodes(adapter)
    const [home, other] = [await node(), await node()]
    const chat = await other.troupe.chat("c")
    const turn = chat.send("Hello", { id: "m1" })
    await until(() => adapter.open === 1)
    await home.stop()
    expect((await turn.result()).finalResponse?.outputText).toBe("Again")
    expect(home.troupe.isAlive("c")).toBe(false)
  })

  it("CLUSTER8: that gains a chat in the middle of a turn resumes the turn before it takes a new input", async () => {
    const scripts = [
      [{ text: "Once " }, { hang: true as const }],
      [{ text: "Again" }, { finish: "stop" as const }],
      [{ text: "Second" }, { finish: "stop" as const }]
    ]
    const adapter = Fake.make({ scripts })
    const { node, store } = nodes(adapter)
    const listed = Promise.withResolvers<void>()
    const list: typeof store.list = async (options) => {
      if (options?.running === true) await listed.promise
      return store.list(options)
    }
    const home = await node()
    const other = await node({
      troupe: { store: new Proxy(store, { get: (_, name) => (name === "list" ? list : Reflect.get(store, name)) }) }
    })
    await post(`${home.url}/chats/c/messages`, { input: "Hello", id: "m1" })
    await until(() => adapter.open === 1)
    await home.stop()
    let isAnswered = false
    const asked = post(`${other.url}/chats/c/messages`, { input: "And?", id: "m2" }).finally(() => (isAnswered = true))
    let turn = 0
    await until(() => isAnswered || ++turn > 5_000)
    listed.resolve()
    expect((await asked).status).toBe(202)
    let texts: ReadonlyArray<unknown> = []
    await until(async () => {
      const { messages, phase } = (await (await fetch(`${other.url}/chats/c`)).json()) as ChatView.ChatView
      texts = messages.map(({ content }) => content)
      return phase === "idle"
    })
    expect(texts).toEqual(["Hello", "Again", "And?", "Second"])
  })

  it("CLUSTER8: that gains a chat with a call of unknown outcome runs the waiting input after the decision", async () => {
    const toolCall = { id: "call", name: "note", arguments: {} }
    const scripts = [
      [{ toolCall }, { finish: "tool_calls" as const }],
      [{ text: "Noted" }, { finish: "stop" as const }],
      [{ text: "Second" }, { finish: "stop" as const }]
    ]
    const { node, placements } = nodes(Fake.make({ scripts }))
    const begun = Promise.withResolvers<void>()
    const end = Promise.withResolvers<string>()
    const note = tool({
      name: "note",
      execute: () => {
        begun.resolve()
        return end.promise
      }
    })
    const more = { troupe: { tools: [note] } }
    const [home, other] = [await node(more), await node(more)]
    await post(`${home.url}/chats/c/messages`, { input: "Note", id: "m1" })
    await begun.promise
    const waiting = await post(`${home.url}/chats/c/messages`, { input: "And?", id: "m2" })
    expect(await waiting.json()).toMatchObject({ status: "pending" })
    await placements.inherit(home.troupe.address, other.troupe.address)
    const viewOf = async () => (await (await fetch(`${other.url}/chats/c`)).json()) as ChatView.ChatView
    await until(async () => (await viewOf()).phase === "awaitingApproval")
    await post(`${other.url}/chats/c/approvals/call`, { type: "result", value: "looked after" })
    await until(async () => (await viewOf()).messages.at(-1)?.content === "Second")
    end.resolve("late")
  })

  it.each(["list", "load"] as const)(
    "CLREVIVE2: whose first %s fails tries again, and the turn goes on",
    async (failing) => {
      const scripts = [
        [{ text: "Once " }, { hang: true as const }],
        [{ text: "Again" }, { finish: "stop" as const }]
      ]
      const adapter = Fake.make({ scripts })
      const { node, store } = nodes(adapter)
      const errors: Array<unknown> = []
      let fails = 1
      const failed = (): never => {
        throw new Error("the database restarts")
      }
      const list: typeof store.list = async (options) =>
        failing === "list" && options?.running === true && fails-- > 0 ? failed() : store.list(options)
      const load: typeof store.load = async (id) => (failing === "load" && fails-- > 0 ? failed() : store.load(id))
      const broken = { list, load }
      const home = await node()
      const onError = (error: unknown): void => void errors.push(error)
      await node({
        troupe: {
          store: new Proxy(store, { get: (_, name) => Reflect.get(name in broken ? broken : store, name) as unknown })
        },
        cluster: { onError }
      })
      await post(`${home.url}/chats/c/messages`, { input: "Hello", id: "m1" })
      await until(() => adapter.open === 1)
      await home.stop()
      await until(async () => (await store.load("anna/c"))?.thread.messages.at(-1)?.content === "Again")
      expect(errors).toMatchObject([{ message: "the database restarts" }])
    }
  )

  it("CLUSTER15: that has stopped leaves no timer and no socket", async () => {
    const { node } = nodes()
    const before = resources()
    const [home, other] = [await node(), await node()]
    const chat = await other.troupe.chat("c")
    await chat.send("Hello").result()
    const reader = chat.attach()
    await reader.next()
    const answer = await fetch(`${other.url}/chats/d/view`)
    await answer.body?.cancel()
    await reader.return()
    await other.stop()
    await home.stop()
    home.proxy.cut()
    other.proxy.cut()
    await until(() => resources() <= before)
    expect(resources()).toBeLessThanOrEqual(before)
  })

  it("CLUSTER15: whose placement does not stop still ends everything else, and rejects with that failure", async () => {
    const before = resources()
    const troupe = await Cluster.start(alone("stop"))
    const chat = await troupe.chat("c")
    await chat.send("Hello").result()
    await expect(troupe.stop()).rejects.toThrow("no stop")
    expect(troupe.isAlive("c")).toBe(false)
    await until(() => resources() <= before)
  })

  it("CLUSTER15: whose start fails ends everything that it began, and rejects with the first failure", async () => {
    const before = resources()
    const errors: Array<string> = []
    const options = alone("subscribe", "stop")
    const onError = (error: unknown): void => void errors.push(String(error))
    const failing = Cluster.start({ ...options, cluster: { ...options.cluster, onError } })
    await expect(failing).rejects.toThrow("no subscribe")
    expect(errors).toEqual(["Error: no stop"])
    await until(() => resources() <= before)
  })

  it("CLUSTER14: without `cluster` it is the Troupe of one machine", async () => {
    const troupe = await Cluster.start({ adapter: hello() })
    expect(troupe.constructor.name).toBe("RunningTroupe")
    await troupe.stop()
  })

  it("CLUSTER14: without `cluster` no module of the engine or of its database is loaded", async () => {
    const program = fileURLToPath(new URL("../double/oneMachine.ts", import.meta.url))
    const { stdout } = await promisify(execFile)(process.execPath, [program])
    expect(JSON.parse(stdout)).toEqual({ text: "Hi.", without: 0, isSeen: true })
  })

  it("a store of one machine, and options that make no node, are typed errors", async () => {
    const options = (store: Store.Store | undefined, more: object = {}) => ({
      adapter: hello(),
      store,
      cluster: { url: "postgres://a:b@127.0.0.1:1/c", listen: "127.0.0.1:0", secret, ...more }
    })
    const refusal = (store: Store.Store | undefined, more?: object) =>
      Cluster.start(options(store, more)).then(
        () => "started",
        ({ reason }: { readonly reason: string }) => reason
      )
    expect(await refusal(Store.memory())).toBe("store_not_shared")
    expect(await refusal(sqlite(":memory:"))).toBe("store_not_shared")
    expect(await refusal(undefined)).toBe("store_not_shared")
    expect(await refusal(Store.memory(), { secret: "short" })).toBe("invalid_options")
  })

  it.each<readonly [string, unknown, RegExp]>([
    ["null", null, /cluster: must be an object/u],
    ["a listen without a port", { listen: "localhost" }, /listen must be a host and a port/u],
    ["a listen that is a URL", { listen: "http://127.0.0.1:7700" }, /listen must be a host and a port/u],
    ["a listen on all addresses without an address", { listen: "0.0.0.0:0" }, /other nodes cannot reach 0\.0\.0\.0:0/u],
    ["an address of all addresses", { address: "[::]:7700" }, /other nodes cannot reach/u],
    ["an address with a path", { address: "10.0.0.7:7700/a" }, /address must be a host and a port/u],
    ["another role", { role: "hom" }, /role must be "home" or "gateway"/u],
    ["another onMoved", { onMoved: "restart" }, /onMoved must be/u],
    ["a lease in text", { leaseMs: "5000" }, /leaseMs must be a number of milliseconds more than 0/u],
    ["an endless lease", { leaseMs: Infinity }, /leaseMs must be a number of milliseconds more than 0/u],
    ["no placement and no url", { placement: undefined }, /url must be that of the PostgreSQL database/u],
    ["a misspelled name", { leeseMs: 1_500 }, /leeseMs unknown; did you mean leaseMs\?/u],
    ["a name that resembles none", { zzz: 1 }, /zzz unknown; use url, schema, listen, /u],
    ["certificates without a key", { tls: { cert: "a" } }, /tls\.key must be/u],
    ["a host that is not of this machine", { listen: "192.0.2.1:7700" }, /cannot listen on 192\.0\.2\.1:7700: /u],
    ["certificates that are none", { tls: { key: "a", cert: "b" } }, /cannot listen on 127\.0\.0\.1:0: /u]
  ])("options of a node that cannot work are typed errors that name the option: %s", async (_, more, message) => {
    const cluster = more === null ? more : { listen: "127.0.0.1:0", secret, placement: noPlacement, ...Object(more) }
    await expect(Cluster.start({ adapter: hello(), store: Store.memory(), cluster })).rejects.toMatchObject({
      _tag: "ClusterError",
      reason: "invalid_options",
      message: expect.stringMatching(message)
    })
  })
})
