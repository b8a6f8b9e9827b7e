/** The table of operations, and the features of cases that this project does not have. */
import type { DispatchCase } from "./dispatchCases.ts"
import type { Operations } from "./operation.ts"
import { gateOperations } from "./gate/gateOperations.ts"
import { budgetOperations } from "./batch/budgetOperations.ts"
import { loopOperations } from "./loop/loopOperations.ts"
import { hookOperations } from "./gate/hookOperations.ts"
import { parallelOperations } from "./batch/parallelOperations.ts"
import { permissionOperations } from "./gate/permissionOperations.ts"

/** The operations by name. */
export const operations: Operations = {
  ...parallelOperations,
  ...permissionOperations,
  ...gateOperations,
  ...hookOperations,
  ...loopOperations,
  ...budgetOperations
}

/** Features that no part of this project has, by operation. */
const elsewhere: Readonly<Record<string, string>> = {
  conclude: "conclusions are notes that another loop draws from its replies",
  translate: "the events of another stream protocol",
  spawn: "subagents",
  rewriteTodos: "the to-do list of another orchestrator",
  observe: "the coordinator of another orchestrator",
  parse: "providers parse calls, and repair none",
  extract: "calls written as text",
  isSuccess: "a table of another loop's finish reasons",
  addEach: "usage in other forms, which adapters read",
  exceeded: "bounds that are no number above 0, which are refused"
}

/** Why a case is not run. */
export const lackingOf = ({ operation }: DispatchCase): string => elsewhere[operation] ?? `${operation} is not run`
