/** Sets the permission mode of a living chat, for the host or for a client. */
import type { ChatContext, ModeSet } from "./chatContext.ts"
import { recordOf } from "./transitions.ts"

/** The mode counts at once. Of a chat at rest it is stored now; a turn that runs stores it with what it does. */
export const setMode = (context: ChatContext, { mode, bound, counts, refused }: ModeSet): void => {
  const { commit, modeKeeper, turn } = context
  if (bound !== undefined) {
    const refusal = modeKeeper.setWithin(mode, bound.within, bound.permissions)
    if (refusal !== undefined) return refused(refusal)
  } else modeKeeper.set(mode)
  counts(turn === undefined ? commit?.(recordOf(context)) : undefined)
}
