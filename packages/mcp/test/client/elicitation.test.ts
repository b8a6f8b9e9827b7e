import { InMemoryTransport } from "@modelcontextprotocol/client"
import { createMcpHandler, inputRequired, McpServer } from "@modelcontextprotocol/server"
import { Fake, Troupe } from "@troupe/chat"
import { Store } from "@troupe/chat/store"
import { System } from "@troupe/otp"
import { listen } from "@troupe/server/Node"
import { afterEach, describe, expect, test } from "vitest"
import { Mcp } from "../../src/index.ts"

const ends: Array<() => Promise<unknown>> = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

const form = {
  mode: "form" as const,
  message: "How many?",
  requestedSchema: {
    type: "object" as const,
    properties: { count: { type: "integer" as const }, unit: { type: "string" as const, default: "kg" } },
    required: ["count", "unit"]
  }
}

/** A server that sells: it asks how many, and then to open a page. */
const shop = (sold: Array<unknown>) => (): McpServer => {
  const server = new McpServer({ name: "shop", version: "1.0.0" })
  server.registerTool("order", { description: "Orders" }, async ({ mcpReq }) => {
    const text = (value: unknown) => ({ content: [{ type: "text" as const, text: JSON.stringify(value) }] })
    const responses = (mcpReq.inputResponses ?? {}) as Readonly<Record<string, { action: string; content?: unknown }>>
    const state = mcpReq.requestState()
    if (typeof state === "string") {
      sold.push(JSON.parse(state))
      return text(responses["pay"]?.action)
    }
    const { how } = responses
    if (how === undefined) return inputRequired({ inputRequests: { how: inputRequired.elicit(form) } })
    if (how.action !== "accept") return text(how.action)
    const pay = { mode: "url" as const, message: "Pay here", url: "https://shop.example/pay", elicitationId: "e1" }
    return inputRequired({
      inputRequests: { pay: inputRequired.elicitUrl(pay) },
      requestState: JSON.stringify(how.content)
    })
  })
  return server
}

/** The address of a server of each protocol, and the function that kills it. */
const servers = {
  older: async (sold: Array<unknown>) => {
    let theirs: InMemoryTransport | undefined
    const transport = (): InMemoryTransport => {
      const [ours, other] = InMemoryTransport.createLinkedPair()
      theirs = other
      void shop(sold)().connect(other)
      return ours
    }
    return { server: { transport }, kill: async () => theirs?.close() }
  },
  newer: async (sold: Array<unknown>) => {
    const { url, close } = await listen(
      { ...createMcpHandler(shop(sold), { legacy: "reject" }), hosts: undefined },
      { graceMs: 0 }
    )
    ends.push(close)
    return { server: { url }, kill: close }
  }
}

/** A Troupe with the tools of the server, on a store. */
const begin = async (server: Mcp.McpServerParams, store: Store.SessionStore, options: Mcp.McpOptions = {}) => {
  const system = System.make({ silent: true })
  const mcp = await Mcp.start(system, server, { name: "shop", ...options })
  const adapter = Fake.make({
    respond: ({ messages }) =>
      messages.at(-1)?.role === "user"
        ? [{ toolCall: { id: "c1", name: "order" } }, { finish: "tool_calls" }]
        : [{ text: "Ordered." }, { finish: "stop" }]
  })
  const troupe = await Troupe.start({ system, adapter, tools: mcp.tools, store })
  const end = async () => {
    await troupe.stop()
    await System.stop(system)
  }
  ends.push(end)
  return { mcp, troupe, chat: await troupe.chat("anna"), end }
}

const answers = (value: unknown) => ({ type: "result", value }) as const

const resultIn = ({ thread }: { readonly thread: { readonly messages: ReadonlyArray<object> } }) =>
  thread.messages.findLast((message) => "role" in message && message.role === "tool")

const schema = { ...form.requestedSchema, required: ["count"] }

