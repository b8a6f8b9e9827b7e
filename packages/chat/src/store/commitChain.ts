/** Chains the records of one process of a chat by their entry numbers. */
import type { ChatRecord } from "../record/index.ts"
import { isConflict } from "../errors/index.ts"
import type { Saved } from "./sessionStore.ts"

/** Saves a record after the entry of this number. */
export type Save = (record: ChatRecord, after: number) => Promise<Saved | undefined>

/** Saves records after the one that the process began with; calls `conflicted` when another program has written since. */
export const commitsBehind = (record: ChatRecord | undefined, save: Save, conflicted: () => void): SaveRecord => {
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

/** Saves a chat's record; the next phase waits for it. */
export type SaveRecord = (record: ChatRecord) => void | Promise<void>
