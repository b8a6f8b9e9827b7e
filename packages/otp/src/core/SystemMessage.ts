/**
 * The messages that the system itself puts into a mailbox.
 *
 * A process that traps exits gets an `Exit`; a process that monitors gets a `Down`. A process sent every other message.
 */
import type { ExitReason } from "./ExitReason.ts"
import type { Name, Pid } from "./Pid.ts"

/** An exit signal, as a message to a process that traps exits. */
export interface Exit {
  readonly _tag: "Exit"
  /** The process that ended or sent the signal. */
  readonly from: Pid
  /** Why it ended, or the reason of the signal. */
  readonly reason: ExitReason
}

/** A monitor, until it fires or is removed. */
export interface MonitorRef {
  readonly _tag: "MonitorRef"
  /** A number of its own in the system. */
  readonly id: number
}

/** The end of a monitored process. */
export interface Down {
  readonly _tag: "Down"
  /** The monitor that notices the end. */
  readonly ref: MonitorRef
  /** The monitored process, or the name that was monitored. */
  readonly pid: Pid | Name
  /** Why the process ended; `noproc` if there was none. */
  readonly reason: ExitReason
}

/** A message from the system, not from a process. */
export type SystemMessage = Exit | Down

class ExitMessage implements Exit {
  readonly _tag = "Exit"
  readonly from: Pid
  readonly reason: ExitReason
  constructor(from: Pid, reason: ExitReason) {
    this.from = from
    this.reason = reason
  }
}

class DownMessage implements Down {
  readonly _tag = "Down"
  readonly ref: MonitorRef
  readonly pid: Pid | Name
  readonly reason: ExitReason
  constructor(ref: MonitorRef, pid: Pid | Name, reason: ExitReason) {
    this.ref = ref
    this.pid = pid
    this.reason = reason
  }
}

/** Whether a message is a trapped exit signal. A message that only has the same fields is none. */
export const isExit = (message: unknown): message is Exit => message instanceof ExitMessage

/** Whether a message reports the end of a monitored process. */
export const isDown = (message: unknown): message is Down => message instanceof DownMessage

/** Makes an `Exit`, for tests of code that handles it. */
export const exitMessage = (from: Pid, reason: ExitReason): Exit => new ExitMessage(from, reason)

/** Makes a `Down`, for tests of code that handles it. */
export const downMessage = (ref: MonitorRef, pid: Pid | Name, reason: ExitReason): Down =>
  new DownMessage(ref, pid, reason)
