/** OpenAI's chat completions. */
import type { Route } from "../route.ts"

export const openAiRoutes: ReadonlyArray<Route> = []
