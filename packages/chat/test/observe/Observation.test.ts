import { Clock, Process, System } from "@troupe/otp"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import * as Fake from "../../src/adapter/Fake.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import { message } from "../../src/agents/messageTools.ts"
import { subagent } from "../../src/agents/subagentTool.ts"
import * as Observation from "../../src/observe/Observation.ts"
import { make } from "../../src/tool/Tool.ts"
import { type RunningTroupe, Troupe } from "../../src/troupe/Troupe.ts"
import { hop } from "../double/hop.ts"
import { calls, says } from "../double/scripts.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import { Compaction } from "../../src/compaction.ts"
import type { ProcessNode, Span } from "../../src/observe/observed.ts"

let clock: Clock.TestClock
let system: System.System
let troupe: RunningTroupe

/** Answers when its time is over, and ignores its cancellation. */
const slow = make({
  name: "slow",
  handler: ({ ms }) => new Promise((resolve) => void clock.setTimeout(() => resolve(ok("late")), Number(ms)))
})

const started = (scripts: ReadonlyArray<Script>, options: Partial<Parameters<typeof Troupe.start>[0]> = {}) =>
  Troupe.start({ adapter: Fake.make({ scripts }), tools: [slow], system, drainMs: 100, ...options })

beforeEach(() => {
  clock = Clock.test()
  system = System.make({ clock })
})

afterEach(async () => {
  await troupe.stop()
  await System.stop(system)
})

const all = (nodes: ReadonlyArray<ProcessNode> = []): ReadonlyArray<ProcessNode> =>
  nodes.flatMap((node) => [node, ...all(node.children)])

const idOf = (nodes: ReadonlyArray<ProcessNode> | undefined, label: string): string =>
  all(nodes).find((node) => node.label === label)?.id ?? "none"

describe("the tree", () => {
  test("OBSERVE1 nothing is attached and no timer runs while nobody watches", async () => {
    troupe = await started([says("hi"), says("again")])
    const chat = await troupe.chat("c1")
    const { tree, process, timeline } = Observation.make(troupe)
    const states = () => [tree, process(String(chat.pid)), timeline("c1")].map(({ getState }) => getState())
    const leave = [tree, process(String(chat.pid)), timeline("c1")].map((watched) => watched.subscribe(() => {}))
    expect(isWatched()).toBe(true)
    await chat.send("go").result()
    await clock.advance(200)
    const seen = states()
    for (const left of leave) left()
    expect(isWatched()).toBe(false)
    await chat.retry().result()
    await troupe.chat("c2")
    await clock.advance(1_000)
    expect(states().map((state, index) => state === seen[index])).toEqual([true, true, true])
  })

  test("a subscriber is notified of changes, five times a second at most, and of nothing else", async () => {
    troupe = await started([])
    const { tree } = Observation.make(troupe)
    let notified = 0
    tree.subscribe(() => notified++)
    await clock.advance(1_000)
    expect(notified).toBe(0)
    for (let index = 0; index < 100; index++) await troupe.chat(`c${index}`)
    const before = tree.getState()
    expect(notified).toBe(0)
    await clock.advance(1_000)
    expect(notified).toBe(1)
    expect(tree.getState()?.processes).toBe((before?.processes ?? 0) + 100)
    expect(idOf(tree.getState()?.tree, "Chat c99")).not.toBe("none")
  })

  test("what did not change is the same object", async () => {
    troupe = await started([])
    const { tree } = Observation.make(troupe)
    await troupe.chat("c1")
    tree.subscribe(() => {})
    const find = (label: string) => all(tree.getState()?.tree).find((node) => node.label === label)
    const before = [find("Registry"), find("Chat c1"), find("ChatSupervisor")]
    Process.spawn(system, () => new Promise(() => {}), { label: "other" })
    await clock.advance(200)
    expect(find("other")).not.toBe(undefined)
    expect([find("Registry"), find("Chat c1"), find("ChatSupervisor")].map((node, at) => node === before[at])).toEqual([
      true,
      true,
      true
    ])
  })

  test("the processes below a chat say which chat they are of", async () => {
    troupe = await started([calls(["slow", { ms: 5_000 }])])
    const chat = await troupe.chat("c1")
    chat.send("go")
    const { tree } = Observation.make(troupe)
    tree.subscribe(() => {})
    await hop()
    await clock.advance(200)
    const labels = all(tree.getState()?.tree).flatMap(({ chat: of, label }) => (of === "c1" ? [label] : []))
    expect(labels).toContain("Chat c1")
    expect(labels).toContain("ToolCall slow")
  })

  test("a tree shows no more processes than asked, and says how many there are", async () => {
    troupe = await started([])
    for (let index = 0; index < 50; index++) await troupe.chat(`c${index}`)
    const { tree } = Observation.make(troupe, { maxProcesses: 20 })
    tree.subscribe(() => {})
    const seen = tree.getState()
    expect(all(seen?.tree).length).toBeLessThanOrEqual(20)
    expect(seen?.processes).toBe(54)
    const left = all(seen?.tree).reduce((sum, { hidden = 0 }) => sum + hidden, 0)
    expect(all(seen?.tree).length + left).toBe(54)
  })

  test("a killed chat is counted, and returns under its supervisor", async () => {
    troupe = await started([])
    const chat = await troupe.chat("c1")
    const { tree, kill } = Observation.make(troupe)
    tree.subscribe(() => {})
    const before = String(chat.pid)
    await kill(before)
    await hop()
    await clock.advance(200)
    const after = idOf(tree.getState()?.tree, "Chat c1")
    expect(after).not.toBe(before)
    expect(after).toBe(String(chat.pid))
    expect(tree.getState()?.restarts).toBe(1)
    await kill(before)
    await expect(kill("c1")).rejects.toMatchObject({ reason: "invalid_options" })
  })
})

