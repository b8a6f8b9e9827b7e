import { Fake, tool, type TroupeOptions } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import { Message } from "@troupe/chat/messages"
import type { Request } from "@troupe/chat/models"
import { Store } from "@troupe/chat/store"
import { describe, expect, it } from "vitest"
import { nodes, type TestNode, until } from "../double/clusterNodes.ts"

const says = (text: string): Fake.Script => [{ text }, { finish: "stop" }]

const calls = (id: string, name: string, args: Readonly<Record<string, unknown>> = {}): Fake.Script => [
  { toolCall: { id, name, arguments: args } },
  { finish: "tool_calls" }
]

/** The text of the newest result, if that is the newest message. */
const resultIn = ({ messages }: Request): string | undefined => {
  const newest = messages.at(-1)
  return newest?.role === "tool" ? Message.text(newest) : undefined
}

/**
 * Three nodes whose chats give a task to the agent `research`. The agent calls `write`, and reads the result. `hangs` is where the
 * first run of the agent stays.
 */
const family = async (hangs: "in the call" | "after the call" | "nowhere", permissions: Permissions = {}) => {
  const began: Array<string> = []
  let read = 0
  const write = tool({
    name: "write",
    execute: (_, { idempotencyKey }) => {
      began.push(idempotencyKey)
      return hangs === "in the call" ? new Promise<never>(() => {}) : "written"
    }
  })
  const root = Fake.make({
    respond: (request) => {
      const result = resultIn(request)
      return result === undefined
        ? calls("dig", "research", { input: "Dig" })
        : says(`It says: ${result.replace(/\s*\[agent: .*\]$/u, "")}`)
    }
  })
  const research = Fake.make({
    respond: (request) => {
      const result = resultIn(request)
      if (result === undefined) return calls("w1", "write")
      read += 1
      return hangs === "after the call" && read === 1 ? [{ text: "hm" }, { hang: true }] : says(`I read: ${result}`)
    }
  })
  const { node, placements, store } = nodes(root)
  const troupe = {
    agents: { research: { adapter: research, tools: [write], permissions } },
    tools: [Agents.subagent("research")]
  }
  const [a, b, c] = [await node({ troupe }), await node({ troupe }), await node({ troupe })]
  const chat = await c.troupe.chat("c")
  const children = async () => (await store.list({ prefix: "c/~/" })).chats.map(({ id }) => id)
  return { placements, began, read: () => read, a, b, chat, children }
}

type Permissions = NonNullable<TroupeOptions["permissions"]>

const areAlive = ({ troupe }: TestNode, ids: ReadonlyArray<string>): ReadonlyArray<boolean> =>
  ids.map((id) => troupe.isAlive(id))

describe("a chat with a sub-agent", () => {
  it("has its home for its child too: their buckets are the same", async () => {
    const { a, chat, children } = await family("nowhere")
    const { finalResponse } = await chat.send("Hello").result()
    expect(finalResponse?.outputText).toBe("It says: I read: written")
    expect((await children()).map(Store.bucketOf)).toEqual([Store.bucketOf("c")])
    expect(a.troupe.isAlive("c")).toBe(true)
  })

  it("SUB3, SUB5, CLUSTER8: moves with its child, whose process ends, and whose conversation goes on", async () => {
    const { placements, began, read, a, b, chat, children } = await family("after the call")
    const turn = chat.send("Hello", { id: "m1" })
    await until(() => read() === 1)
    const ids = await children()
    expect(areAlive(a, ["c", ...ids])).toEqual([true, true])
    await placements.move("c", b.troupe.address)
    expect(areAlive(a, ["c", ...ids])).toEqual([false, false])
    expect((await turn.result()).finalResponse?.outputText).toBe("It says: I read: written")
    expect(await children()).toEqual(ids)
    expect([began.length, areAlive(b, ["c", ...ids])]).toEqual([1, [true, false]])
  })

  it.each(["moves", "loses its home"] as const)(
    "CLUSTER3, SUB10: that %s while its child writes asks whether it took effect, and the call does not begin again",
    async (how) => {
      const { placements, began, a, b, chat } = await family("in the call")
      const turn = chat.send("Hello", { id: "m1" })
      await until(() => began.length === 1)
      if (how === "moves") await placements.move("c", b.troupe.address)
      else {
        a.proxy.freeze()
        await placements.inherit(a.troupe.address, b.troupe.address)
      }
      const { haltedReason, pendingApprovals = [] } = await turn.result()
      expect([haltedReason, pendingApprovals.map(({ kind }) => kind)]).toEqual([
        "awaiting_approval",
        ["unknown_outcome"]
      ])
      const id = pendingApprovals[0]?.toolCall.id ?? ""
      const { finalResponse } = await chat.approve(id, { type: "result", value: "seen" }).result()
      expect(finalResponse?.outputText).toBe("It says: I read: seen")
      expect(began).toHaveLength(1)
    }
  )
})

