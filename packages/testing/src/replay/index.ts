/** Recorded traces, and runs that replay them. */
export { Recorder } from "./recorder.ts"
export type { TraceOptions } from "./recorder.ts"
export { Replay, ReplayMismatch } from "./replay.ts"
