/** The host's word about the permission mode of a living chat. */
import type { ChatContext } from "../ChatMachine.ts"
import type { Mode } from "../Permissions.ts"
import { recordOf } from "./chatContext.ts"

/** The host sets the mode of a chat, and is told that it counts; what it is told of is the save, where there is one now. */
export interface ModeSet {
  readonly type: "mode.set"
  readonly mode: Mode
  readonly counts: (kept: void | Promise<void>) => void
}

/** The host's word counts at once. Of a chat at rest it is stored now; a turn that runs stores it with what it does. */
export const setMode = (context: ChatContext, { mode, counts }: ModeSet): void => {
  const { commit, modeKeeper, turn } = context
  modeKeeper.set(mode)
  counts(turn === undefined ? commit?.(recordOf(context)) : undefined)
}
