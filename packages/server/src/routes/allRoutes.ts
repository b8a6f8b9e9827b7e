/** All routes of a server. */
import type { Route } from "../http/index.ts"
import { agUiRoutes } from "./agUiRoutes.ts"
import { aiSdkRoutes } from "./aiSdkRoutes.ts"
import { chatRoutes } from "./chatRoutes.ts"
import { logRoutes } from "./logRoutes.ts"
import { observerRoutes } from "./observerRoutes.ts"
import { conversationRoutes, openAiRoutes, responsesRoutes } from "./openAi/index.ts"

export const everyRoute: ReadonlyArray<Route> = [
  ...chatRoutes,
  ...logRoutes,
  ...observerRoutes,
  ...aiSdkRoutes,
  ...agUiRoutes,
  ...openAiRoutes,
  ...responsesRoutes,
  ...conversationRoutes
]
