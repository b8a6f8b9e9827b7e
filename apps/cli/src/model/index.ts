/** The models a chat can use, a scripted one among them. */
export { outcomeOf } from "./answers.ts"
export { proposals } from "./scriptedModel.ts"
