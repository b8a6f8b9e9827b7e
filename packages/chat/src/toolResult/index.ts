/** The text that a model reads about a tool's result or failure. */
export { awaitingUser, describe, errorText } from "./errorText.ts"
export type { ResultLimits, ResultSize } from "./resultText.ts"
export { defaultMaxToolResultCharacters, tooLarge } from "./resultText.ts"
export { json } from "./ToolResultEncoder.ts"
export type { ToolResultEncoder } from "./ToolResultEncoder.ts"
