/** The AI SDK's UI message stream. */
import type { Route } from "../route.ts"

export const aiSdkRoutes: ReadonlyArray<Route> = []
