/** Chains the records of one process of a chat by their entry numbers. */
import type { ChatRecord } from "../record/index.ts"
import { isConflict } from "../errors/index.ts"
import { type Keeps, keepsOf } from "./commitLog.ts"
import type { Saved } from "./sessionStore.ts"

/** The place of a save: the entry before it, what it keeps of that, and the waiting inputs that it takes. */
interface Place {
  readonly after: number
  readonly keeps: Keeps
  readonly takes: ReadonlyArray<string>
}

/** Saves a record after the entry of this number. */
export type Save = (record: ChatRecord, place: Place) => Promise<Saved | undefined>

/** Saves records after the one that the process began with; calls `conflicted` when another program has written since. */
export const commitsBehind = (record: ChatRecord | undefined, save: Save, conflicted: () => void): SaveRecord => {
  let version = record?.version ?? 0
  /** The record of the entry `version`. */
  let base = record
  return async (committed, takes = []) => {
    try {
      const saved = await save(committed, { after: version, keeps: keepsOf(base, committed), takes })
      if (saved !== undefined && saved.seq > version) {
        version = saved.seq
        base = committed
      }
    } catch (error) {
      if (isConflict(error)) conflicted()
      throw error
    }
  }
}

/**
 * Saves a chat's record; the next phase waits for it. `takes` are the ids of the inputs that waited, and that the record has
 * in its thread.
 */
export type SaveRecord = (record: ChatRecord, takes?: ReadonlyArray<string>) => void | Promise<void>
