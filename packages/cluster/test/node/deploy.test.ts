import { Fake, tool, type TroupeOptions } from "@troupe/chat"
import { Clock } from "@troupe/otp"
import { describe, expect, it } from "vitest"
import { askAgUi, askAiSdk, askCompletion, askResponse } from "../../../server/test/double/realClients.ts"
import type { ClusterOptions } from "../../src/node/Cluster.ts"
import { nodes, post, turns, until } from "../double/clusterNodes.ts"

const events = { accept: "text/event-stream" }

const looking = [
  { text: "Let me look." },
  { toolCall: { id: "t1", name: "look", arguments: {} } },
  { finish: "tool_calls" as const }
]
const hanging = [{ text: "Once " }, { hang: true as const }]
const ending = [{ text: "Once upon a time" }, { finish: "stop" as const }]

/** A reply of these scripts that hangs at each home but the last. */
const nodesOf = async (first: ReadonlyArray<Fake.Script>, moves: number, troupe: Partial<TroupeOptions>) => {
  const scripts = [...first, ...Array.from({ length: moves }, () => hanging), ending, ending]
  return nodesWith(Fake.make({ scripts }), troupe)
}

/** Three homes and a gateway. */
const nodesWith = async (adapter: Fake.Fake, troupe: Partial<TroupeOptions>, cluster: Partial<ClusterOptions> = {}) => {
  const { node, placements, store } = nodes(adapter)
  const more = { troupe, cluster }
  const homes = [await node(more), await node(more), await node(more)]
  const gateway = await node({ ...more, cluster: { ...cluster, role: "gateway" } })
  let at = 0
  /** Waits until the reply hangs at the present home, and moves the chat to the next one. */
  const move = async (): Promise<void> => {
    const [from, to] = [homes[at], homes[++at]]
    await until(async () => {
      const snapshot =
        from?.troupe.local.isAlive("anna/c") === true ? await from.troupe.local.chat("anna/c") : undefined
      return snapshot?.getSnapshot()?.context.partial.text === "Once "
    })
    await placements.move("anna/c", to?.troupe.address ?? "")
  }
  const inputs = async () => {
    const { messages = [] } = (await store.load("anna/c"))?.thread ?? {}
    return messages.filter(({ role }) => role === "user").map(({ content }) => content)
  }
  return { homes, url: gateway.url, own: homes[0]?.url ?? "", adapter, move, store, inputs }
}

const lookingTroupe = { tools: [tool({ name: "look", execute: () => "rain" })] }

/** A reply that hangs in its second step at each home but the last, and a gateway with two homes more. */
const deployed = (moves = 1) => nodesOf([looking], moves, lookingTroupe)

const typesIn = (text: string): ReadonlyArray<string> =>
  text
    .split("\n")
    .filter((line) => line.startsWith("data: {"))
    .map((line) => (JSON.parse(line.slice(6)) as { readonly type: string }).type)

const uiPost = (url: string) =>
  post(`${url}/api/chat`, { id: "c", message: { id: "u1", role: "user", parts: [{ type: "text", text: "Hello" }] } })

