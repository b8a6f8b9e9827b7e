/** AG-UI. */
import type { Route } from "../route.ts"

export const agUiRoutes: ReadonlyArray<Route> = []
