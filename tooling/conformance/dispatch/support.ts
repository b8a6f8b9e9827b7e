/**
 * Which cases the runner understands; what it does not is reported as not supported, and is no failure.
 *
 * @module
 */
import type { DispatchCase } from "./caseFile.ts"
import type { Operation, Operations } from "./operation.ts"
import { gateOperations } from "./gateOperations.ts"
import { budgetOperations } from "./budgetOperations.ts"
import { loopOperations } from "./loopOperations.ts"
import { hookOperations } from "./hookOperations.ts"
import { parallelOperations } from "./parallelOperations.ts"
import { permissionOperations } from "./permissionOperations.ts"

const operations: Operations = {
  ...parallelOperations,
  ...permissionOperations,
  ...gateOperations,
  ...hookOperations,
  ...loopOperations,
  ...budgetOperations
}

/** What runs a case, if anything does. */
export const operationOf = ({ operation }: DispatchCase): Operation | undefined => operations[operation]

/** What no part of this project does, by operation. */
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
