/** The same functions as Effects and Streams. */
export { heard } from "./onEffectExit.ts"
