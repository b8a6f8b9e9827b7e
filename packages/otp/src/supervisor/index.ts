/** Supervisors: static, dynamic and partitioned. */
export { startChild } from "./childStart.ts"
export { Dynamic } from "./dynamicServer.ts"
export { checkCount, checkWord } from "./optionRules.ts"
export { RestartWindow } from "./restartWindow.ts"
export { Supervising, mayRestart } from "./supervision.ts"
export type { Verdict } from "./supervision.ts"
export { following } from "./supervisorServer.ts"
