/** Which hook events of a chat have run so far. */
import type { Message } from "../model/index.ts"
import type { RequestParams } from "../gate/index.ts"

/** Whether hooks ran for the process's first turn, the user messages, the next request, and the end of the turn. */
export interface Notified {
  readonly started: boolean
  readonly prompted: boolean
  readonly announced: boolean
  readonly reported: boolean
}

/** The changes of hooks to the next request only. */
export interface Aside {
  readonly params: RequestParams | undefined
  readonly messages: ReadonlyArray<Message>
}

/** The progress when a chat's process starts. */
export const unnotified: Notified = { started: false, prompted: false, announced: false, reported: false }

const begun: Notified = { ...unnotified, started: true }

/** The progress when a turn begins. */
export const notifiedOnce = ({ started }: Notified): Notified => (started ? begun : unnotified)
