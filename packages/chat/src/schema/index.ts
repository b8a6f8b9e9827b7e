/** JSON Schema: checks of values, bounded in time and size. */
export { compile } from "./compile.ts"
