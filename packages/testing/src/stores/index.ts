/** The laws of a store. */
export { sessionStoreLaws } from "./storeSuite.ts"
