/**
 * Permissions: rules that let tool calls run, ask a person, or deny the calls.
 *
 * A call is judged in this order: the `deny` list, the `allow` list, the mode, the person asked by `ask`, and last the
 * `PreToolUse` hooks. {@link check} decides the first three, from the call and the tool's declaration.
 *
 * | mode          | lets through without a question                 | asks about        | refuses                    |
 * | ------------- | ----------------------------------------------- | ----------------- | -------------------------- |
 * | `plan`        | nothing                                         | what only reads   | whatever does not only read |
 * | `default`     | nothing                                         | every call        | nothing                    |
 * | `acceptEdits` | tools that only read, and the tools of `edits`  | every other call  | nothing                    |
 * | `trusted`     | every call                                      | nothing           | nothing                    |
 * | `bypass`      | every call                                      | nothing           | nothing                    |
 *
 * Without `ask`, a call that the mode asks about runs. The lists apply in every mode.
 *
 * Implemented in `permissionRules.ts` (the lists and the modes) and `gate.ts` (the question to the person).
 *
 * @module
 */
export { Mode } from "../record/index.ts"
export { check, clamp } from "./permissionRules.ts"
export type { Answer, Ask, Permissions } from "./permissionRules.ts"
