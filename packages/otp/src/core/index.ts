/** Pids, exit reasons, errors, child specifications and the messages that processes exchange. */
export { CastMessage } from "./castMessage.ts"
export { restartOf, shutdownOf, typeOf } from "./ChildSpec.ts"
export type { ChildSpec, ChildType, PidOf, Restart, Rules, Shutdown } from "./ChildSpec.ts"
export type { CrashReport } from "./CrashReport.ts"
export { format, isAbnormal, isNoCatch, isNormal, noCatch, shutdown } from "./ExitReason.ts"
export type { ExitReason } from "./ExitReason.ts"
export { hashOf, placeOf } from "./keyValue.ts"
export { inspected, TaggedError } from "./nodeInspect.ts"
export {
  AlreadyStarted,
  ApplicationAlreadyStarted,
  ApplicationCycle,
  ApplicationNotStarted,
  BadReturnValue,
  CallExit,
  ChildRefused,
  FailedToStartChild,
  InvalidOption,
  NameTaken,
  NoCallback,
  NoProcess,
  NoSystemMessages,
  NotASupervisor,
  NotTheOwner,
  OtherSystem,
  ProcessExit,
  RestartLimit,
  StartFailed,
  StartIgnored,
  StateFixed,
  SystemStopped,
  UnknownName
} from "./OtpError.ts"
export { isName, pidMark } from "./Pid.ts"
export type { MessageOf, Name, Pid, Target } from "./Pid.ts"
export type { OfKind } from "./processKind.ts"
export { StopMessage, isStop } from "./stopMessage.ts"
export { downMessage, exitMessage, isDown, isExit } from "./SystemMessage.ts"
export type { MonitorRef, SystemMessage } from "./SystemMessage.ts"
export { System } from "./SystemRef.ts"
export { milliseconds } from "./timeout.ts"
export type { Timeout } from "./timeout.ts"
export { attempt, cut, summary, traceOf } from "./valueSummary.ts"
