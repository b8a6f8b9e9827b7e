/**
 * The projects that `npm create troupe` writes.
 *
 * @module
 */
export type { Choices } from "./choices.ts"
export { CreateError } from "./CreateError.ts"
export type { CreateErrorReason } from "./CreateError.ts"
export { writeProject } from "./project.ts"
