/** The suite of dispatch cases. */
import { fieldsOf } from "../runner/fields.ts"
import { type Case, type CaseFacts, type Finding, type Suite, unexaminedCase } from "../runner/suite.ts"
import { type DispatchCase, dispatchCasesOf } from "./dispatchCases.ts"
import { lackingOf, operations } from "./operations.ts"

/** Some cases measure time, so they run one after another. */
export const dispatchSuite: Suite = {
  concurrency: 1,
  casesOf: (content, file) => dispatchCasesOf(content, file).map(caseOf)
}

const caseOf = (one: DispatchCase): Case => ({ id: one.id, facts: factsOf(one), run: () => found(one) })

const found = async (one: DispatchCase): Promise<Finding> => {
  const operation = operations[one.operation]
  if (operation === undefined) return unexaminedCase(lackingOf(one))
  return isOld(one) ? unexaminedCase("what only an old version does") : operation(one)
}

const isOld = ({ version }: DispatchCase): boolean => version !== undefined && /^(only )?0\.4\.2( only)?$/.test(version)

const factsOf = ({ operation, given, when, recorded, expected }: DispatchCase): CaseFacts => ({
  suite: "dispatch",
  operation,
  given: { ...when, ...given, ...recorded, ...fieldsOf(recorded["setup"]) },
  expected
})
