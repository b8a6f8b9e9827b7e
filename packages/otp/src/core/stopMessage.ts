/** The request to end in order, taken in mailbox order by servers, supervisors and machines. */
import type { ExitReason } from "./ExitReason.ts"

export class StopMessage {
  readonly reason: ExitReason
  constructor(reason: ExitReason) {
    this.reason = reason
  }
}

export const isStop = (message: unknown): message is StopMessage => message instanceof StopMessage
