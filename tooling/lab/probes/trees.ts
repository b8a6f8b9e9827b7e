/**
 * The accidents of trees of agents, the same for every framework: cancels, stops, deadlines, crashes, a budget that is used up, and
 * work that goes on while the root is at rest.
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises"
import type { Cast, Company, Ended, Role } from "./framework.ts"
import { killed } from "./killed.ts"
import { call, calls, endless, gives, Model, replyTokens, says, uses } from "./model.ts"
import { endOf, is, type Probe, shown, timeOf, until, withCompany } from "./probe.ts"
import { charge, Ledger, toolbox } from "./toolbox.ts"

/** The faults of a turn that must have this text. */
const answers = (ended: Ended, text: string): ReadonlyArray<string> =>
  is(ended.text.includes(text), `ended with ${shown(ended)}`)

/** The fault of agents that still run below the root. */
const noChild = ({ alive = () => 0 }: Company): ReadonlyArray<string> =>
  is(alive() === 0, `${alive()} agents below the root still run`)

/** A boss with one agent. */
const pair = (research: Role, more: Omit<Cast, "roles"> = {}): Cast => ({
  roles: { boss: { model: gives({ c0: "research" }), agents: ["research"] }, research },
  ...more
})

const writes = (count: number): ReadonlyArray<string> => is(count === 1, `${count} writes`)

