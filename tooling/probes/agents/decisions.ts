/** The accidents of work that goes on while the root is at rest: a decision of a person, and a background task. */
import { setTimeout as sleep } from "node:timers/promises"
import { is } from "../expected.ts"
import { call, calls, says } from "../scriptedModel.ts"
import { Ledger, toolbox } from "../toolbox.ts"
import { type Accident, answers, endOf, shown, timeOf, until, withCompany } from "./accident.ts"
import type { Cast, Company } from "./agentFramework.ts"
import { AgentModel } from "./agentModel.ts"
import { charge, gives, uses } from "./scripts.ts"

/** The accidents while the root is at rest. */
export const decisions: ReadonlyArray<Accident> = [
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
      const asked = await withCompany(framework, cast(), folder, async (company) => {
        const ended = await endOf(company.send("go"))
        return { ended, waiting: await company.waiting() }
      })
      return withCompany(framework, cast(), folder, async (company) => {
        const waiting = await company.waiting()
        const [address] = waiting
        const ended =
          address === undefined ? { reason: "nobody is asked", text: "" } : await endOf(company.allow(address))
        return {
          seen: `${shown(asked.ended)}; lists ${waiting.join(", ") || "nothing"}; then ${shown(ended)}; ${charges} writes`,
          faults: [
            ...is(asked.waiting.length === 1 && waiting.length === 1, "the root does not list it"),
            ...is(charges === 1, `${charges} writes`),
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
      const boss = new AgentModel(({ input, results }) =>
        input === "go" ? (results.length === 0 ? calls(call("c0", "crawl")) : says("started")) : says("reported")
      )
      const crawl = { ...toolbox(new Ledger()).aware("crawl", 600), isBackground: true }
      const cast: Cast = { roles: { boss: { model: boss, tools: [crawl] } }, unloadMs: 50 }
      const said = ({ said: read = async () => [] }: Company) => read()
      const [started, ms] = await withCompany(framework, cast, folder, async (company) => {
        const first = await timeOf(endOf(company.send("go")))
        await until(() => boss.requests === 3, 5_000)
        return first
      })
      return withCompany(framework, cast, folder, async (company) => {
        await sleep(300)
        const texts = await said(company)
        const reports = texts.filter((text) => text.includes("done") && text.includes("crawl")).length
        return {
          seen: `${shown(started)}; ${reports} reports, last text "${texts.at(-1) ?? ""}"`,
          faults: [
            ...is(ms < 500, `the call took ${ms.toFixed(0)} ms`),
            ...is(reports === 1, `${reports} reports`),
            ...is(texts.at(-1) === "reported", "nobody answered the report")
          ]
        }
      })
    }
  }
]
