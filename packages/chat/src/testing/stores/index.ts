/** The laws that every session store keeps. */
export { holds, law } from "./law.ts"
export type { Law } from "./law.ts"
export { sessionStoreLaws } from "./storeSuite.ts"
