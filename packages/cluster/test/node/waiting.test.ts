/** What waits for a conversation, through a gateway and its home. */
import { Fake, tool } from "@troupe/chat"
import type { Server } from "@troupe/server"
import { describe, expect, it, onTestFinished } from "vitest"
import { nodes, type TestNode, until } from "../double/clusterNodes.ts"

type Place = Pick<TestNode, "url">

interface Sending {
  readonly query?: string
  readonly signal?: AbortSignal
}

/** A home whose conversation `c` runs a tool until `finish` is called, so that what comes meanwhile waits, and a gateway. */
const busy = async (limits: Server.ServerOptions["limits"] = {}) => {
  const { promise, resolve: finish } = Promise.withResolvers<void>()
  onTestFinished(() => finish())
  const hold = tool({ name: "hold", execute: () => promise.then(() => "held") })
  const says: Fake.Script = [{ text: "Hello" }, { finish: "stop" }]
  const calls: Fake.Script = [{ toolCall: { id: "c0", name: "hold" } }, { finish: "tool_calls" }]
  const adapter = Fake.make({ scripts: [calls, ...Array.from({ length: 9 }, () => says)] })
  const { node } = nodes(adapter)
  const more = { troupe: { tools: [hold] }, server: { limits: { requestsPerMinute: 1_000_000, ...limits } } }
  const home = await node(more)
  const gateway = await node({ ...more, cluster: { role: "gateway" } })
  const chat = await home.troupe.local.chat("anna/c")
  const running = chat.send("Hi")
  await until(() => chat.getSnapshot()?.context.phase === "runningTools")
  const waiting = () => chat.getSnapshot()?.context.inbox.length ?? 0
  const sent = (url: string, body: unknown, signal?: AbortSignal): Promise<Response> => {
    const headers = { "content-type": "application/json" }
    return fetch(url, { method: "POST", headers, body: JSON.stringify(body), ...(signal !== undefined && { signal }) })
  }
  const deny = (at: Place = gateway, signal?: AbortSignal) =>
    sent(`${at.url}/chats/c/approvals/c0`, { type: "deny", reason: "no" }, signal)
  const say = (at: Place, id: string, length = 4, { query = "", signal }: Sending = {}) =>
    sent(`${at.url}/chats/c/messages${query}`, { input: "x".repeat(length), id }, signal)
  /** Whether a node refuses one more request of the owner. It answers this one itself. */
  const isFull = async ({ url }: Place): Promise<boolean> => {
    const { status, body } = await fetch(`${url}/chats`)
    await body?.cancel()
    return status === 429
  }
  return { home, gateway, chat, running, finish, waiting, deny, say, isFull }
}

const codeOf = async (response: Response): Promise<string> => {
  const { error } = (await response.json()) as { readonly error?: { readonly code?: string } }
  return `${response.status} ${error?.code}`
}

describe("OWNER4 through a gateway and a home", () => {
  it("decisions that wait count at both, and no longer when they are answered", async () => {
    const { gateway, home, deny, isFull, finish, running } = await busy({ waiting: 4 })
    const waits = [deny(), deny()]
    for (const at of [gateway, home]) {
      await until(() => isFull(at))
      expect(await codeOf(await deny(at))).toBe("429 inbox_full")
    }
    finish()
    await running.result()
    for (const wait of waits) expect(await codeOf(await wait)).toBe("409 unknown_tool_call_id")
    for (const at of [gateway, home]) await until(async () => !(await isFull(at)))
  })

  it("a message that waits counts at its home, after its answer and until it runs, once for each id", async () => {
    const { gateway, home, say, finish, waiting, isFull } = await busy({ waiting: 6 })
    for (const id of ["m1", "m2", "m2", "m3"]) expect((await say(gateway, id)).status).toBe(202)
    for (const at of [gateway, home]) expect(await codeOf(await say(at, "m4"))).toBe("429 inbox_full")
    expect([await isFull(home), await isFull(gateway)]).toEqual([true, false])
    finish()
    await until(() => waiting() === 0)
    expect((await say(gateway, "m4")).status).toBe(202)
  })

  it("the bodies of what waits have a bound together", async () => {
    const { gateway, home, say, finish, waiting } = await busy({ waitingBytes: 10_000 })
    expect((await say(gateway, "m1", 2_900)).status).toBe(202)
    for (const at of [gateway, home]) expect(await codeOf(await say(at, "m2", 2_900))).toBe("429 inbox_full")
    expect((await say(gateway, "m3", 1_000)).status).toBe(202)
    finish()
    await until(() => waiting() === 0)
    expect((await say(gateway, "m4", 2_900)).status).toBe(202)
  })
})

describe("READERS3 through a gateway", () => {
  it("the decision of a client that leaves is withdrawn at the home, and counts nowhere", async () => {
    const { gateway, home, deny, isFull, finish, running, chat } = await busy({ waiting: 2 })
    for (let time = 0; time < 20; time++) {
      const client = new AbortController()
      const left = deny(gateway, client.signal).catch(() => "left")
      if (time % 2 === 0) await until(() => isFull(home))
      client.abort()
      expect(await left).toBe("left")
      for (const at of [gateway, home]) await until(async () => !(await isFull(at)))
    }
    finish()
    expect((await running.result()).haltedReason).toBe("completed")
    expect(chat.thread.messages.map(({ role }) => role)).toEqual(["user", "assistant", "tool", "assistant"])
  })

  it("a message that was accepted stays", async () => {
    const { gateway, say, waiting, finish, chat } = await busy()
    const client = new AbortController()
    const left = say(gateway, "m1", 4, { query: "?wait", signal: client.signal }).catch(() => "left")
    await until(() => waiting() === 1)
    client.abort()
    expect(await left).toBe("left")
    finish()
    await until(() => chat.thread.messages.length === 6)
  })
})