describe("FORWARD8: when the home of a turn leaves", () => {
  it("a client that waits for the result gets it from the next home", async () => {
    const { url, move } = await deployed()
    const asked = post(`${url}/chats/c/messages?wait`, { input: "Hello", id: "m1" })
    await move()
    const answer = await asked
    expect([answer.status, await answer.json()]).toMatchObject([
      200,
      { id: "m1", result: { finalResponse: { outputText: "Once upon a time" } } }
    ])
  })

  it.each([1, 2])("a client that reads the events of its message gets the end after %i moves", async (moves) => {
    const { url, move } = await deployed(moves)
    const asked = post(`${url}/chats/c/messages`, { input: "Hello", id: "m1" }, events)
    for (let moved = 0; moved < moves; moved++) await move()
    const text = await (await asked).text()
    expect(typesIn(text)).not.toContain("failed")
    expect(typesIn(text).at(-1)).toBe("chat_completed")
    expect(text).toContain("Once upon a time")
  })

  it.each([1, 2])("a page of the AI SDK begins the step again after %i moves", async (moves) => {
    const { url, move } = await deployed(moves)
    const asked = uiPost(url)
    for (let moved = 0; moved < moves; moved++) await move()
    const types = typesIn(await (await asked).text())
    expect(types).not.toContain("error")
    expect(types.filter((type) => type === "start")).toHaveLength(1)
    expect(types).toContain("reset-step")
    expect(types.at(-1)).toBe("finish")
  })

  it.each([
    ["the AI SDK", askAiSdk, 1],
    ["the AI SDK", askAiSdk, 2],
    ["AG-UI", askAgUi, 1],
    ["AG-UI", askAgUi, 2]
  ])("the client of %s has the whole reply once, and no error", async (_, ask, moves) => {
    const { url, move } = await deployed(moves)
    const asked = ask(url, "Hello")
    for (let moved = 0; moved < moves; moved++) await move()
    const { texts, errors } = await asked
    const replies = texts?.filter((text) => text !== "Hello" && text !== "" && text !== "rain")
    expect([replies, errors]).toEqual([["Let me look.", "Once upon a time"], []])
  })

  it("a reader of the events of a conversation goes on after its last one", async () => {
    const { url, move } = await deployed()
    await post(`${url}/chats/c/messages`, { input: "Hello", id: "m1" })
    const left = new AbortController()
    const page = await fetch(`${url}/chats/c/events`, { signal: left.signal })
    const reader = page.body?.pipeThrough(new TextDecoderStream()).getReader()
    await move()
    let text = ""
    while (!text.includes('"chat_completed"') && !text.includes('"idle"')) text += (await reader?.read())?.value ?? ""
    expect(text).not.toContain('"failed"')
    expect(text).toContain("Once upon a time")
    left.abort()
  })

  it.each(["gateway", "own"] as const)(
    "a client of its %s node has the whole reply once over each protocol",
    async (by) => {
      for (const ask of [askAiSdk, askAgUi]) {
        const deploy = await deployed()
        const asked = ask(by === "own" ? deploy.own : deploy.url, "Hello")
        await deploy.move()
        const { texts, errors } = await asked
        const replies = texts?.filter((text) => text !== "Hello" && text !== "" && text !== "rain")
        expect([replies, errors]).toEqual([["Let me look.", "Once upon a time"], []])
      }
    }
  )

  it.each([
    ["gateway", 1],
    ["gateway", 2],
    ["own", 1]
  ] as const)("COMPLSPLICE1: a chat completion through the %s node goes on over %i moves", async (by, moves) => {
    const deploy = await deployed(moves)
    const asked = askCompletion(by === "own" ? deploy.own : deploy.url, "Hello")
    for (let moved = 0; moved < moves; moved++) await deploy.move()
    const { text, ids } = await asked
    expect([text, ids.size, await deploy.inputs()]).toEqual(["Let me look.\n\nOnce upon a time", 1, ["Hello"]])
  })

  it.each([
    ["gateway", 1],
    ["gateway", 2],
    ["own", 1]
  ] as const)("RESPSPLICE1: a response through the %s node goes on over %i moves", async (by, moves) => {
    const deploy = await deployed(moves)
    const asked = askResponse(by === "own" ? deploy.own : deploy.url, "Hello")
    for (let moved = 0; moved < moves; moved++) await deploy.move()
    const { last, items, isGrowing } = await asked
    expect([last, isGrowing, await deploy.inputs()]).toEqual(["Let me look.Once upon a time", true, ["Hello"]])
    // A step that was cut before its first word has no item.
    const cut = items.slice(1, -1).map((_, at) => [1 + at, "incomplete", "Once "])
    const whole = [items.length - 1, "completed", "Once upon a time"]
    expect(items).toEqual([[0, "completed", "Let me look."], ...cut, whole])
    expect(items.length).toBeLessThanOrEqual(2 + moves)
  })

  it.each([
    ["/v1/chat/completions", { model: "troupe", messages: [{ role: "user", content: "Hello" }] }],
    ["/v1/responses", { model: "troupe", input: "Hello" }],
    ["/chats/c/messages?wait", { input: "Hello" }]
  ])("FORWARD9: a request without an id gets the whole answer of %s, and begins one turn", async (path, body) => {
    for (const by of ["url", "own"] as const) {
      const deploy = await deployed()
      const asked = post(`${deploy[by]}${path}`, body, { "x-troupe-chat": "c" })
      await deploy.move()
      const answer = await asked
      expect([answer.status, await answer.text()]).toEqual([200, expect.stringContaining("Once upon a time")])
      expect([await deploy.inputs(), deploy.adapter.requests.length]).toEqual([["Hello"], 3])
    }
  })

  it("FORWARD9: a message that waits in the inbox is answered once, after the one before", async () => {
    const { url, move, inputs } = await deployed()
    const ask = (input: string) => post(`${url}/chats/c/messages`, { input }, events)
    const first = await ask("Hello")
    const second = await ask("More")
    const texts = Promise.all([first.text(), second.text()])
    await move()
    for (const text of await texts) {
      expect(text).toContain("Once upon a time")
      expect(typesIn(text)).not.toContain("failed")
      expect(typesIn(text).filter((type) => type === "chat_completed")).toHaveLength(1)
    }
    expect(await inputs()).toEqual(["Hello", "More"])
  })

  it("a page of a conversation is answered while it moves", async () => {
    const { url, move } = await deployed()
    const asked = post(`${url}/chats/c/messages?wait`, { input: "Hello" })
    await until(async () => (await fetch(`${url}/chats/c`)).ok)
    const moved = move()
    const answers = await Promise.all(
      ["/chats/c", "/api/chat/c/messages", "/ag-ui/c/messages", "/chats/c/tasks"].map((path) => fetch(`${url}${path}`))
    )
    await moved
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    expect((await asked).status).toBe(200)
  })
})

