/** Sets the permission mode of a living chat, for the host or for a client. */
import type { ChatContext } from "./ChatMachine.ts"
import type { Mode, Permissions } from "../gate/Permissions.ts"
import { recordOf } from "./transitions.ts"

/** A client sets the mode: the loosest it may set, and the permissions of the chat's options. */
interface ModeBound {
  readonly within: Mode | "host"
  readonly permissions: Permissions | undefined
}

/**
 * Sets the mode of a chat; without `bound`, for the host.
 *
 * **Contract**: one of the two functions is called, once. `counts` is called with the save, where there is one now; `refused`
 * with the loosest mode that the client may set.
 */
export interface ModeSet {
  readonly type: "mode.set"
  readonly mode: Mode
  readonly bound?: ModeBound | undefined
  readonly counts: (kept: void | Promise<void>) => void
  readonly refused: (bound: Mode) => void
}

/** The mode counts at once. Of a chat at rest it is stored now; a turn that runs stores it with what it does. */
export const setMode = (context: ChatContext, { mode, bound, counts, refused }: ModeSet): void => {
  const { commit, modeKeeper, turn } = context
  if (bound !== undefined) {
    const refusal = modeKeeper.setWithin(mode, bound.within, bound.permissions)
    if (refusal !== undefined) return refused(refusal)
  } else modeKeeper.set(mode)
  counts(turn === undefined ? commit?.(recordOf(context)) : undefined)
}
