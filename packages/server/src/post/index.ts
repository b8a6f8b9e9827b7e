/** Posted requests: their meaning, and the handler that applies it. */
export { contextOf, existing, following, handle } from "./handle.ts"
export { namedResults, noAnswers } from "./Posted.ts"
export type { Answers, Posted } from "./Posted.ts"
export type { Encoder, Protocol, Run, Writing } from "./Protocol.ts"
export type { Refusal } from "./reconcile.ts"
export { replyMessages, streamed } from "./streamed.ts"
