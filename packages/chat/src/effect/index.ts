/** The same functions as Effects and Streams. */
export { onEffectExit } from "./onEffectExit.ts"
