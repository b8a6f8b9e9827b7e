/** The routes of OpenAI's protocols. */
export { conversationRoutes } from "./conversationRoutes.ts"
export { openAiRoutes } from "./openAiRoutes.ts"
export { responsesRoutes } from "./responsesRoutes.ts"
