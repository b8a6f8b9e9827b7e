import { Fake, tool, type TroupeOptions } from "@troupe/chat"
import type { Tool } from "@troupe/chat/tools"
import { Clock, System } from "@troupe/otp"
import { describe, expect, it } from "vitest"
import { served, until } from "../double/served.ts"

/** A call of each tool at once, and then an answer. */
const calling = (...names: ReadonlyArray<string>) =>
  Fake.make({
    scripts: [
      [...names.map((name, at) => ({ toolCall: { id: `c${at}`, name } })), { finish: "tool_calls" }],
      [{ text: "Done" }, { finish: "stop" }]
    ]
  })

/** A tool whose calls end when the test says so, and not before. */
const slow = (name: string, options: Partial<Tool.Tool> = {}) => {
  const runs: Array<{ readonly context: Tool.ToolContext; readonly end: () => void }> = []
  const made = tool({
    name,
    execute: (_, context) => new Promise((resolve) => runs.push({ context, end: () => resolve("ok") })),
    ...options
  })
  return { made, runs }
}

interface Data {
  readonly type: string
  readonly transient: boolean
  readonly data: object
}

/** What a client got beside the message. */
const newsIn = (body: string): ReadonlyArray<unknown> =>
  body.split("\n\n").flatMap((frame) => {
    if (!frame.startsWith('data: {"type":"data-troupe-')) return []
    const { type, transient, data } = JSON.parse(frame.slice("data: ".length)) as Data
    return [{ [type.slice("data-troupe-".length)]: Object.values(data), ...(transient ? {} : { isKept: true }) }]
  })

/** A client that reads all there is, as soon as it is there. */
const reading = (response: Response) => {
  let text = ""
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  const whole = (async () => {
    for (;;) {
      const next = await reader?.read()
      if (next === undefined || next.done) return text
      text += next.value
    }
  })()
  return {
    until: (word: string) => until(() => text.includes(word)),
    rest: () => whole,
    leave: async () => reader?.cancel()
  }
}

/** A turn with calls, on a clock in the test's hand. */
const running = async (options: Partial<TroupeOptions>) => {
  const clock = Clock.test()
  const { ask, troupe } = await served({ system: System.make({ clock }), ...options })
  const chat = await troupe.chat("anna/c")
  const post = async (message: object) => reading(await ask("POST", "/api/chat", { id: "c", messages: [message] }))
  const begin = () => post({ id: "u1", role: "user", parts: [{ type: "text", text: "Go" }] })
  const answer = (part: object) => post({ id: "u1.reply", role: "assistant", parts: [part] })
  const come = async () => reading(await ask("GET", "/api/chat/c/stream"))
  return { clock, chat, troupe, begin, answer, come }
}

describe("NEWS1. nothing is sent, and nothing waits, when nothing lasts", () => {
  it("a call that is over at once says nothing", async () => {
    const { begin, clock } = await running({
      adapter: calling("quick"),
      tools: [tool({ name: "quick", execute: (_, { progress }) => progress(1) })]
    })
    const before = clock.pending
    expect(newsIn(await (await begin()).rest())).toEqual([])
    expect(clock.pending).toBe(before)
  })

  it("who leaves leaves neither a subscription nor a timer", async () => {
    const { made, runs } = slow("slow")
    const { begin, chat, clock, troupe } = await running({ adapter: calling("slow"), tools: [made] })
    const before = clock.pending
    const reader = await begin()
    await reader.until("tool-input-available")
    await until(() => runs.length === 1)
    await reader.leave()
    runs[0]?.context.progress(1)
    await clock.advance(1_000)
    runs[0]?.end()
    await until(() => chat.getSnapshot()?.context.phase === "idle")
    await clock.advance(1_000)
    expect(clock.pending).toBe(before)
    expect(troupe.zombies()).toEqual([])
  })

  it("FOLLOWTURN1 a client that leaves before it reads keeps its chat in memory no longer", async () => {
    const clock = Clock.test()
    const adapter = Fake.make({ scripts: [[{ text: "Hi" }, { finish: "stop" }]] })
    const { server, troupe } = await served({ system: System.make({ clock }), adapter, passivateAfterMs: 1_000 })
    const chat = await troupe.chat("anna/c")
    const client = new AbortController()
    const message = { id: "u1", role: "user", parts: [{ type: "text", text: "Go" }] }
    const response = await server.fetch(
      new Request("http://localhost/api/chat", {
        method: "POST",
        headers: { authorization: "anna", "content-type": "application/json" },
        body: JSON.stringify({ id: "c", messages: [message] }),
        signal: client.signal
      })
    )
    expect(response.status).toBe(200)
    await until(() => chat.getSnapshot()?.context.phase === "idle")
    await clock.advance(1_250)
    expect(chat.pid).toBeDefined()
    client.abort()
    await clock.advance(1_250)
    expect(chat.pid).toBeUndefined()
  })
})

