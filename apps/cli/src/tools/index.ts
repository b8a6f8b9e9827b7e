/** The tools of the demo. */
export { startFileServer } from "./fileServer.ts"
export { makeProgressBoard } from "./progress.ts"
export type { Progress } from "./progress.ts"
export { researchTool, teamOf } from "./team.ts"
export { makeTools } from "./tools.ts"
