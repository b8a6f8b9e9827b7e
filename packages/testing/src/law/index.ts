/** What every suite is made of: a law with its check, and the comparison of values by their canonical text. */
export { canonicalJson, valueIn } from "./canonicalJson.ts"
export { holds, law } from "./law.ts"
export type { Law } from "./law.ts"
