/**
 * How far long work has come: tools report, displays read.
 *
 * @module
 */

/** How far one tool call has come: `done` of `total` parts. */
export interface Progress {
  readonly done: number
  readonly total: number
}

/** The call that reports. */
export interface ReportingCall {
  readonly id: string
  readonly name: string
}

/** The progress of every running call that reports any, by call id. */
export interface ProgressBoard {
  /** Notes how far a call has come. */
  readonly report: (call: ReportingCall, progress: Progress) => void
  /** Forgets a call. */
  readonly clear: (toolCallId: string) => void
  /** How far a call has come, if it says so. */
  readonly of: (toolCallId: string) => Progress | undefined
}

/** An empty board. `onReport` is told of every report, for displays that only append. */
export const makeProgressBoard = (
  onReport: (call: ReportingCall, progress: Progress) => void = () => {}
): ProgressBoard => {
  const board = new Map<string, Progress>()
  return {
    report: (call, progress) => {
      board.set(call.id, progress)
      onReport(call, progress)
    },
    clear: (toolCallId) => {
      board.delete(toolCallId)
    },
    of: (toolCallId) => board.get(toolCallId)
  }
}
