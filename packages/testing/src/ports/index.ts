/** The laws of an adapter, of an encoder and of an executor. */
export { adapterLaws } from "./adapterSuite.ts"
export { encoderLaws } from "./encoderSuite.ts"
export { executorLaws } from "./executorSuite.ts"
