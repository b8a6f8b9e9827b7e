/** The messages that the playground suggests. */
export { type Suggestion, suggestions } from "./suggestions.ts"
