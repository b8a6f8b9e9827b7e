/** The suite of dispatch cases. */
import { fieldsOf, textOf } from "../runner/json.ts"
import { type Finding, type Suite, unexaminedCase } from "../runner/suite.ts"
import { budgetOperations } from "./batch/budgetOperations.ts"
import { parallelOperations } from "./batch/parallelOperations.ts"
import { type DispatchCase, dispatchCasesOf, type Operations, meanings } from "./dispatchCases.ts"
import { gateOperations } from "./gate/gateOperations.ts"
import { hookOperations } from "./gate/hookOperations.ts"
import { permissionOperations } from "./gate/permissionOperations.ts"
import { loopOperations } from "./loop/loopOperations.ts"

const operations: Operations = {
  ...parallelOperations,
  ...permissionOperations,
  ...gateOperations,
  ...hookOperations,
  ...loopOperations,
  ...budgetOperations
}

/** Some cases measure time, so they run one after another. */
export const dispatchSuite: Suite = {
  casesOf: (content, file) =>
    dispatchCasesOf(content, file).map((one) => {
      const { id, operation, given, when, recorded, expected } = one
      const all = { ...when, ...given, ...recorded, ...fieldsOf(recorded["setup"]) }
      return { id, facts: { suite: "dispatch", operation, given: all, expected }, run: () => found(one) }
    })
}

const found = async (one: DispatchCase): Promise<Finding> => {
  const run = operations[one.operation]
  if (run === undefined) {
    return unexaminedCase(textOf(meanings.elsewhere[one.operation] ?? `${one.operation} is not run`))
  }
  const isOld = /^(only )?0\.4\.2( only)?$/.test(textOf(one.version))
  return isOld ? unexaminedCase("what only an old version does") : run(one)
}