/** A Troupe whose chat has a sub-agent that works. */
const family = (options: Parameters<typeof subagent>[1] = {}) => {
  const research = Fake.make({
    scripts: [calls(["slow", { ms: 1_000 }]), [{ text: "hm" }, { delayMs: 1_000 }, ...says("found")]]
  })
  return started([calls(["research", { input: "dig" }]), says("done")], {
    tools: [subagent("research", options)],
    agents: { research: { adapter: research, tools: [{ ...slow, effect: "read" }] } }
  })
}

describe("a sub-agent", () => {
  test("OBSERVE6 its chat is below its call, with its own chat's name, also after its restart", async () => {
    troupe = await family()
    const chat = await troupe.chat("c1")
    const turn = chat.send("go")
    const { tree, kill } = Observation.make(troupe)
    tree.subscribe(() => {})
    const child = async () => {
      await hop()
      await clock.advance(200)
      const call = all(tree.getState()?.tree).find(({ label }) => label === "ToolCall research")
      return call?.children[0]
    }
    const found = await child()
    expect(found?.label).toMatch(/^Chat c1\/~\//)
    expect(found?.label).toBe(`Chat ${found?.chat}`)
    expect(all(found?.children).map(({ label }) => label)).toContain("ToolCall slow")
    expect(all(tree.getState()?.tree).filter(({ id }) => id === found?.id)).toHaveLength(1)
    await kill(found?.id ?? "")
    let again: ProcessNode | undefined
    while (again === undefined || again.id === found?.id) again = await child()
    expect(again?.label).toBe(found?.label)
    expect(again?.id).not.toBe(found?.id)
    await chat.cancel()
    await turn.result()
  })

  test("OBSERVE7 the process of a chat has the message that a sub-agent sent it, with the sender, until the chat ends", async () => {
    const research = Fake.make({ scripts: [calls(["tell", { to: "parent", message: "Look left" }]), says("found")] })
    troupe = await started([calls(["research", { input: "dig" }]), says("done")], {
      tools: [subagent("research")],
      agents: { research: { adapter: research, tools: [message()] } }
    })
    const chat = await troupe.chat("c1")
    const { tree } = Observation.make(troupe)
    tree.subscribe(() => {})
    await chat.send("go").result()
    await clock.advance(200)
    const seen = () => all(tree.getState()?.tree).filter(({ agentMessages }) => agentMessages !== undefined)
    const found = seen()
    expect(found).toMatchObject([
      {
        chat: "c1",
        agentMessages: [{ from: expect.stringMatching(/^c1\/~\/research-/), kind: "tell", text: "Look left" }]
      }
    ])
    await clock.advance(200)
    expect(seen()[0]).toBe(found[0])
  })

  test("in the background works below its task, which is below the Troupe, and whose process is shown", async () => {
    troupe = await family({ background: true })
    const chat = await troupe.chat("c1")
    const { tree, process } = Observation.make(troupe)
    tree.subscribe(() => {})
    await chat.send("go").result()
    await hop()
    await clock.advance(200)
    const root = tree.getState()?.tree.find(({ label }) => label === "Troupe")
    const [task, ...others] = root?.children.find(({ label }) => label === "TaskSupervisor")?.children ?? []
    expect([task?.label, others]).toEqual(["Task research", []])
    const child = all(task?.children).find(({ label }) => label.startsWith("Chat c1/~/"))
    expect(all(child?.children).map(({ label }) => label)).toContain("ToolCall slow")
    process(task?.id ?? "").subscribe(() => {})
    expect(process(task?.id ?? "").getState()).toMatchObject({ alive: true, kind: "machine", label: "Task research" })
    const [running] = await chat.tasks()
    const cancelled = chat.cancelTask(running?.id ?? "")
    await hop()
    await clock.advance(200)
    await cancelled
    await clock.advance(200)
    expect(idOf(tree.getState()?.tree, "Task research")).toBe("none")
  })

  test("SPAN4 its spans are below those of its call, and end with it", async () => {
    troupe = await family()
    const chat = await troupe.chat("c1")
    const { timeline } = Observation.make(troupe)
    const watched = timeline("c1")
    watched.subscribe(() => {})
    const turn = chat.send("go")
    for (let times = 0; times < 15; times++) {
      await hop()
      await clock.advance(200)
    }
    await turn.result()
    await clock.advance(200)
    const spans = watched.getState()?.spans ?? []
    const call = spans.find(({ kind, label }) => kind === "call" && label === "research")
    const below = spans.filter(({ under }) => under !== undefined)
    expect(below.map(({ kind }) => kind)).toEqual(["stream", "call", "stream"])
    for (const { under } of below) expect(call?.id.startsWith(`${under}.call.`)).toBe(true)
    expect(spans.map(({ to }) => to)).not.toContain(undefined)
    expect(spans.indexOf(below[0] as Span)).toBe(spans.indexOf(call as Span) + 1)
  })
})

describe("a process", () => {
  test("OBSERVE2 is shown within bounds and without a turn of it, however much it holds and however it hangs", async () => {
    troupe = await started([])
    const pid = Process.spawn(system, () => new Promise(() => {}), { label: "x".repeat(100_000) })
    for (let index = 0; index < 1_000; index++) {
      Process.send(pid, "y".repeat(100_000))
      Process.link(
        pid,
        Process.spawn(system, () => new Promise(() => {}))
      )
    }
    const { process, tree } = Observation.make(troupe)
    const watched = process(String(pid))
    watched.subscribe(() => {})
    tree.subscribe(() => {})
    expect(watched.getState()).toMatchObject({ alive: true, queueLength: 1_000 })
    expect(JSON.stringify(watched.getState()).length).toBeLessThan(20_000)
    expect(JSON.stringify(tree.getState()).length).toBeLessThan(100_000)
  })

  test("is shown with its chart, its state and what it did since somebody looks", async () => {
    troupe = await started([calls(["slow", { ms: 1_000 }]), says("done")])
    const chat = await troupe.chat("c1")
    const id = String(chat.pid)
    const { process } = Observation.make(troupe)
    process(id).subscribe(() => {})
    expect(process(id).getState()).toMatchObject({ id, alive: true, chat: "c1", kind: "machine", handled: 0 })
    expect(process(id).getState()?.chart).toEqual({ machine: "chat", value: "idle" })
    const turn = chat.send("go")
    await hop()
    await clock.advance(200)
    expect(process(id).getState()?.chart).toEqual({ machine: "chat", value: { running: "phaseB" } })
    await clock.advance(1_000)
    await turn.result()
    await clock.advance(200)
    const seen = process(id).getState()
    expect(seen?.handled).toBeGreaterThan(0)
    expect(seen?.recent.some(({ event, detail }) => event === "received" && detail.includes("turn.start"))).toBe(true)
    expect(seen?.recent.length).toBeLessThanOrEqual(50)
  })

  test("that has ended is shown as it was last seen, and as ended", async () => {
    troupe = await started([])
    const chat = await troupe.chat("c1")
    const id = String(chat.pid)
    const { process, kill } = Observation.make(troupe)
    const leave = process(id).subscribe(() => {})
    await kill(id)
    await clock.advance(200)
    expect(process(id).getState()).toMatchObject({ id, alive: false, label: "Chat c1", links: [] })
    expect(process(id).getState()?.recent.at(-1)).toMatchObject({ event: "ended", detail: "ended: killed" })
    leave()
    process(id).subscribe(() => {})
    expect(process(id).getState()?.alive).toBe(false)
  })

  test("that lives nowhere is not there", async () => {
    troupe = await started([])
    const watched = Observation.make(troupe).process("<0.999.0>")
    watched.subscribe(() => {})
    expect(watched.getState()).toBe(undefined)
  })

  test("SENS1 of a sensitive one neither mail nor state is shown", async () => {
    troupe = await started([])
    const pid = Process.spawn(system, () => new Promise(() => {}), { label: "vault" })
    Process.flag(pid, "sensitive", true)
    const watched = Observation.make(troupe).process(String(pid))
    watched.subscribe(() => {})
    Process.send(pid, "the secret")
    await clock.advance(200)
    expect(watched.getState()?.mailbox).toEqual(["(sensitive)"])
    expect(JSON.stringify(watched.getState())).not.toContain("secret")
  })
})

const brief = ({ kind, label, from, to, outcome }: Span): string =>
  `${kind} ${label} ${from}-${to ?? ""}${outcome === undefined ? "" : ` ${outcome}`}`

const spansOf = (timeline: { readonly getState: () => Observation.Timeline | undefined }): ReadonlyArray<string> =>
  (timeline.getState()?.spans ?? []).map(brief)

describe("a timeline", () => {
  test("has the stretches of a turn: requests, waiting and running calls", async () => {
    troupe = await started([calls(["slow", { ms: 300 }], ["slow", { ms: 500 }]), says("done")], {
      maxConcurrency: 1,
      model: "m1"
    })
    const chat = await troupe.chat("c1")
    const timeline = Observation.make(troupe).timeline("c1")
    timeline.subscribe(() => {})
    const turn = chat.send("Please go")
    await hop()
    await clock.advance(100)
    await clock.advance(200)
    await hop()
    expect(spansOf(timeline)).toContain("call slow 0-")
    await clock.advance(500)
    await turn.result()
    await clock.advance(200)
    expect(spansOf(timeline)).toEqual([
      "turn Please go 0-800 completed",
      "stream m1 0-0 tool_calls",
      "call slow 0-300 completed",
      "queue slow 0-300",
      "call slow 300-800 completed",
      "stream m1 800-800 stop"
    ])
  })

  test("has the compaction of a turn, and the request after it", async () => {
    const long = "one of many words that fill the request ".repeat(30)
    const summary: Script = [{ text: "A long talk." }, { delayMs: 300 }, { finish: "stop" }]
    const compaction = Compaction.make({ maxTokens: 800, strategies: [Compaction.summarise()] })
    troupe = await started([says(long), summary, says("done")], { compaction, model: "m1" })
    const chat = await troupe.chat("c1")
    await chat.send(long).result()
    const timeline = Observation.make(troupe).timeline("c1")
    timeline.subscribe(() => {})
    const turn = chat.send(long)
    await hop()
    await clock.advance(300)
    await turn.result()
    await clock.advance(200)
    expect(spansOf(timeline).slice(1)).toEqual(["stream compaction 0-300", "stream m1 300-300 stop"])
  })

  test("SPAN5 has the long waits of a request in its row, each until it is over or the request ends", async () => {
    const busy: Script = [{ preflightError: "rate_limited", retryAfterMs: 40_000 }]
    const short: Script = [{ preflightError: "rate_limited", retryAfterMs: 500 }]
    troupe = await started([busy, short, busy, says("done"), busy], { retry: { maxAttempts: 4, jitterMs: 0 } })
    const chat = await troupe.chat("c1")
    const timeline = Observation.make(troupe).timeline("c1")
    timeline.subscribe(() => {})
    const turn = chat.send("go")
    await clock.advance(1_000)
    expect(spansOf(timeline)).toEqual(["turn go 0-", "stream fake 0-", "delay fake 0-"])
    await clock.advance(90_000)
    await turn.result()
    const last = chat.send("again")
    await clock.advance(10_000)
    await chat.cancel()
    await last.result()
    await clock.advance(200)
    expect(spansOf(timeline)).toEqual([
      "turn go 0-80500 completed",
      "stream fake 0-80500 stop",
      "delay fake 0-40000 rate_limited",
      "delay fake 40500-80500 rate_limited",
      "turn again 91000-101000 cancelled",
      "stream fake 91000-101000",
      "delay fake 91000-101000 rate_limited"
    ])
  })

  test("a call that hardly waited has no stretch of waiting", async () => {
    troupe = await started([calls(["slow", { ms: 4 }], ["slow", { ms: 100 }]), says("done")], { maxConcurrency: 1 })
    const chat = await troupe.chat("c1")
    const timeline = Observation.make(troupe).timeline("c1")
    timeline.subscribe(() => {})
    const turn = chat.send("go")
    await hop()
    await clock.advance(200)
    await turn.result()
    expect(spansOf(timeline).filter((span) => span.includes("slow"))).toEqual([
      "call slow 0-4 completed",
      "call slow 4-104 completed"
    ])
  })

  test("a cancelled call is drained, and one that does not end is a zombie until it does", async () => {
    troupe = await started([calls(["slow", { ms: 1_000 }]), says("done")])
    const chat = await troupe.chat("c1")
    const timeline = Observation.make(troupe).timeline("c1")
    timeline.subscribe(() => {})
    chat.send("go")
    await hop()
    await clock.advance(300)
    const cancelled = chat.cancel()
    await hop()
    await clock.advance(100)
    await cancelled
    await hop()
    await clock.advance(200)
    expect(spansOf(timeline)).toEqual([
      "turn go 0-400 cancelled",
      "stream fake 0-0 tool_calls",
      "call slow 0-300 cancelled",
      "drain slow 300-400 abandoned",
      "zombie slow 400-"
    ])
    await clock.advance(600)
    expect(spansOf(timeline).at(-1)).toBe("zombie slow 400-1000 ok")
  })

  test("SPAN2 a turn whose process is killed ends there, as crashed", async () => {
    troupe = await started([[{ text: "One" }, { hang: true }], says("Two")])
    const chat = await troupe.chat("c1")
    const observation = Observation.make(troupe)
    const timeline = observation.timeline("c1")
    timeline.subscribe(() => {})
    const turn = chat.send("go")
    await hop()
    await clock.advance(250)
    await observation.kill(String(chat.pid))
    await expect(turn.result()).rejects.toMatchObject({ reason: "chat_died" })
    await hop()
    await clock.advance(200)
    expect(spansOf(timeline)).toEqual(["turn go 0-250 crashed", "stream fake 0-250 crashed"])
    await chat.retry().result()
    await clock.advance(200)
    expect(spansOf(timeline)).toHaveLength(4)
  })

  test("SPAN4 a handler that reports the id of another chat as its progress has no spans of that chat", async () => {
    const names = make({
      name: "names",
      handler: (_args, { progress }) => {
        progress({ chat: "c2" })
        return new Promise((resolve) => void clock.setTimeout(() => resolve(ok("done")), 300))
      }
    })
    const hangs: Script = [{ text: "One" }, { hang: true }]
    troupe = await started([hangs, calls("names"), says("done")], { tools: [names] })
    const other = (await troupe.chat("c2")).send("secret")
    await hop()
    const chat = await troupe.chat("c1")
    const timeline = Observation.make(troupe).timeline("c1")
    timeline.subscribe(() => {})
    const turn = chat.send("go")
    await hop()
    await clock.advance(200)
    expect(spansOf(timeline)).toEqual(["turn go 0-", "stream fake 0-0 tool_calls", "call names 0-"])
    await clock.advance(100)
    await turn.result()
    await other.return()
  })

  test("a call that is run again has a stretch for each run", async () => {
    troupe = await started([calls(["slow", { ms: 1_000 }]), says("done")])
    const chat = await troupe.chat("c1")
    const timeline = Observation.make(troupe).timeline("c1")
    timeline.subscribe(() => {})
    const turn = chat.send("go")
    await hop()
    await clock.advance(300)
    const again = chat.restartToolCall("c0")
    await hop()
    await clock.advance(100)
    await again
    await clock.advance(1_000)
    await turn.result()
    await clock.advance(200)
    expect(spansOf(timeline).filter((span) => span.includes("slow"))).toEqual([
      "call slow 0-300 restarted",
      "drain slow 300-400 restarted",
      "call slow 400-1400 completed",
      "zombie slow 400-1000 ok"
    ])
  })

  test("keeps the newest five turns, and what it has while nobody watches", async () => {
    troupe = await started(Array.from({ length: 8 }, (_, index) => says(`${index}`)))
    const chat = await troupe.chat("c1")
    const observation = Observation.make(troupe)
    const leave = observation.timeline("c1").subscribe(() => {})
    for (let index = 0; index < 7; index++) await chat.send(`turn ${index}`).result()
    await clock.advance(200)
    const turns = () =>
      observation
        .timeline("c1")
        .getState()
        ?.spans.flatMap(({ kind, label }) => (kind === "turn" ? [label] : []))
    expect(turns()).toEqual(["turn 2", "turn 3", "turn 4", "turn 5", "turn 6"])
    leave()
    await chat.send("unseen").result()
    observation.timeline("c1").subscribe(() => {})
    expect(turns()).toEqual(["turn 2", "turn 3", "turn 4", "turn 5", "turn 6"])
  })

  test("SPAN3 of a turn whose beginning was not observed it has what is still there", async () => {
    troupe = await started([calls(["slow", { ms: 1_000 }]), says("done")])
    await clock.advance(50)
    const chat = await troupe.chat("c1")
    const turn = chat.send("go")
    await hop()
    await clock.advance(300)
    const timeline = Observation.make(troupe).timeline("c1")
    timeline.subscribe(() => {})
    expect(spansOf(timeline)).toEqual(["turn go 50-", "call slow 50-"])
    await clock.advance(700)
    await turn.result()
  })

  test("follows a chat that is stopped and started again", async () => {
    troupe = await started([says("1"), says("2")])
    const timeline = Observation.make(troupe).timeline("c1")
    timeline.subscribe(() => {})
    expect(timeline.getState()?.spans).toEqual([])
    const first = await troupe.chat("c1")
    await clock.advance(200)
    await first.send("one").result()
    await first.stop()
    await clock.advance(200)
    const second = await troupe.chat("c1")
    await clock.advance(200)
    await second.send("two").result()
    await clock.advance(200)
    expect(timeline.getState()?.spans.flatMap(({ kind, label }) => (kind === "turn" ? [label] : []))).toEqual([
      "one",
      "two"
    ])
  })
})

/** Whether this system's telemetry has subscribers. */
const isWatched = (): boolean => {
  const kernel: { readonly observer?: unknown } = system as unknown as { readonly observer?: unknown }
  return kernel.observer !== undefined
}
