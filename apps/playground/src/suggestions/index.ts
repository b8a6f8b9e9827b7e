/** The messages that the playground suggests. */
export { suggestions } from "./suggestions.ts"