describe("a chat whose sub-agent waits for an approval", () => {
  it("OPEN3, CLUSTER7: still waits at its next home, where the same child goes on after the decision", async () => {
    const { placements, began, a, b, chat, children } = await family("nowhere", { ask: () => "suspend" })
    const asked = await chat.send("Hello").result()
    expect([asked.haltedReason, began.length]).toEqual(["awaiting_approval", 0])
    const ids = await children()
    await placements.move("c", b.troupe.address)
    const { waits } = await a.troupe.waiting()
    expect(waits).toMatchObject([{ chat: "c", toolCallId: "dig/~/w1", agent: { name: "research" } }])
    const decisions = [chat.approve("dig/~/w1", { type: "allow" }), chat.approve("dig/~/w1", { type: "deny" })]
    const ends = await Promise.allSettled(decisions.map((turn) => turn.result()))
    expect(ends.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"])
    const { messages } = await chat.view()
    const isAllowed = ends[0]?.status === "fulfilled"
    expect(messages.at(-1)?.content).toContain(isAllowed ? "I read: written" : "I read: ")
    expect([began.length, await children(), a.troupe.isAlive("c")]).toEqual([isAllowed ? 1 : 0, ids, false])
  })
})

describe("a chat that waits for an approval", () => {
  it("OPEN3, CLUSTER7: still waits at its next home, and runs the call there once", async () => {
    const { node, placements } = nodes(
      Fake.make({
        respond: (request) => {
          const result = resultIn(request)
          return result === undefined ? calls("p1", "pay") : says(`It is ${result}.`)
        }
      })
    )
    const paid: Array<string> = []
    const troupeOf = (name: string) => ({
      tools: [tool({ name: "pay", execute: () => (paid.push(name), "paid") })],
      permissions: { ask: () => "suspend" as const }
    })
    const [a, b, c] = [
      await node({ troupe: troupeOf("a") }),
      await node({ troupe: troupeOf("b") }),
      await node({ troupe: troupeOf("c") })
    ]
    const chat = await c.troupe.chat("c")
    expect((await chat.send("Pay").result()).haltedReason).toBe("awaiting_approval")
    await placements.move("c", b.troupe.address)
    expect((await c.troupe.waiting()).waits).toMatchObject([{ chat: "c", toolCallId: "p1", kind: "approval" }])
    const decided = await chat.approve("p1", { type: "allow" }).result()
    expect([decided.finalResponse?.outputText, paid]).toEqual(["It is paid.", ["b"]])
    expect([a, b].map(({ troupe }) => troupe.isAlive("c"))).toEqual([false, true])
    expect((await c.troupe.waiting()).waits).toEqual([])
  })
})

describe("a chat with a sub-agent in the background", () => {
  it("SUB5, CLUSTER8: gets the end of the work once at its next home, and no call that writes begins again", async () => {
    const began: Array<string> = []
    let read = 0
    const write = tool({ name: "write", execute: (_, { idempotencyKey }) => (began.push(idempotencyKey), "written") })
    const research = Fake.make({
      respond: (request) => {
        if (resultIn(request) === undefined) return calls("w1", "write")
        read += 1
        return read === 1 ? [{ text: "hm" }, { hang: true }] : says("I have written.")
      }
    })
    const root = Fake.make({
      respond: ({ messages }) => {
        if (messages.length === 1) return calls("dig", "research", { input: "Dig" })
        return says(`Heard: ${messages.slice(-1).map(Message.text).join("")}`)
      }
    })
    const { node, placements, store } = nodes(root)
    const troupe = {
      agents: { research: { adapter: research, tools: [write] } },
      tools: [Agents.subagent("research", { background: true })]
    }
    const [a, b, c] = [await node({ troupe }), await node({ troupe }), await node({ troupe })]
    const chat = await c.troupe.chat("c")
    expect((await chat.send("Hello", { id: "m1" }).result()).haltedReason).toBe("completed")
    await until(() => read === 1)
    await placements.move("c", b.troupe.address)
    const heard = async () => (await chat.view()).messages.filter(({ role }) => role === "user").length
    await until(async () => (await heard()) === 2 && (await chat.view()).phase === "idle")
    expect([began.length, await heard(), a.troupe.isAlive("c")]).toEqual([1, 2, false])
    expect((await store.list({ prefix: "c/~/" })).chats).toHaveLength(1)
    expect((await chat.view()).messages.at(-1)?.content).toContain("I have written.")
  })
})