describe("FORWARD9: a request without an input of its own begins one turn", () => {
  const calling = (name: string) => [
    { text: "Wait." },
    { toolCall: { id: "t1", name, arguments: {} } },
    { finish: "tool_calls" as const }
  ]

  /** A chat that waits for a decision about `pay`, or for the result of `where`. */
  const waiting = async (name: "pay" | "where") => {
    const paid: Array<string> = []
    const pay = tool({
      name: "pay",
      effect: "write",
      execute: () => {
        paid.push("paid")
        return "ok"
      }
    })
    const deploy = await nodesOf([calling(name)], 1, {
      tools: [pay, tool({ name: "where", manual: true })],
      permissions: { ask: () => "suspend" as const }
    })
    await post(`${deploy.url}/chats/c/messages?wait`, { input: "Hello" })
    return { ...deploy, paid }
  }

  const answer = (type: string, more: object) => ({
    id: "c",
    message: { id: "a1", role: "assistant", parts: [{ type, toolCallId: "t1", input: {}, ...more }] }
  })
  const approved = answer("tool-pay", { state: "approval-responded", approval: { id: "t1", approved: true } })
  const output = answer("tool-where", { state: "output-available", output: "here" })
  const toolMessages = [
    { role: "user", content: "Hello" },
    {
      role: "assistant",
      content: "Wait.",
      tool_calls: [{ id: "t1", type: "function", function: { name: "where", arguments: "{}" } }]
    },
    { role: "tool", tool_call_id: "t1", content: "here" }
  ]

  it.each([
    ["a decision", "pay", "/chats/c/approvals/t1?wait", { type: "allow" }],
    ["a result", "where", "/chats/c/results?wait", { results: { t1: "here" } }],
    ["a decision of useChat", "pay", "/api/chat", approved],
    ["a result of useChat", "where", "/api/chat", output],
    ["a result of chat completions", "where", "/v1/chat/completions", { model: "troupe", messages: toolMessages }]
  ] as const)("%s", async (_, name, path, body) => {
    for (const by of ["url", "own"] as const) {
      const { move, adapter, paid, ...deploy } = await waiting(name)
      const asked = post(`${deploy[by]}${path}`, body, { "x-troupe-chat": "c" })
      await move()
      const reply = await asked
      const text = await reply.text()
      expect([reply.status, text.includes("error"), text]).toEqual([
        200,
        false,
        expect.stringContaining("Once upon a time")
      ])
      expect([adapter.requests.length, paid.length]).toEqual([3, name === "pay" ? 1 : 0])
    }
  })

  it.each([
    ["a retry", "/chats/c/retry?wait", {}],
    ["a retry with its events", "/chats/c/retry", {}],
    [
      "another answer of useChat",
      "/api/chat",
      {
        id: "c",
        trigger: "regenerate-message",
        messages: [{ id: "u1", role: "user", parts: [{ type: "text", text: "Hello" }] }]
      }
    ]
  ])("%s", async (_, path, body) => {
    const { url, move, adapter, inputs } = await nodesOf([[{ text: "First." }, { finish: "stop" }]], 1, {})
    await (await uiPost(url)).text()
    const asked = post(`${url}${path}`, body, path.endsWith("retry") ? events : {})
    await move()
    const text = await (await asked).text()
    expect(text).toContain("Once upon a time")
    expect(typesIn(text)).not.toContain("failed")
    expect([adapter.requests.length, await inputs()]).toEqual([3, ["Hello"]])
  })
})

