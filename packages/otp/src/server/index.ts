/** GenServer and Agent: calls, casts, replies and deadlines. */
export { scopedServer } from "./scopedServer.ts"
export { Server, ServerResult } from "./serverLoop.ts"
export type { Callbacks } from "./serverLoop.ts"
export { launchServer, startServer, startServerEffect } from "./startServer.ts"
export type { ServerOptions, Via } from "./startServer.ts"
export { stopServer } from "./stopServer.ts"
