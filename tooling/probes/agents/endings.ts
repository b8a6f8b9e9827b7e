/** The accidents that end an agent: a cancel, a stop, a deadline and a crash. */
import { setTimeout as sleep } from "node:timers/promises"
import { is } from "../expected.ts"
import { says } from "../scriptedModel.ts"
import { Ledger, toolbox } from "../toolbox.ts"
import { type Accident, answers, endOf, noChild, pair, shown, timeOf, until, withCompany } from "./accident.ts"
import { AgentModel } from "./agentModel.ts"
import { endless, uses } from "./scripts.ts"

/** The accidents that end an agent. */
export const endings: ReadonlyArray<Accident> = [
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
        const ended = await turn
        const alive = noChild(company)
        await sleep(1_500)
        return {
          seen: `${shown(ended)}; signals ${ledger.signalled}, effects afterwards ${ledger.effects.length}`,
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
      const model = new AgentModel(() => endless)
      return withCompany(framework, pair({ model }), folder, async (company) => {
        const turn = endOf(company.send("go"))
        await until(() => model.words > 3)
        const [, ms] = await timeOf(company.stop())
        await until(() => model.released === 1, 500)
        const words = model.words
        const alive = noChild(company)
        await sleep(300)
        const late = model.words - words
        const ended = late === 0 ? await turn : { reason: "still streams", text: "" }
        return {
          seen: `${shown(ended)}; streams released ${model.released} of ${model.requests}, words afterwards ${late}`,
          faults: [
            ...is(ms < 1_500, `took ${ms.toFixed(0)} ms`),
            ...is(model.released === model.requests && late === 0, "the child streams for nobody"),
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
      const model = new AgentModel(() => [{ type: "hang" }])
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
      const model = new AgentModel((_, count) =>
        count > 1 ? says("found") : canKill ? [{ type: "hang" }] : [{ type: "break" }]
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
  }
]
