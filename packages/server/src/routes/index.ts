/** The routes of the server, one file for each protocol or resource. */
export { everyRoute } from "./allRoutes.ts"
export { hostRoutes } from "./hostRoutes.ts"
export { type McpEndpoint, mcpRoutes } from "./mcpRoutes.ts"
export { nodeRoutes } from "./observerRoutes.ts"
