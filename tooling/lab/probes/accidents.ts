/**
 * The accidents of trees of agents, and the expected outcome of each. They are the same for every framework.
 *
 * A bound is an order of events, or a time in which the delay by the machine does not count (LAB16).
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises"
import { until } from "../delays.ts"
import { type Accident, endOf, saw, shown } from "./accident.ts"
import type { Cast, Company, Role } from "./framework.ts"
import { killed } from "./killed.ts"
import { calls, charge, gives, held, modelOf, replyTokens, says, uses } from "./model.ts"

/** A boss with one agent. */
const pair = (research: Role, more: Omit<Cast, "roles"> = {}): Cast => ({
  roles: { boss: { model: gives({ c0: "research" }), agents: ["research"] }, research },
  ...more
})

/** Words without end, for the time of a probe. */
const endless = Array.from({ length: 2_000 }, (_, at) => (at % 2 === 0 ? { text: "word " } : { delayMs: 5 }))

const alone = ({ alive }: Company): boolean => (alive?.() ?? 0) === 0

/** All accidents, in the order of the table. */
export const accidents: ReadonlyArray<Accident> = [
  {
    id: "cancel",
    title: "cancel the parent while a tool of the child runs",
    must: "the turns of both end before the tool does, the tool gets the signal, and nothing happens afterwards",
    run: async ({ start }) => {
      const { tool, counts, release } = held("dig")
      const company = await start(pair({ model: uses("c1", "dig"), tools: [tool] }))
      const turn = endOf(company.send("go"))
      await until(() => counts.begun === 1)
      await company.cancel()
      const ended = await turn
      const isAlone = alone(company)
      release()
      await sleep(100)
      return saw(`${shown(ended)}; signals ${counts.signals}, effects afterwards ${counts.effects}`, {
        "the turn did not end": ended.reason !== "no end",
        "the tool got no signal": counts.signals === 1,
        "the tool of the child did its work": counts.effects === 0,
        "agents below the root still run": isAlone
      })
    }
  },
  {
    id: "stop",
    title: "stop the parent while the child streams",
    must: "the stream of the child is released, and no word is taken afterwards",
    run: async ({ start }) => {
      const model = modelOf(() => endless)
      const company = await start(pair({ model }))
      const turn = endOf(company.send("go"))
      await until(() => model.words > 3)
      await (company.stop ?? company.cancel)()
      await until(() => model.released === 1, 500)
      const { words } = model
      const isAlone = alone(company)
      await sleep(300)
      const late = model.words - words
      const ended = late === 0 ? await turn : { reason: "still streams", text: "" }
      return saw(`${shown(ended)}; streams released ${model.released} of ${model.requests}, words afterwards ${late}`, {
        "the child streams without a reader": model.released === model.requests && late === 0,
        "agents below the root still run": isAlone
      })
    }
  },
  {
    id: "hung",
    title: "the child never answers; its call has a deadline of 300 ms",
    must: "the parent reads that the time is over, and the stream of the child is released",
    run: async ({ start }) => {
      const model = modelOf(() => [{ hang: true }])
      const company = await start(pair({ model }, { deadlineMs: 300 }))
      const ended = await endOf(company.send("go"))
      await until(() => model.released === 1, 500)
      return saw(`${shown(ended)}; streams released ${model.released} of ${model.requests}`, {
        "the parent has no answer": ended.text.includes("all: "),
        "the request of the child is still open": model.released === model.requests
      })
    }
  },
  {
    id: "child",
    title: "the child dies once in its request",
    must: "the child is started again, and the parent gets its answer",
    run: async ({ start }) => {
      // Without a process of its own a child dies by an exception in its request.
      let canKill = true
      const dies = () => [canKill ? { hang: true as const } : { crash: new Error("the connection is broken") }]
      const model = modelOf((_, count) => (count > 1 ? says("found") : dies()))
      const company = await start(pair({ model }))
      canKill = company.kill !== undefined
      const turn = endOf(company.send("go"))
      await until(() => model.requests === 1)
      company.kill?.("child")
      const ended = await turn
      return saw(`${shown(ended)}; ${model.requests} requests of the child`, {
        "the parent has no answer": ended.text.includes("all: found")
      })
    }
  },
  {
    id: "parent",
    title: "the process of the parent dies while the child works",
    must: "the child ends too; a retry continues the same child, and no write runs twice",
    run: async ({ start }) => {
      let charges = 0
      const model = uses("c1", "charge", (_, count) => (count === 2 ? [{ hang: true }] : says("found")))
      const company = await start(pair({ model, tools: [charge(() => charges++)] }))
      const turn = endOf(company.send("go"))
      await until(() => model.requests === 2)
      company.kill?.("root")
      const died = await turn
      const isAlone = await until(() => alone(company))
      const ended = await endOf(company.retry?.())
      return saw(`${shown(died)}; then ${shown(ended)}; ${charges} writes`, {
        "the task is lost": ended.text.includes("all: found"),
        [`${charges} writes`]: charges === 1,
        "agents below the root still run": isAlone
      })
    }
  },
  ...(["between", "during"] as const).map((when): Accident => ({
    id: `kill-${when}`,
    title: `kill -9 of the program ${when === "between" ? "after" : "during"} a write of the child`,
    must:
      when === "between"
        ? "the next start continues the same child, and the write does not run again"
        : "the write does not run again; somebody is asked, or the model reads that the effect is unknown",
    isSlow: true,
    run: async ({ framework, folder }) => {
      const { charges, waiting, ...ended } = await killed(framework.module ?? "", folder, when)
      const asks = waiting.length === 0 ? "" : `; waits for a decision about ${waiting.join(", ")}`
      return saw(`${shown(ended)}${asks}; ${charges} writes`, {
        [`${charges} writes`]: charges === 1,
        "the task is lost": ended.text.includes("all: found") || (when === "during" && waiting.length === 1)
      })
    }
  })),
  {
    id: "budget",
    title: "two parallel children overspend the budget of the parent",
    must: "the children overspend it by at most one request each",
    run: async ({ start }) => {
      const budget = 200
      const model = modelOf((_, count) => (count > 40 ? says("found") : calls({ [`l${count}`]: "look" })))
      const boss = gives({ c0: "research", c1: "research" })
      const research = { model, tools: [{ name: "look", run: () => sleep(5, "nothing") }] }
      const company = await start({ roles: { boss: { model: boss, agents: ["research"] }, research }, budget })
      const ended = await endOf(company.send("go"))
      const spent = (boss.requests + model.requests) * replyTokens
      return saw(`${shown(ended)}; ${spent} tokens of ${budget}`, {
        [`${spent} tokens were spent of ${budget}`]: spent <= budget + 2 * replyTokens,
        [`ended ${ended.reason}`]: ended.reason.includes("budget")
      })
    }
  },
  {
    id: "approval",
    title: "an approval two levels down, with a restart between",
    must: "the root lists it before and after the restart; the call runs once, and its answer comes back",
    run: async ({ start }) => {
      let charges = 0
      const tool = { ...charge(() => charges++), isApproved: true }
      const cast = (): Cast => ({
        roles: {
          boss: { model: gives({ c0: "lead" }), agents: ["lead"] },
          lead: { model: gives({ c1: "worker" }), agents: ["worker"] },
          worker: { model: uses("c7", "charge"), tools: [tool] }
        }
      })
      const former = await start(cast())
      const first = await endOf(former.send("go"))
      const before = (await former.waiting?.()) ?? []
      const company = await start(cast())
      const waiting = (await company.waiting?.()) ?? []
      const [address] = waiting
      const ended = await endOf(address === undefined ? undefined : company.allow?.(address))
      return saw(`${shown(first)}; lists ${waiting.join(", ") || "nothing"}; then ${shown(ended)}; ${charges} writes`, {
        "the root does not list it": before.length === 1 && waiting.length === 1,
        [`${charges} writes`]: charges === 1,
        "the task is lost": ended.text.includes("found")
      })
    }
  },
  {
    id: "background",
    title: "a background task ends after its root was unloaded",
    must: "the call returns at once; the end is reported once and answered, also after a restart",
    run: async ({ start }) => {
      const model = modelOf(({ input, results }) =>
        input !== "go" ? says("reported") : results.length === 0 ? calls({ c0: "crawl" }) : says("started")
      )
      const { tool, release } = held("crawl")
      const cast: Cast = { roles: { boss: { model, tools: [{ ...tool, isBackground: true }] } }, unloadMs: 50 }
      const started = await endOf((await start(cast)).send("go"))
      await sleep(500)
      release()
      await until(() => model.requests === 3, 5_000)
      const company = await start(cast)
      await sleep(300)
      const texts = (await company.said?.()) ?? []
      const reports = texts.filter((text) => text.includes("done") && text.includes("crawl")).length
      return saw(`${shown(started)}; ${reports} reports, last text "${texts.at(-1) ?? ""}"`, {
        "the call waited for the end of its work": started.reason !== "no end",
        [`${reports} reports`]: reports === 1,
        "the report has no answer": texts.at(-1) === "reported"
      })
    }
  }
]
