/** Plain XState machines, compiled to a plan that runs without an interpreter. */
export { planned } from "./chartLogic.ts"
export type { Scope } from "./xstateMachine.ts"
