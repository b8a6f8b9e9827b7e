/**
 * The probes of one turn: the behaviour of a framework under failures, the same for every framework.
 *
 * Each probe runs on a real clock, reads the framework's events, waits for late effects after the end, and lists the faults.
 *
 * @module
 */
import { copyFileSync, mkdirSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import type { Framework } from "./framework.ts"
import { call, calls, type Model, replies, says, text, words } from "./model.ts"
import { is, type Probe, withCompany } from "./probe.ts"
import { Ledger, toolbox } from "./toolbox.ts"
import { read, Transcript, turn } from "./turn.ts"

const twoCalls = calls(call("a", "first"), call("b", "second"))
const done = says("done")

/** Frameworks were measured from 2 to 43. */
const cpuMsEach = 5

const converse = (framework: Framework): Promise<{ readonly isWhole: boolean; readonly model: Model }> => {
  const model = replies(twoCalls, words(50))
  const box = toolbox(new Ledger())
  const tools = [box.aware("first", 50), box.aware("second", 50)]
  return withCompany(framework, { roles: { boss: { model, tools } } }, undefined, async (company) => {
    const transcript = new Transcript()
    await read(company.send("go"), transcript, 60_000)
    return { isWhole: transcript.texts > 0 && Object.values(transcript.outcomes).flat().length === 2, model }
  })
}

/** Many conversations at once: two tools of 50 ms, then 50 words. */
const crowdOf = (count: number): Probe => ({
  id: "crowd",
  title: `${count.toLocaleString("en")} conversations at once`,
  isSlow: true,
  run: async (framework) => {
    const cpu = process.cpuUsage()
    const all = await Promise.all(Array.from({ length: count }, () => converse(framework)))
    const { user, system } = process.cpuUsage(cpu)
    const cpuMs = (user + system) / 1_000 / count
    const whole = all.filter(({ isWhole }) => isWhole).length
    const open = all.filter(({ model }) => model.requests !== model.released).length
    return {
      seen: `${whole} whole; ${cpuMs.toFixed(2)} ms of processor time each`,
      faults: [
        ...is(whole === count, "not all ended"),
        ...is(open === 0, `streams of ${open} models are not released`),
        ...is(cpuMs <= cpuMsEach, `took more than ${cpuMsEach} ms of processor time each`)
      ]
    }
  }
})

export const turns: ReadonlyArray<Probe> = [
  turn("throws", "two tools, one throws", {
    replies: [twoCalls, done],
    tools: (box) => [box.throws("first", 50), box.aware("second", 300)],
    outcomes: { a: "failed", b: "completed" },
    end: "completed",
    withinMs: 450
  }),
  turn("fatal", "the throw made fatal, the sibling deaf", {
    replies: [twoCalls, done],
    tools: (box) => [box.throws("first", 50), box.deaf("second", 300)],
    isFatal: true,
    outcomes: { a: "failed", b: "completed" },
    end: "tool_error",
    withinMs: 450
  }),
  turn("fatal-never", "the throw made fatal, the sibling never ends", {
    replies: [twoCalls, done],
    tools: (box) => [box.throws("first", 50), box.never("second")],
    isFatal: true,
    toolTimeoutMs: 500,
    outcomes: { a: "failed", b: "timed_out" },
    end: "tool_error",
    withinMs: 700
  }),
  turn("abort", "cancel at 150 ms, an aware and a deaf tool of 1,400 ms", {
    replies: [twoCalls, done],
    tools: (box) => [box.aware("first", 1_400), box.deaf("second", 1_400)],
    cancelAfterMs: 150,
    settleMs: 700,
    outcomes: { a: "cancelled", b: "abandoned" },
    end: "cancelled",
    withinMs: 1_350,
    late: 1
  }),
  turn("never", "a tool never ends, nothing configured", {
    replies: [twoCalls, done],
    tools: (box) => [box.never("first"), box.aware("second", 50)],
    cutMs: 35_000,
    outcomes: { a: "timed_out", b: "completed" },
    end: "completed",
    withinMs: 31_000
  }),
  turn("timeout", "a tool never ends, a deadline of 200 ms", {
    replies: [twoCalls, done],
    tools: (box) => [box.never("first"), box.aware("second", 50)],
    toolTimeoutMs: 200,
    outcomes: { a: "timed_out", b: "completed" },
    end: "completed",
    withinMs: 350
  }),
  turn("late", "a deaf tool ends 300 ms after its deadline", {
    replies: [calls(call("a", "first")), done],
    tools: (box) => [box.deaf("first", 500)],
    toolTimeoutMs: 200,
    settleMs: 450,
    outcomes: { a: "timed_out" },
    end: "completed",
    late: 1
  }),
  turn("order", "three tools of 300, 100, 200 ms", {
    replies: [calls(call("a", "x300"), call("b", "x100"), call("c", "x200")), done],
    tools: (box) => [box.aware("x300", 300), box.aware("x100", 100), box.aware("x200", 200)],
    outcomes: { a: "completed", b: "completed", c: "completed" },
    withinMs: 450,
    afterwards: async ({ transcript: { events } }) => [
      events.filter((event) => event.includes(":")).join(),
      "b:completed,c:completed,a:completed"
    ]
  }),
  turn("length", "the reply ends with `length`, in the middle of calls", {
    replies: [
      [call("a", "counts", '{"n":1}'), call("b", "counts", '{"n":'), { type: "finish", reason: "length" }],
      done
    ],
    tools: (box) => [box.counts("counts")],
    outcomes: { a: "not_started", b: "not_started" },
    afterwards: async ({ ledger }) => [`${ledger.effects.length} effects`, "0 effects"]
  }),
  turn("leaves", "the reader leaves after three of 1,000 words", {
    replies: [words(1_000)],
    isAhead: true,
    onReceived: (_, { texts }) => (texts === 3 ? "leave" : undefined)
  }),
  turn("leaves-tools", "the reader leaves while tools run", {
    replies: [[text("so"), ...twoCalls], done],
    tools: (box) => [box.aware("first", 30), box.aware("second", 400)],
    onReceived: ({ type }) => (type === "outcome" ? "leave" : undefined),
    settleMs: 600,
    faults: ({ framework: { leaving }, ledger: { effects, signalled }, model }) =>
      leaving === "detaches"
        ? is(model.requests === 2, "the turn did not go on without its reader")
        : [
            ...is(effects.length === 1 && signalled === 1, "the running tool was not cancelled"),
            ...is(model.requests === 1, "the model got another request without a reader")
          ]
  }),
  turn("idle", "five of 50,000 words read, then nothing", {
    replies: [words(50_000)],
    isAhead: true,
    readsThenIdles: 5
  }),
  turn("unknown", "an unknown tool beside a good one", {
    replies: [calls(call("a", "nonsense"), call("b", "second")), done],
    tools: (box) => [box.aware("second", 50)],
    outcomes: { a: "not_found", b: "completed" },
    end: "completed"
  }),
  turn("arguments", "arguments wrong, of the wrong type, truncated, right", {
    replies: [
      calls(
        ...Object.entries({ a: "nonsense", b: '{"n":"one"}', c: '{"n": 1', d: '{"n":1}' }).map(([id, json]) =>
          call(id, "counts", json)
        )
      ),
      done
    ],
    tools: (box) => [box.counts("counts")],
    outcomes: { a: "invalid", b: "invalid", c: "invalid", d: "completed" },
    afterwards: async ({ ledger }) => [`ran ${ledger.effects.map(({ callId }) => callId).join()}`, "ran d"]
  }),
  turn("question", "a charge beside a question, answered", {
    replies: [calls(call("a", "charge"), call("b", "ask")), done],
    tools: (box) => [box.deaf("charge", 300, "write"), box.asks("ask", "Really?")],
    outcomes: { a: "completed", b: "completed" },
    afterwards: async ({ company, transcript, ledger }) => {
      await read(company.send("yes"), transcript)
      return [`charged ${ledger.effects.length} times, then ${transcript.end}`, "charged 1 times, then completed"]
    },
    faults: ({ transcript: { events } }) => is(events.includes("question"), "the user was not asked")
  }),
  turn("dies", "the program dies while a charge runs", {
    replies: [calls(call("b", "second"), call("a", "charge")), done],
    tools: (box) => [box.deaf("charge", 300, "write"), box.aware("second", 20)],
    onReceived: ({ type }) => (type === "outcome" ? "leave" : undefined),
    outcomes: { a: "completed", b: "completed" },
    // The next program starts on a copy of what the store has at this moment.
    afterwards: async ({ framework, cast, folder, company, transcript, ledger }) => {
      const files = readdirSync(folder)
      mkdirSync(join(folder, "next"))
      for (const file of files) copyFileSync(join(folder, file), join(folder, "next", file))
      await company.close()
      await sleep(400)
      return withCompany(framework, cast, join(folder, "next"), async (next) => {
        const asked = (await next.waiting?.()) ?? []
        await read(next.allow?.("a", "charged, as the bank says"), transcript)
        const charged = ledger.effects.filter(({ callId }) => callId === "a").length
        return [
          `asked about ${asked.join()}, charged ${charged} times, then ${transcript.end}`,
          "asked about a, charged 1 times, then completed"
        ]
      })
    }
  }),
  crowdOf(1_000)
]
