/** The routes of the server, one file for each protocol or resource. */
export { everyRoute } from "./allRoutes.ts"
export { hostRoutes } from "./hostRoutes.ts"
export { mcpRoutes } from "./mcpRoutes.ts"
export type { McpEndpoint } from "./mcpRoutes.ts"
export { nodeRoutes } from "./observerRoutes.ts"
