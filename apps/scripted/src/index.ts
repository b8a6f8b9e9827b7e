/** The model without a key of the demo and the playground, and the tools and the team that it works with. */
export { outcomeOf } from "./answers.ts"
export { scriptedModel } from "./scriptedModel.ts"
export { proposals, type Suggestion, suggestions } from "./suggestions.ts"
export { agents, team } from "./team.ts"
export { type Progress, tools } from "./tools.ts"