describe.each(["older", "newer"] as const)("a server of the %s protocol", (protocol) => {
  test("ELICIT2. asks through the inbox: a form with its schema, then a page", async () => {
    const sold: Array<unknown> = []
    const { server } = await servers[protocol](sold)
    const { troupe, chat } = await begin(server, Store.memory())
    const asked = await chat.send("Order").result()
    expect(asked.pendingApprovals).toMatchObject([
      { kind: "question", reason: "How many?", options: { server: "shop", schema }, toolCall: { name: "order" } }
    ])
    const [form_] = (await troupe.waiting()).waits
    expect(form_).toMatchObject({ kind: "question", tool: "order", text: "How many?", options: { schema } })
    const address = form_?.toolCallId ?? ""
    expect(() => chat.approve(address, answers({ count: "three" }))).toThrow("count")
    const paying = await chat.approve(address, answers({ count: 3 })).result()
    const [page] = paying.pendingApprovals ?? []
    expect(page).toMatchObject({ reason: "Pay here", options: { url: "https://shop.example/pay" } })
    const done = await chat.approve(page?.toolCall.id ?? "", answers("opened")).result()
    expect(resultIn(done)).toMatchObject({ content: '"accept"' })
    expect(sold).toEqual([{ count: 3, unit: "kg" }])
  })

  test("ELICIT2. gets a decline when a person denies, and a halt ends the turn", async () => {
    const { server } = await servers[protocol]([])
    const { chat } = await begin(server, Store.memory())
    const first = await chat.send("Order").result()
    const declined = await chat.approve(first.pendingApprovals?.[0]?.toolCall.id ?? "", { type: "deny" }).result()
    expect(resultIn(declined)).toMatchObject({ content: '"decline"' })
    const second = await chat.send("Again").result()
    const halted = await chat
      .approve(second.pendingApprovals?.[0]?.toolCall.id ?? "", { type: "halt", reason: "enough" })
      .result()
    expect(halted.haltedReason).toBe("enough")
  })

  test("ELICIT2. cannot ask when the host says so", async () => {
    const { server } = await servers[protocol]([])
    const { chat } = await begin(server, Store.memory(), { elicit: false })
    expect(resultIn(await chat.send("Order").result())).toMatchObject({ outcome: "failed" })
  })
})

test("ELICIT2. an answer after a restart reaches a server of the newer protocol", async () => {
  const sold: Array<unknown> = []
  const { server } = await servers.newer(sold)
  const store = Store.memory()
  const first = await begin(server, store)
  await first.chat.send("Order").result()
  await first.end()
  const { troupe, chat } = await begin(server, store)
  const [wait] = (await troupe.waiting()).waits
  const paying = await chat.approve(wait?.toolCallId ?? "", answers({ count: 2 })).result()
  await chat.approve(paying.pendingApprovals?.[0]?.toolCall.id ?? "", answers("opened")).result()
  expect(sold).toEqual([{ count: 2, unit: "kg" }])
})

test("ELICIT2. the outcome is unknown when a server of the older protocol, which asked, is gone, here or after a restart", async () => {
  for (const isRestarted of [false, true]) {
    const sold: Array<unknown> = []
    const { server, kill } = await servers.older(sold)
    const store = Store.memory()
    const first = await begin(server, store, { restarts: { firstDelayMs: 1 } })
    await first.chat.send("Order").result()
    if (isRestarted) await first.end()
    else {
      await kill()
      await expect.poll(() => first.mcp.health).toMatchObject({ status: "connected", failedStarts: 1 })
    }
    const { troupe, chat } = isRestarted ? await begin(server, store) : first
    const [wait] = (await troupe.waiting()).waits
    const asked = await chat.approve(wait?.toolCallId ?? "", answers({ count: 2 })).result()
    expect(asked.pendingApprovals).toMatchObject([{ kind: "unknown_outcome", toolCall: { id: "c1" } }])
    const again = await chat.approve("c1", { type: "allow" }).result()
    expect(again.pendingApprovals).toMatchObject([{ kind: "question", reason: "How many?" }])
    expect(sold).toEqual([])
  }
})

