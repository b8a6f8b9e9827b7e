/** The request for an orderly stop. Servers, supervisors and machines take it in mailbox order. */
import type { ExitReason } from "./ExitReason.ts"

export class StopMessage {
  readonly reason: ExitReason
  constructor(reason: ExitReason) {
    this.reason = reason
  }
}

export const isStop = (message: unknown): message is StopMessage => message instanceof StopMessage
