/** Charts run in processes from their tables, without XState actors. */
export { ChartProcess, hostChart } from "./chartProcess.ts"
export { cellOfFacade, facadeOf } from "./chartSnapshot.ts"
export { chartOf } from "./storedForm.ts"
