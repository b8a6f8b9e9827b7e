/**
 * Adds usages, and checks whether they exceed a budget.
 *
 * @module
 */
import { Usage } from "@troupe/chat/messages"
import { renamed } from "../../chat/values/plain.ts"
import { type Fields, fieldsOf, listOf } from "../../runner/fields.ts"
import { finishOf, runLoop } from "../loop/loopRun.ts"
import { type Model, reply } from "../loop/loopScript.ts"
import { compared, type Operation, type Operations } from "../dispatchCases.ts"

const names: Readonly<Record<string, keyof Usage.Usage>> = {
  in: "inputTokens",
  out: "outputTokens",
  total: "totalTokens",
  reasoning: "reasoningTokens",
  cost: "totalCost"
}

const usageOf = (fields: Fields): Usage.Usage => renamed(fields, (name) => names[name] ?? name)

const add: Operation = async ({ when, expected }) => {
  const usages = listOf(when["add"]).map((one) => usageOf(fieldsOf(one)))
  const sum = usages.reduce(Usage.add, Usage.empty)
  const usage = Object.fromEntries(Object.entries(names).map(([name, field]) => [name, sum[field]]))
  const cost = Math.round((sum.totalCost ?? 0) * 1e6) / 1e6
  const absentUntilReported = !("reasoningTokens" in usages.slice(1).reduce(Usage.add, Usage.empty))
  return compared({ usage, cost, absentUntilReported }, { expected })
}

/** Whether a turn of this cost would continue under each limit. */
const exceededFor: Operation = async ({ given, when, expected }) => {
  const model: Model = (call) =>
    reply("t", call === 0 ? [{ id: "a", name: "glob" }] : [], { totalCost: Number(given["cost"]) })
  const runs = listOf(when["exceededFor"]).map((cap) =>
    runLoop({ prompt: "hi", model, given: { options: cap === null ? {} : { maxCostUsd: cap } } })
  )
  const results = (await Promise.all(runs)).map((seen) => finishOf(seen) === "error_max_budget_usd")
  return compared({ results }, { expected })
}

export const budgetOperations: Operations = { add, exceededFor }
