/** Supervisors: static, dynamic and partitioned. */
export { startChild } from "./childStart.ts"
export { Dynamic } from "./dynamicServer.ts"
export { checkCount, checkWord } from "./optionRules.ts"
export { RestartWindow } from "./restartWindow.ts"
export { Supervising, mayRestart } from "./childRestarts.ts"
export type { Verdict } from "./childRestarts.ts"
export { following } from "./supervisorServer.ts"
