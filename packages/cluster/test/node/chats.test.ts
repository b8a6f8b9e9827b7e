import { Fake, tool } from "@troupe/chat"
import type { SessionError } from "@troupe/chat/errors"
import type { System } from "@troupe/otp"
import { describe, expect, it } from "vitest"
import * as z from "zod"
import { nodes, type TestNode, until } from "../double/clusterNodes.ts"

const refusalOf = (work: Promise<unknown>): Promise<SessionError> =>
  work.then(
    () => expect.fail("it was not refused"),
    (error: unknown) => error as SessionError
  )

const once = [{ text: "Once " }, { hang: true }] as const

describe("a chat of the cluster", () => {
  it("CLREF1: a turn on another node has its receipt, its events and its result", async () => {
    const { node } = nodes()
    const [, other] = [await node(), await node()]
    const chat = await other.troupe.chat("c")
    const turn = chat.send("Hello", { id: "m1" })
    expect(await turn.receipt).toEqual({ status: "delivered" })
    const types: Array<string> = []
    for await (const event of turn) types.push(event.type)
    expect([types.includes("text_delta"), types.at(-1)]).toEqual([true, "chat_completed"])
    const { finalResponse, haltedReason } = await turn.result()
    expect([finalResponse?.outputText, haltedReason, turn.status, turn.over]).toEqual([
      "Hi there",
      "completed",
      "delivered",
      true
    ])
    expect((await chat.view()).messages.map(({ content }) => content)).toEqual(["Hello", "Hi there"])
    await expect(chat.send("Hello", { id: "m1" }).result()).rejects.toMatchObject({ reason: "already_delivered" })
  })

  it("CLREF1: refusals are the typed errors of a local chat", async () => {
    const { node } = nodes(Fake.make({ script: [...once] }))
    const [, other] = [await node(), await node()]
    const chat = await other.troupe.chat("c")
    await expect(chat.retry().result()).rejects.toMatchObject({ _tag: "SessionError", reason: "nothing_to_retry" })
    const turn = chat.send("Hello")
    await turn.receipt
    const refused = chat.send("More", { whenBusy: "reject" })
    expect(await refused.receipt).toMatchObject({ status: "rejected", reason: "busy" })
    const waiting = chat.send("Later")
    expect(await waiting.receipt).toEqual({ status: "pending" })
    await expect(chat.cancelToolCall("none")).rejects.toMatchObject({ reason: "tool_call_not_running" })
    await chat.cancel()
    expect((await turn.result()).haltedReason).toBe("cancelled")
    expect(await waiting.delivery).toEqual({ status: "delivered" })
    await chat.cancel()
    await chat.setPermissionMode("plan")
    expect((await chat.view()).permissionMode).toBe("plan")
    await chat.stop()
  })

  it("CLREF1: a reader of one turn, or of the states of calls, is refused with what to write", async () => {
    const { node } = nodes()
    const chat = await (await node()).troupe.chat("c")
    const turn = chat.send("Hello")
    const options = { turn, calls: true } as Parameters<typeof chat.attach>[0]
    expect(() => chat.attach(options)).toThrow(
      expect.objectContaining({
        _tag: "ValidationError",
        errors: [
          { field: ["turn"], reason: expect.stringContaining("read the turn that send returned") },
          { field: ["calls"], reason: expect.stringContaining("read toolCalls of the view") }
        ]
      })
    )
    await turn.result()
  })

  it("CLREF1: a chat has its agent on any node, is handed over, and keeps both over a move", async () => {
    const answering = (text: string) => Fake.make({ script: [{ text }, { finish: "stop" }] })
    const agents = { support: { adapter: answering("support") }, billing: { adapter: answering("billing") } }
    const { node, placements } = nodes()
    const options = { troupe: { agents } }
    const [, b, c] = [await node(options), await node(options), await node(options)]
    await expect(c.troupe.chat("c", { agent: "suport" })).rejects.toMatchObject({ reason: "unknown_agent" })
    const chat = await c.troupe.chat("c", { agent: "support" })
    await placements.move("c", b.troupe.address)
    const said = await chat.send("Hello", { model: "small" }).result()
    expect([said.finalResponse?.outputText, (await chat.view()).agent]).toEqual(["support", "support"])
    expect(agents.support.adapter.requests[0]?.model).toBe("small")
    await chat.handoff("billing")
    await expect(c.troupe.chat("c", { agent: "support" })).rejects.toMatchObject({ reason: "other_agent" })
    expect((await chat.send("And now?").result()).finalResponse?.outputText).toBe("billing")
    await c.troupe.begin([], { id: "d", agent: "billing" })
    const fork = await c.troupe.fork("c", { id: "e", agent: "support" })
    expect([(await (await c.troupe.chat("d")).view()).agent, (await fork.view()).agent]).toEqual(["billing", "support"])
  })

  it("CLREF1: approvals, results and the schema of an answer cross the network", async () => {
    const adapter = Fake.make({
      scripts: [
        [{ toolCall: { id: "t1", name: "pay", arguments: {} } }, { finish: "tool_calls" }],
        [{ text: '{"sum":2}' }, { finish: "stop" }]
      ]
    })
    const pay = tool({ name: "pay", effect: "write", parameters: z.object({}), execute: () => "paid" })
    const { node } = nodes(adapter)
    const options = { troupe: { tools: [pay], permissions: { ask: () => "suspend" as const } } }
    const [, other] = [await node(options), await node(options)]
    const chat = await other.troupe.chat("c")
    const asked = await chat.send("Pay", { schema: z.object({ sum: z.number() }) }).result()
    expect(asked.pendingApprovals?.map(({ toolCall }) => toolCall.id)).toEqual(["t1"])
    const decided = await chat.approve("t1", { type: "allow" }).result()
    expect(decided.finalResponse?.outputText).toBe('{"sum":2}')
  })

  it("CLREF1, ANSWERING2: decisions, results and an input cross the network as one turn, used once for their id", async () => {
    const adapter = Fake.make({
      scripts: [
        [{ toolCall: { id: "p0", name: "pay" } }, { toolCall: { id: "s0", name: "sign" } }, { finish: "tool_calls" }],
        [{ text: "Both are done." }, { finish: "stop" }]
      ]
    })
    const tools = [tool({ name: "pay", execute: () => "paid" }), tool({ name: "sign", manual: true })]
    const { node } = nodes(adapter)
    const options = { troupe: { tools, permissions: { ask: () => "suspend" as const } } }
    const [, other] = [await node(options), await node(options)]
    const chat = await other.troupe.chat("c")
    await chat.send("Pay and sign").result()
    const answers = { decisions: { p0: { type: "allow" } }, results: { s0: "signed" }, input: "And then?" } as const
    const [first, second] = [chat.answer(answers, { id: "a1" }), chat.answer(answers, { id: "a1" })]
    expect((await first.result()).finalResponse?.outputText).toBe("Both are done.")
    await second.ended
    expect(adapter.requests.length).toBe(2)
    expect(await refusalOf(chat.answer({ input: "And?" }).result())).toMatchObject({ reason: "no_question" })
    expect(() => chat.answer({ decision: {} } as never)).toThrow("decision")
  })

  it("CLREF1: refusals have the metadata of a local chat", async () => {
    const { node } = nodes(Fake.make({ script: [...once] }))
    const options = { troupe: { agents: { support: {} } } }
    const [home, other] = [await node(options), await node(options)]
    await other.troupe.chat("c")
    const metadataAt = async (
      troupe: Pick<TestNode["troupe"] | TestNode["troupe"]["local"], "chat">
    ): Promise<unknown> => {
      const chat = await troupe.chat("c")
      const { metadata: noAgent } = await refusalOf(troupe.chat("d", { agent: "suport" }))
      const { metadata: noCall } = await refusalOf(chat.cancelToolCall("none"))
      return [noAgent, noCall]
    }
    const local = await metadataAt(home.troupe.local)
    expect(await metadataAt(other.troupe)).toEqual(local)
    expect(local).toMatchObject([{ agent: "suport", closest: "support" }, { toolCallId: "none" }])
  })

  it("CLREF1: texts with every separator of lines reach a turn and a reader on another node", async () => {
    const text = "a\u2028b\u2029c\u0085d\r\ne\vf"
    const { node } = nodes(Fake.make({ script: [{ text }, { finish: "stop" }] }))
    const [, other] = [await node(), await node()]
    const chat = await other.troupe.chat("c")
    const reader = chat.attach()
    const turn = chat.send(text)
    expect((await turn.result()).finalResponse?.outputText).toBe(text)
    let last: unknown
    for await (const item of reader) {
      if (item.type === "event" && item.event.type === "chat_completed")
        last = item.event.result.finalResponse?.outputText
      if (item.type === "snapshot") last = item.view.messages[1]?.content
      if (last !== undefined) break
    }
    expect(last).toBe(text)
    expect((await chat.view()).messages.map(({ content }) => content)).toEqual([text, text])
  })

  it("CLREF1: a chat that has stored nothing is cancelled and handed over after a move too", async () => {
    const { node, placements } = nodes()
    const options = { troupe: { agents: { support: {}, billing: {} } } }
    const [a, b] = [await node(options), await node(options)]
    const chat = await a.troupe.chat("c", { agent: "support" })
    await placements.move("c", b.troupe.address)
    await chat.cancel()
    await placements.move("c", a.troupe.address)
    await chat.handoff("billing")
    expect((await chat.view()).agent).toBe("billing")
  })

  it("CLREF2: inputs are delivered in the order in which they are sent, whatever their size", async () => {
    const { node } = nodes()
    const [, other] = [await node(), await node()]
    const chat = await other.troupe.chat("c")
    const [long, short] = ["x".repeat(4_000_000), "y"]
    const turns = [chat.send(long), chat.send(short)]
    for (const turn of turns) await turn.result()
    const { messages } = await chat.view()
    expect(messages.map(({ content }) => content?.length)).toEqual([long.length, 8, 1, 8])
  })

  it("an unexpected failure of a chat's request is reported to `onError` of the cluster", async () => {
    const { node } = nodes()
    const errors: Array<unknown> = []
    await node()
    const onError = (error: unknown): void => void errors.push(error)
    const { troupe } = await node({ cluster: { secret: "another secret than the others", onError } })
    await expect(troupe.fork("c", { id: "d" })).rejects.toMatchObject({ code: "internal" })
    expect(errors).toMatchObject([{ _tag: "ClusterError", reason: "unauthorized" }])
  })

  it("CLUSTER17: without `onError`, a failure that no caller gets is one report of the node, with the id that the client got", async () => {
    const { node } = nodes()
    const reports: Array<System.Report> = []
    await node()
    const logger = (report: System.Report): void => void reports.push(report)
    const { troupe } = await node({ cluster: { secret: "another secret than the others" }, troupe: { logger } })
    await expect(troupe.fork("c", { id: "d" })).rejects.toMatchObject({ code: "internal" })
    expect(reports.map(({ message }) => message)).toEqual([expect.stringContaining("ClusterError")])
  })

  it("CLUSTER6: a reader goes on over a move, with a snapshot", async () => {
    const { node, placements } = nodes(Fake.make({ scripts: [[...once], [{ text: "Again" }, { finish: "stop" }]] }))
    const [, b, c] = [await node(), await node(), await node()]
    const chat = await c.troupe.chat("c")
    const items: Array<string> = []
    const reader = chat.attach()
    chat.send("Hello", { id: "m1" })
    for await (const item of reader) {
      const what = item.type === "event" ? item.event.type : item.type
      items.push(what)
      if (what === "text_delta" && items.length > 1 && !items.includes("moved")) {
        items.push("moved")
        await placements.move("c", b.troupe.address)
      }
      if (item.type === "snapshot" && item.view.messages.at(-1)?.content === "Again") break
      if (what === "chat_completed") break
    }
    expect(items.slice(items.indexOf("moved"))).toContain("snapshot")
  })

  it("CLUSTER7, CLUSTER9: a turn is followed over a move, and resumed at its next home", async () => {
    const { node, placements } = nodes(Fake.make({ scripts: [[...once], [{ text: "Again" }, { finish: "stop" }]] }))
    const [, b, c] = [await node(), await node(), await node()]
    const chat = await c.troupe.chat("c")
    const turn = chat.send("Hello", { id: "m1" })
    for await (const event of turn) {
      if (event.type === "text_delta") break
    }
    await placements.move("c", b.troupe.address)
    expect((await turn.result()).finalResponse?.outputText).toBe("Again")
  })

  /** Homes of a chat whose turn hangs at the first of them. `resumed` waits until the turn was resumed so often. */
  const hanging = async (count: number) => {
    const adapter = Fake.make({ script: [...once] })
    const { node, placements } = nodes(adapter)
    const homes: Array<TestNode> = []
    while (homes.length < count) homes.push(await node())
    await (await homes[0]?.troupe.chat("c"))?.send("Hello", { id: "m1" }).receipt
    const resumed = (times: number) => until(() => adapter.requests.length === 1 + times)
    await resumed(0)
    const addressOf = (at: number) => homes[at]?.troupe.address ?? ""
    return { homes, placements, resumed, addressOf }
  }

  it("CLUSTER9: a turn is resumed after each home that leaves, however often", async () => {
    const { homes, placements, resumed, addressOf } = await hanging(2)
    for (let move = 1; move <= 6; move++) {
      await placements.move("c", addressOf(move % 2))
      await resumed(move)
    }
    expect((await homes[0]?.troupe.local.chat("c"))?.getSnapshot()?.context.interrupted).toBe(undefined)
  })

  it("CLUSTER9: a turn is resumed at most twice after homes that are gone, whatever homes leave between", async () => {
    const { homes, placements, resumed, addressOf } = await hanging(5)
    await placements.inherit(addressOf(0), addressOf(1))
    await resumed(1)
    await placements.inherit(addressOf(1), addressOf(2))
    await resumed(2)
    await placements.move("c", addressOf(3))
    await resumed(3)
    await placements.inherit(addressOf(3), addressOf(4))
    const [last] = homes.slice(4)
    await until(() => last?.troupe.isAlive("c") === true && last.troupe.isHome("c"))
    const { turn, interrupted } = (await last?.troupe.local.chat("c"))?.getSnapshot()?.context ?? {}
    expect([turn, interrupted]).toEqual([undefined, { text: "" }])
  })

  it("with `interrupt` a turn waits for its sender, who learns of the move", async () => {
    const cluster = { onMoved: "interrupt" as const }
    const { node, placements } = nodes(Fake.make({ script: [...once] }))
    const [, b, c] = [await node({ cluster }), await node({ cluster }), await node({ cluster })]
    const chat = await c.troupe.chat("c")
    const turn = chat.send("Hello", { id: "m1" })
    await turn.receipt
    await placements.move("c", b.troupe.address)
    await expect(turn.result()).rejects.toMatchObject({ reason: "moved" } satisfies Partial<SessionError>)
    expect((await chat.view()).status).toBe("interrupted")
  })

  it("CLUSTER16: a monitor reports the end of the chat exactly once, and noconnection when its node is gone", async () => {
    const { node, placements } = nodes()
    const [, b, c] = [await node(), await node(), await node()]
    const chat = await c.troupe.chat("c")
    const first = await chat.monitor()
    await chat.stop()
    expect(await first.down).toEqual({ id: "c", reason: "shutdown" })
    expect(await (await chat.monitor()).down).toEqual({ id: "c", reason: "noproc" })
    await chat.start()
    const second = await chat.monitor()
    await placements.move("c", b.troupe.address)
    expect(await second.down).toEqual({ id: "c", reason: "shutdown" })
    await chat.start()
    const third = await chat.monitor()
    const fourth = await chat.monitor()
    fourth.demonitor()
    b.proxy.cut()
    expect(await third.down).toEqual({ id: "c", reason: "noconnection" })
  })

  it("operations on whole conversations work from every node", async () => {
    const { node } = nodes()
    const [a, b] = [await node(), await node()]
    const chat = await b.troupe.chat("c")
    await chat.send("Hello").result()
    const fork = await b.troupe.fork("c", { id: "d" })
    expect((await fork.view()).messages).toHaveLength(2)
    const record = await b.troupe.rewind("c", 0)
    expect(record.thread.messages).toEqual([])
    const begun = await b.troupe.begin([{ role: "user", content: "Hi" }], { id: "e" })
    expect((await begun.retry().result()).finalResponse?.outputText).toBe("Hi there")
    expect((await a.troupe.list()).chats.map(({ id }) => id).toSorted()).toEqual(["c", "d", "e"])
    await b.troupe.delete("d")
    await b.troupe.delete("d")
    expect([await b.troupe.has("c"), await b.troupe.has("d")]).toEqual([true, false])
  })
})