test("MCPH8. an answer that comes while the server starts again waits for that start", async () => {
  const gate = Promise.withResolvers<void>()
  let starts = 0
  let theirs: InMemoryTransport | undefined
  const transport = (): InMemoryTransport => {
    const [ours, other] = InMemoryTransport.createLinkedPair()
    theirs = other
    starts += 1
    void (starts === 1 ? Promise.resolve() : gate.promise).then(() => shop([])().connect(other))
    return ours
  }
  const options = { protocol: "older", restarts: { firstDelayMs: 1 } } as const
  const { troupe, chat, mcp } = await begin({ transport }, Store.memory(), options)
  await chat.send("Order").result()
  const [wait] = (await troupe.waiting()).waits
  await theirs?.close()
  await expect.poll(() => starts).toBe(2)
  const answered = chat.approve(wait?.toolCallId ?? "", answers({ count: 2 })).result()
  await expect.poll(() => chat.getSnapshot()?.context.toolCalls).toMatchObject([{ status: "running" }])
  gate.resolve()
  expect((await answered).pendingApprovals).toMatchObject([{ kind: "unknown_outcome" }])
  expect(mcp.health.status).toBe("connected")
})

test("MCPT4. a call that writes is unknown when the server dies while it runs, and the call is not repeated", async () => {
  let calls = 0
  let theirs: InMemoryTransport | undefined
  const transport = (): InMemoryTransport => {
    const [ours, other] = InMemoryTransport.createLinkedPair()
    theirs = other
    const server = new McpServer({ name: "shop", version: "1.0.0" })
    server.registerTool("order", {}, async () => {
      calls += 1
      void theirs?.close()
      return { content: [] }
    })
    void server.connect(other)
    return ours
  }
  const { chat } = await begin({ transport }, Store.memory())
  const asked = await chat.send("Order").result()
  expect(asked.pendingApprovals).toMatchObject([{ kind: "unknown_outcome" }])
  const left = await chat.approve("c1", { type: "deny" }).result()
  expect(resultIn(left)).toMatchObject({ outcome: "unknown" })
  expect(calls).toBe(1)
})

/** A chat whose call waits for the answer to a question of a server of the older protocol, and the end of that call at the server. */
const waiting = async () => {
  const cancelled = Promise.withResolvers<string>()
  const transport = (): InMemoryTransport => {
    const [ours, theirs] = InMemoryTransport.createLinkedPair()
    const server = new McpServer({ name: "shop", version: "1.0.0" })
    server.registerTool("order", {}, async ({ mcpReq }) => {
      mcpReq.signal.addEventListener("abort", () => cancelled.resolve("cancelled"))
      const { action } = await mcpReq.elicitInput(form)
      if (action !== "cancel") cancelled.resolve("answered")
      return { content: [{ type: "text", text: action }] }
    })
    void server.connect(theirs)
    return ours
  }
  const { chat, troupe } = await begin({ transport }, Store.memory())
  expect(await chat.send("Order").result()).toMatchObject({ haltedReason: "awaiting_approval" })
  return { chat, troupe, end: cancelled.promise }
}

test("OPENCALL2. a call that waits is cancelled at its server of the older protocol when its turn is cancelled", async () => {
  const { chat, end } = await waiting()
  await chat.cancel()
  expect(await end).toBe("cancelled")
})

test("OPENCALL2. a call that waits is cancelled at its server when its chat is rewound or deleted", async () => {
  const rewound = await waiting()
  await rewound.troupe.rewind("anna", 0)
  expect(await rewound.end).toBe("cancelled")
  const deleted = await waiting()
  await deleted.troupe.delete("anna")
  expect(await deleted.end).toBe("cancelled")
})

test("DROPPED1. a call that is answered is not cancelled at its server", async () => {
  const { chat, troupe, end } = await waiting()
  const [wait] = (await troupe.waiting()).waits
  const value = { count: 2, unit: "kg" }
  await chat.approve(wait?.toolCallId ?? "", { type: "result", value }).result()
  expect(await end).toBe("answered")
})
