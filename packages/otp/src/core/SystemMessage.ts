/**
 * The messages the system itself puts into a mailbox.
 *
 * A process that traps exits gets an `Exit`; one that monitors gets a `Down`. Everything else in a mailbox was sent.
 */
import type { ExitReason } from "./ExitReason.ts"
import type { Name, Pid } from "./Pid.ts"

/** An exit signal, as a message to a process that traps exits. */
export interface Exit {
  readonly _tag: "Exit"
  /** Who ended, or who sent the signal. */
  readonly from: Pid
  readonly reason: ExitReason
}

/** A monitor, until it fired or was dropped. */
export interface MonitorRef {
  readonly _tag: "MonitorRef"
  readonly id: number
}

/** The end of a monitored process. */
export interface Down {
  readonly _tag: "Down"
  readonly ref: MonitorRef
  /** The process, or the name it was monitored by. */
  readonly pid: Pid | Name
  readonly reason: ExitReason
}

/** A message nobody sent. */
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

/** Whether a message is an exit signal that this process trapped; a message that merely looks like one is none. */
export const isExit = (message: unknown): message is Exit => message instanceof ExitMessage

/** Whether a message tells of the end of a monitored process. */
export const isDown = (message: unknown): message is Down => message instanceof DownMessage

/** Makes an `Exit`, for tests of code that takes one. */
export const exitMessage = (from: Pid, reason: ExitReason): Exit => new ExitMessage(from, reason)

/** Makes a `Down`, for tests of code that takes one. */
export const downMessage = (ref: MonitorRef, pid: Pid | Name, reason: ExitReason): Down =>
  new DownMessage(ref, pid, reason)
