/** What the hooks of a chat have heard of so far. */
import type { Message } from "../model/index.ts"
import type { RequestParams } from "../gate/index.ts"

/** The process's first turn; what was said; the next request; the end of the turn. */
export interface Notified {
  readonly started: boolean
  readonly prompted: boolean
  readonly announced: boolean
  readonly reported: boolean
}

/** What hooks want of the next request alone. */
export interface Aside {
  readonly params: RequestParams | undefined
  readonly messages: ReadonlyArray<Message>
}

/** A chat's process begins. */
export const unnotified: Notified = { started: false, prompted: false, announced: false, reported: false }

const begun: Notified = { ...unnotified, started: true }

/** A turn begins. */
export const notifiedOnce = ({ started }: Notified): Notified => (started ? begun : unnotified)
