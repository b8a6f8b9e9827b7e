/** All routes of a server. */
import type { Route } from "../route.ts"
import { agUiRoutes } from "./agUi.ts"
import { aiSdkRoutes } from "./aiSdk.ts"
import { chatRoutes } from "./chats.ts"
import { logRoutes } from "./log.ts"
import { observerRoutes } from "./observer.ts"
import { openAiRoutes } from "./openAi.ts"
import { viewRoutes } from "./view.ts"

export const everyRoute: ReadonlyArray<Route> = [
  ...chatRoutes,
  ...logRoutes,
  ...viewRoutes,
  ...observerRoutes,
  ...aiSdkRoutes,
  ...agUiRoutes,
  ...openAiRoutes
]
