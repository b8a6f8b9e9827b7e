import { Fake } from "@troupe/chat"
import { describe, expect, it } from "vitest"
import { nodes, until } from "../double/clusterNodes.ts"

const hanging = () => Fake.make({ script: [{ text: "Once " }, { hang: true }] })
const stopped = { _tag: "SessionError", reason: "troupe_stopped" }

describe("a chat of a node that has stopped", () => {
  it("CLUSTER15: its turns reject, its readers end, and its requests are refused at once", async () => {
    const { node } = nodes(hanging())
    // A request that waited for a home would take longer than the test may.
    const { troupe, stop } = await node({ cluster: { leaseMs: 600_000 } })
    const chat = await troupe.chat("c")
    const running = chat.send("Hello")
    const waiting = chat.send("More")
    expect([await running.receipt, await waiting.receipt]).toEqual([{ status: "delivered" }, { status: "pending" }])
    const reader = chat.attach()
    await reader.next()
    const { down } = await chat.monitor()
    await stop()
    const late = chat.send("Too late")
    expect(await late.receipt).toMatchObject({ status: "rejected", reason: "troupe_stopped" })
    expect(await waiting.delivery).toEqual({ status: "pending" })
    for (const turn of [running, waiting, late, chat.retry()])
      await expect(turn.result()).rejects.toMatchObject(stopped)
    for (;;) if ((await reader.next()).done === true) break
    expect(await chat.attach().next()).toEqual({ done: true, value: undefined })
    expect(await down).toEqual({ id: "c", reason: "noconnection" })
    for (const ask of [() => chat.view(), () => chat.handoff("a"), () => troupe.chat("d"), () => troupe.has("e")]) {
      await expect(ask()).rejects.toMatchObject(stopped)
    }
  })

  it("CLTURN1: a retry goes on when its home leaves, and begins no other turn", async () => {
    const ending = [{ text: "Once upon a time" }, { finish: "stop" as const }]
    const adapter = Fake.make({ scripts: [[{ text: "Once " }, { hang: true }], ending, ending] })
    const { node, placements } = nodes(adapter)
    const [a, b] = [await node(), await node()]
    const chat = await a.troupe.begin([{ role: "user", content: "Hi" }], { id: "c" })
    const turn = chat.retry()
    await turn.receipt
    await until(() => adapter.open === 1)
    await placements.move("c", b.troupe.address)
    expect((await turn.result()).finalResponse?.outputText).toBe("Once upon a time")
    expect(adapter.requests).toHaveLength(2)
  })

  it("CLUSTER15: a turn of another home rejects with its own node, and goes on", async () => {
    const { node, placements } = nodes(hanging())
    const [a, b] = [await node(), await node()]
    const chat = await a.troupe.chat("c")
    await placements.move("c", b.troupe.address)
    const turn = chat.send("Hello")
    await turn.receipt
    await a.stop()
    await expect(turn.result()).rejects.toMatchObject(stopped)
    expect((await (await b.troupe.chat("c")).view()).status).toBe("running")
  })
})
