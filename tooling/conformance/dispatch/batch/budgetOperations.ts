/**
 * Adds usages, and checks whether they exceed a budget.
 *
 * @module
 */
import { Usage } from "@troupe/chat/messages"
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

const usageOf = (fields: Fields): Usage.Usage =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [names[name] ?? name, value]))

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
  const usage = { totalCost: Number(given["cost"]) }
  const results = await Promise.all(
    listOf(when["exceededFor"]).map(async (cap) => {
      const options = cap === null ? {} : { maxCostUsd: cap }
      const model: Model = (call) => reply("t", call === 0 ? [{ id: "a", name: "glob" }] : [], usage)
      return finishOf(await runLoop({ prompt: "hi", model, given: { options } })) === "error_max_budget_usd"
    })
  )
  return compared({ results }, { expected })
}

export const budgetOperations: Operations = { add, exceededFor }
