/** The view of a chat, as it changes. */
import type { Route } from "../route.ts"

export const viewRoutes: ReadonlyArray<Route> = []
