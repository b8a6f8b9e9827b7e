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

/**
 * Saves records after the one that the process began with; calls `conflicted` when another program has written since.
 *
 * **Details**: an input that an earlier record had in its inbox, and this one has not, is taken.
 */
export const commitsBehind = (record: ChatRecord | undefined, save: Save, conflicted: () => void): SaveRecord => {
  let version = record?.version ?? 0
  /** The record of the entry `version`. */
  let base = record
  const waiting = new Set(idsOf(record))
  let newest: ReadonlySet<string> = waiting
  return async (committed) => {
    const now = new Set(idsOf(committed))
    newest = now
    const takes = Array.from(waiting).filter((id) => !now.has(id))
    for (const id of now) waiting.add(id)
    try {
      const saved = await save(committed, { after: version, keeps: keepsOf(base, committed), takes })
      if (saved !== undefined && saved.seq > version) {
        version = saved.seq
        base = committed
      }
      for (const id of takes) if (!newest.has(id)) waiting.delete(id)
    } catch (error) {
      if (isConflict(error)) conflicted()
      throw error
    }
  }
}

const idsOf = (record: ChatRecord | undefined): ReadonlyArray<string> => (record?.inbox ?? []).map(({ id }) => id)

/** Saves a chat's record; the next phase waits for it. */
export type SaveRecord = (record: ChatRecord) => void | Promise<void>
