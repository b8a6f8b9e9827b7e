/** The scripts and the tools of the agents. */
import { appendFileSync } from "node:fs"
import { call, calls, says } from "../scriptedModel.ts"
import type { AgentTool, Role } from "./agentFramework.ts"
import { AgentModel, type Part, type Respond } from "./agentModel.ts"

/** Calls other agents with one task each, and answers with their results. */
export const gives = (tasks: Readonly<Record<string, string>>): Role["model"] =>
  new AgentModel(({ results }) =>
    results.length > 0
      ? says(`all: ${results.join(" and ")}`)
      : calls(...Object.entries(tasks).map(([id, name]) => call(id, name, JSON.stringify({ input: `${id} dig` }))))
  )

/** Calls a tool once, and answers as given. */
export const uses = (id: string, name: string, answer: Respond = () => says("found")): Role["model"] =>
  new AgentModel((asked, count) => (asked.results.length > 0 ? answer(asked, count) : calls(call(id, name))))

/** Words without end, for the time of a probe. */
export const endless: ReadonlyArray<Part> = Array.from({ length: 2_000 }, (_, at): Part =>
  at % 2 === 0 ? { type: "text", text: "word " } : { type: "wait", ms: 5 }
)

const noArguments = { type: "object", properties: {}, additionalProperties: false }

/** A tool that writes: its effect comes first, and then `after`. */
export const charge = (effect: () => void, after: () => Promise<void> = async () => {}): AgentTool => ({
  name: "charge",
  schema: noArguments,
  effect: "write",
  run: async () => {
    effect()
    await after()
    return "charged"
  }
})

/** Appends a line to the ledger, a file outside of what is killed. */
export const recorded =
  (ledger: string): (() => void) =>
  () =>
    appendFileSync(ledger, "charge\n")
