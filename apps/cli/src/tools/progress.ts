/**
 * The progress of long work: tools report it, displays read it.
 *
 * @module
 */

/** The progress of one tool call: `done` of `total` parts. */
export interface Progress {
  readonly done: number
  readonly total: number
}

/** The call that reports. */
export interface ReportingCall {
  readonly id: string
  readonly name: string
}

/** The progress of every running call with a report, by call id. */
export interface ProgressBoard {
  /** Stores a call's progress. */
  readonly report: (call: ReportingCall, progress: Progress) => void
  /** Removes a call. */
  readonly clear: (toolCallId: string) => void
  /** A call's progress, if reported. */
  readonly of: (toolCallId: string) => Progress | undefined
}

/** An empty board. `onReport` is called with every report, for displays that only append. */
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
