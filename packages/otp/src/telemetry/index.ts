/** Events, probes and reports of processes, and the messages that no process took. */
export { shownState } from "./crashReportOf.ts"
export type { Event } from "./Events.ts"
export { messageSummary } from "./messageSummary.ts"
export { currentWatch, reports, watchOf } from "./observers.ts"
export type { TraceEvent } from "./processProbe.ts"
export { attach } from "./Telemetry.ts"