describe("NEWS2. at most once in an interval, and only the newest", () => {
  it("of progress", async () => {
    const { made, runs } = slow("slow")
    const { begin, clock } = await running({ adapter: calling("slow"), tools: [made] })
    const reader = await begin()
    await reader.until("tool-input-available")
    await until(() => runs.length === 1)
    for (let step = 1; step <= 50; step++) {
      runs[0]?.context.progress({ step })
      await clock.advance(20)
    }
    runs[0]?.end()
    const news = newsIn(await reader.rest())
    expect(news[0]).toEqual({ call: ["c0", "running"] })
    const steps = news.slice(1).map((one) => JSON.stringify(one))
    expect(steps.length).toBeGreaterThan(2)
    expect(steps.length).toBeLessThanOrEqual(5)
    expect(new Set(steps).size).toBe(steps.length)
  })

  it("a value without a JSON form is not sent, nor one that is too long", async () => {
    const { made, runs } = slow("slow")
    const { begin, clock } = await running({ adapter: calling("slow"), tools: [made] })
    const reader = await begin()
    await until(() => runs.length === 1)
    const circle: Record<string, unknown> = {}
    circle["self"] = circle
    for (const progress of [1n, circle, () => 1, "x".repeat(5_000), { half: 0.5 }]) {
      runs[0]?.context.progress(progress)
      await clock.advance(300)
    }
    runs[0]?.end()
    expect(newsIn(await reader.rest())).toEqual([{ call: ["c0", "running"] }, { progress: ["c0", { half: 0.5 }] }])
  })
})

describe("NEWS3. each is sent once, to readers that have the call", () => {
  it("how calls stand: they wait, run, and drain", async () => {
    const { made, runs } = slow("slow")
    const { begin, chat, clock } = await running({
      adapter: calling("slow", "slow"),
      tools: [made],
      maxToolCalls: 1,
      drainMs: 2_000
    })
    const reader = await begin()
    await until(() => runs.length === 1)
    await clock.advance(300)
    await reader.until('"c1","state":"queued"')
    const cancelled = chat.cancelToolCall("c0")
    await clock.advance(300)
    await reader.until("draining")
    runs[0]?.end()
    await cancelled
    await until(() => runs.length === 2)
    await clock.advance(300)
    runs[1]?.end()
    expect(newsIn(await reader.rest())).toEqual([
      { call: ["c0", "running"] },
      { call: ["c1", "queued"] },
      { call: ["c0", "draining"] },
      { call: ["c1", "running"] }
    ])
  })

  it("a handler that runs on, and its end, while there is a reader", async () => {
    const deaf = slow("deaf", { timeoutMs: 500 })
    const other = slow("other")
    const { begin, clock } = await running({ adapter: calling("deaf", "other"), tools: [deaf.made, other.made] })
    const reader = await begin()
    await until(() => deaf.runs.length === 1)
    await clock.advance(500)
    for (const _ of [1, 2, 3, 4]) await clock.advance(1_000)
    await until(() => other.runs.length === 1)
    await clock.advance(1_000)
    await reader.until("zombie")
    deaf.runs[0]?.end()
    await clock.advance(2_000)
    await reader.until("ended")
    other.runs[0]?.end()
    const news = newsIn(await reader.rest())
    expect(news.filter((one) => JSON.stringify(one).includes("c0"))).toEqual([
      { call: ["c0", "running"] },
      { call: ["c0", "zombie"] },
      { call: ["c0", "ended"] }
    ])
  })

  it("a reader that returns gets the present values only", async () => {
    const { made, runs } = slow("slow")
    const { begin, come, clock } = await running({ adapter: calling("slow"), tools: [made] })
    const reader = await begin()
    await until(() => runs.length === 1)
    runs[0]?.context.progress(1)
    await clock.advance(300)
    await reader.until('"progress":1')
    await reader.leave()
    runs[0]?.context.progress(2)
    const again = await come()
    await again.until("tool-input-available")
    await clock.advance(300)
    await again.until('"progress":2')
    runs[0]?.end()
    expect(newsIn(await again.rest())).toEqual([{ call: ["c0", "running"] }, { progress: ["c0", 2] }])
  })

  it("of a call that was decided about, too", async () => {
    const { made, runs } = slow("pay")
    const { begin, clock, answer } = await running({
      adapter: calling("pay"),
      tools: [made],
      permissions: { ask: () => "suspend" }
    })
    await (await begin()).rest()
    const reader = await answer({ type: "tool-pay", toolCallId: "c0", approval: { id: "c0", approved: true } })
    await until(() => runs.length === 1)
    await clock.advance(300)
    await reader.until("running")
    runs[0]?.end()
    expect(newsIn(await reader.rest())).toEqual([{ call: ["c0", "running"] }])
  })
})
