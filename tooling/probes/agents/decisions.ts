/** The accidents around a decision of a person. */
import { is } from "../expected.ts"
import { type Accident, answers, endOf, shown, withCompany } from "./accident.ts"
import type { Cast } from "./agentFramework.ts"
import { charge, gives, uses } from "./scripts.ts"

/** The accidents around a decision. */
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
  }
]