/** All accidents, in the order of the table. */
export const trees: ReadonlyArray<Probe> = [
  {
    id: "cancel",
    title: "cancel the parent while a tool of the child runs",
    must: "the turns of both end within 1 s, the tool gets the signal, and nothing happens afterwards",
    run: (framework, folder) => {
      const ledger = new Ledger()
      const model = uses("c1", "dig")
      const tool = toolbox(ledger).aware("dig", 1_400)
      return withCompany(framework, pair({ model, tools: [tool] }), folder, async (company) => {
        const turn = endOf(company.send("go"))
        await until(() => model.requests === 1)
        await sleep(100)
        const [, ms] = await timeOf(Promise.all([company.cancel(), turn]))
        const alive = noChild(company)
        await sleep(1_500)
        return {
          seen: `${shown(await turn)}; signals ${ledger.signalled}, effects afterwards ${ledger.effects.length}`,
          faults: [
            ...is(ms < 1_000, `took ${ms.toFixed(0)} ms`),
            ...is(ledger.signalled === 1, "the tool got no signal"),
            ...is(ledger.effects.length === 0, "the tool of the child did its work"),
            ...alive
          ]
        }
      })
    }
  },
  {
    id: "stop",
    title: "stop the parent while the child streams",
    must: "the stream of the child is released, and no word is taken afterwards",
    run: (framework, folder) => {
      const model = new Model(() => endless)
      return withCompany(framework, pair({ model }), folder, async (company) => {
        const turn = endOf(company.send("go"))
        await until(() => model.words > 3)
        const [, ms] = await timeOf(company.stop?.() ?? Promise.resolve())
        await until(() => model.released === 1, 500)
        const { words } = model
        const alive = noChild(company)
        await sleep(300)
        const late = model.words - words
        const ended = late === 0 ? await turn : { reason: "still streams", text: "" }
        return {
          seen: `${shown(ended)}; streams released ${model.released} of ${model.requests}, words afterwards ${late}`,
          faults: [
            ...is(ms < 1_500, `took ${ms.toFixed(0)} ms`),
            ...is(model.released === model.requests && late === 0, "the child streams without a reader"),
            ...alive
          ]
        }
      })
    }
  },
  {
    id: "hung",
    title: "the child never answers; its call has a deadline of 300 ms",
    must: "the parent reads that the time is over, and the stream of the child is released",
    run: (framework, folder) => {
      const model = new Model(() => [{ type: "hang" }])
      return withCompany(framework, pair({ model }, { deadlineMs: 300 }), folder, async (company) => {
        const [ended, ms] = await timeOf(endOf(company.send("go")))
        await until(() => model.released === 1, 500)
        return {
          seen: `${shown(ended)}; streams released ${model.released} of ${model.requests}`,
          faults: [
            ...is(ms < 2_000, `took ${ms.toFixed(0)} ms`),
            ...answers(ended, "all: "),
            ...is(model.released === model.requests, "the request of the child is still open")
          ]
        }
      })
    }
  },
  {
    id: "child",
    title: "the child dies once in its request",
    must: "the child is started again, and the parent gets its answer",
    run: (framework, folder) => {
      // Without a process of its own a child dies by an exception in its request.
      let canKill = true
      const model = new Model((_, count) =>
        count > 1 ? says("found") : [canKill ? { type: "hang" } : { type: "break" }]
      )
      return withCompany(framework, pair({ model }), folder, async (company) => {
        canKill = company.kill !== undefined
        const turn = endOf(company.send("go"))
        await until(() => model.requests === 1)
        company.kill?.("child")
        const ended = await turn
        return {
          seen: `${shown(ended)}; ${model.requests} requests of the child`,
          faults: answers(ended, "all: found")
        }
      })
    }
  },
  {
    id: "parent",
    title: "the process of the parent dies while the child works",
    must: "the child ends too; a retry continues the same child, and no write runs twice",
    run: (framework, folder) => {
      let charges = 0
      const model = uses("c1", "charge", (_, count) => (count === 2 ? [{ type: "hang" }] : says("found")))
      return withCompany(framework, pair({ model, tools: [charge(() => charges++)] }), folder, async (company) => {
        const turn = endOf(company.send("go"))
        await until(() => model.requests === 2)
        company.kill?.("root")
        const died = await turn
        await until(() => company.alive?.() === 0)
        const alive = noChild(company)
        const ended = await endOf(company.retry?.())
        return {
          seen: `${shown(died)}; then ${shown(ended)}; ${charges} writes`,
          faults: [...answers(ended, "all: found"), ...writes(charges), ...alive]
        }
      })
    }
  },
  ...(["between", "during"] as const).map((when): Probe => ({
    id: `kill-${when}`,
    title: `kill -9 of the program ${when === "between" ? "after" : "during"} a write of the child`,
    must:
      when === "between"
        ? "the next start continues the same child, and the write does not run again"
        : "the write does not run again; somebody is asked, or the model reads that the effect is unknown",
    isSlow: true,
    run: async (framework, folder) => {
      const { charges, reason = "no end", text = "", waiting = [], problem } = await killed(framework, folder, when)
      const asks = waiting.length === 0 ? "" : `; waits for a decision about ${waiting.join(", ")}`
      return {
        seen: `${problem ?? shown({ reason, text })}${asks}; ${charges} writes`,
        faults: [
          ...writes(charges),
          ...is(text.includes("all: found") || (when === "during" && waiting.length === 1), "the task is lost")
        ]
      }
    }
  })),
  {
    id: "budget",
    title: "two parallel children overspend the budget of the parent",
    must: "the children overspend it by at most one request each",
    run: (framework, folder) => {
      const budget = 200
      const research = new Model((_, count) => (count > 40 ? says("found") : calls(call(`l${count}`, "look"))))
      const boss = gives({ c0: "research", c1: "research" })
      const tools = [toolbox(new Ledger()).aware("look", 5)]
      const roles = { boss: { model: boss, agents: ["research"] }, research: { model: research, tools } }
      return withCompany(framework, { roles, budget }, folder, async (company) => {
        const ended = await endOf(company.send("go"))
        const spent = (boss.requests + research.requests) * replyTokens
        return {
          seen: `${shown(ended)}; ${spent} tokens of ${budget}`,
          faults: [
            ...is(spent <= budget + 2 * replyTokens, `${spent} tokens were spent of ${budget}`),
            ...is(ended.reason.includes("budget"), `ended ${ended.reason}`)
          ]
        }
      })
    }
  },
  {
    id: "approval",
    title: "an approval two levels down, with a restart between",
    must: "the root lists it before and after the restart; the call runs once, and its answer comes back",
    run: async (framework, folder) => {
      let charges = 0
      const tool = { ...charge(() => charges++), isApproved: true }
      const cast = (): Cast => ({
        roles: {
          boss: { model: gives({ c0: "lead" }), agents: ["lead"] },
          lead: { model: gives({ c1: "worker" }), agents: ["worker"] },
          worker: { model: uses("c7", "charge"), tools: [tool] }
        }
      })
      const [first, before] = await withCompany(framework, cast(), folder, async (company) => {
        const ended = await endOf(company.send("go"))
        return [ended, (await company.waiting?.()) ?? []] as const
      })
      return withCompany(framework, cast(), folder, async (company) => {
        const waiting = (await company.waiting?.()) ?? []
        const [address] = waiting
        const ended = address === undefined ? { reason: "not listed", text: "" } : await endOf(company.allow?.(address))
        return {
          seen: `${shown(first)}; lists ${waiting.join(", ") || "nothing"}; then ${shown(ended)}; ${charges} writes`,
          faults: [
            ...is(before.length === 1 && waiting.length === 1, "the root does not list it"),
            ...writes(charges),
            ...answers(ended, "found")
          ]
        }
      })
    }
  },
  {
    id: "background",
    title: "a background task ends after its root was unloaded",
    must: "the call returns at once; the end is reported once and answered, also after a restart",
    run: async (framework, folder) => {
      const boss = new Model(({ input, results }) =>
        input === "go" ? (results.length === 0 ? calls(call("c0", "crawl")) : says("started")) : says("reported")
      )
      const crawl = { ...toolbox(new Ledger()).aware("crawl", 600), isBackground: true }
      const cast: Cast = { roles: { boss: { model: boss, tools: [crawl] } }, unloadMs: 50 }
      const [started, ms] = await withCompany(framework, cast, folder, async (company) => {
        const first = await timeOf(endOf(company.send("go")))
        await until(() => boss.requests === 3, 5_000)
        return first
      })
      return withCompany(framework, cast, folder, async (company) => {
        await sleep(300)
        const texts = (await company.said?.()) ?? []
        const reports = texts.filter((text) => text.includes("done") && text.includes("crawl")).length
        return {
          seen: `${shown(started)}; ${reports} reports, last text "${texts.at(-1) ?? ""}"`,
          faults: [
            ...is(ms < 500, `the call took ${ms.toFixed(0)} ms`),
            ...is(reports === 1, `${reports} reports`),
            ...is(texts.at(-1) === "reported", "the report has no answer")
          ]
        }
      })
    }
  }
]
