/** Sets the permission mode of a live chat, for the host or for a client. */
import type { ChatContext, ModeSet, RecordState } from "./chatContext.ts"
import { recordOf } from "./transitions.ts"

/** The mode is in effect at once. A chat at rest stores it now; a running turn stores it with its next commit. */
export const setMode = (
  context: RecordState & Pick<ChatContext, "commit">,
  { mode, bound, counts, refused }: ModeSet
): void => {
  const { commit, modeKeeper, turn } = context
  if (bound !== undefined) {
    const refusal = modeKeeper.setWithin(mode, bound.within, bound.permissions)
    if (refusal !== undefined) return refused(refusal)
  } else modeKeeper.set(mode)
  counts(turn === undefined ? commit?.(recordOf(context)) : undefined)
}
