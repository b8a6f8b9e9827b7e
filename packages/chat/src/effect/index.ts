/** The same functions as Effects and Streams. */
export { userAnswer } from "./onEffectExit.ts"
