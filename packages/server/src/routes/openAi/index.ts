/** The routes of OpenAI's protocols. */
export { openAiRoutes } from "./openAiRoutes.ts"
export { responsesRoutes } from "./responsesRoutes.ts"
