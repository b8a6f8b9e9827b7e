/** Charts run in processes from their tables, without XState actors. */
export { ChartProcess, hostChart } from "./chartProcess.ts"
export { cellOfFacade, facadeOf, snapshotOf } from "./chartSnapshot.ts"
export { persistedOf } from "./persistedChart.ts"
export type { PersistedChart } from "./persistedChart.ts"