/** Requests of the own routes and of OpenAI's, which name no input. */
const requests = [
  ["own events", "/chats/c/messages", { input: "Hello" }, events],
  ["an own result", "/chats/c/messages?wait", { input: "Hello" }, {}],
  [
    "useChat",
    "/api/chat",
    { id: "c", message: { id: "u1", role: "user", parts: [{ type: "text", text: "Hello" }] } },
    {}
  ],
  ["a completion", "/v1/chat/completions", { model: "troupe", messages: [{ role: "user", content: "Hello" }] }, {}],
  ["a response", "/v1/responses", { model: "troupe", input: "Hello" }, {}]
] as const

/** How each of them writes that its turn has ended. */
const isEnded =
  /"chat_completed"|"haltedReason":"completed"|"type":"finish"|"finish_reason":"stop"|"status":"completed"/u

describe("FORWARD10: a turn that has not ended is no end for its client", () => {
  it.each(requests)("%s while the next home is in mid-reply", async (_, path, body, headers) => {
    const clock = Clock.test()
    const slow = [{ text: "Once " }, { delayMs: 1 }, { text: "upon a time" }, { finish: "stop" as const }]
    const adapter = Fake.make({ scripts: [hanging, slow, slow], clock })
    const deploy = await nodesWith(adapter, {})
    const asked = post(`${deploy.url}${path}`, body, { "x-troupe-chat": "c", ...headers })
    await deploy.move()
    await until(() => clock.pending > 0)
    // The next home has had the time to answer in the middle of the reply.
    await turns(200)
    await clock.advance(1)
    const text = await (await asked).text()
    expect(text).toContain("upon a time")
    expect(text).toMatch(isEnded)
  })

  it.each(requests)("%s gets an error when no home resumes the turn", async (_, path, body, headers) => {
    const deploy = await nodesWith(Fake.make({ scripts: [looking, hanging] }), lookingTroupe, { onMoved: "interrupt" })
    const asked = post(`${deploy.url}${path}`, body, { "x-troupe-chat": "c", ...headers })
    await deploy.move()
    const text = await (await asked).text()
    expect(text).toMatch(/moves|moved/u)
    expect(text).not.toMatch(isEnded)
  })
})
