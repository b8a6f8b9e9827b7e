/** How the records of one process of a chat follow each other in the store. */
import type { Commit } from "../loop/ChatMachine.ts"
import type { ChatRecord } from "../record/ChatRecord.ts"
import type { Saved } from "./Store.ts"
import { isConflict } from "../errors/storeErrors.ts"

/** Has a record kept behind the entry of this number. */
export type Save = (record: ChatRecord, after: number) => Promise<Saved | undefined>

/** Keeps records behind the one that the process began with; `conflicted` hears that another program has written since. */
export const commitsBehind = (record: ChatRecord | undefined, save: Save, conflicted: () => void): Commit => {
  let version = record?.version ?? 0
  return async (committed) => {
    try {
      const saved = await save(committed, version)
      if (saved !== undefined) version = Math.max(version, saved.seq)
    } catch (error) {
      if (isConflict(error)) conflicted()
      throw error
    }
  }
}
