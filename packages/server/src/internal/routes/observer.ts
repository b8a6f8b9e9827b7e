/** What the observer shows. */
import type { Route } from "../route.ts"

export const observerRoutes: ReadonlyArray<Route> = []
