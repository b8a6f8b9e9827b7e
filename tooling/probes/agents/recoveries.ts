/** The accidents after which work goes on: crashes, and a budget that is used up. */
import { is } from "../expected.ts"
import { call, calls, says } from "../scriptedModel.ts"
import { Ledger, toolbox } from "../toolbox.ts"
import { type Accident, answers, endOf, noChild, pair, shown, until, withCompany } from "./accident.ts"
import type { Cast } from "./agentFramework.ts"
import { AgentModel, replyTokens } from "./agentModel.ts"
import { killed } from "./killed.ts"
import { charge, gives, uses } from "./scripts.ts"

/** The accidents after which work goes on. */
export const recoveries: ReadonlyArray<Accident> = [
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
        const ended = await endOf(company.retry())
        return {
          seen: `${shown(died)}; then ${shown(ended)}; ${charges} writes`,
          faults: [...answers(ended, "all: found"), ...is(charges === 1, `${charges} writes`), ...alive]
        }
      })
    }
  },
  ...(["between", "during"] as const).map((when): Accident => ({
    id: `kill-${when}`,
    title: `kill -9 of the program ${when === "between" ? "after a write of the child" : "during a write of the child"}`,
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
          ...is(charges === 1, `${charges} writes`),
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
      const research = new AgentModel((_, count) => (count > 40 ? says("found") : calls(call(`l${count}`, "look"))))
      const boss = gives({ c0: "research", c1: "research" })
      const tools = [toolbox(new Ledger()).aware("look", 5)]
      const cast: Cast = {
        roles: {
          boss: { model: boss, agents: ["research"] },
          research: { model: research, tools }
        },
        budget
      }
      return withCompany(framework, cast, folder, async (company) => {
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
  }
]
