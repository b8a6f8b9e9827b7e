/** Chains the records of one process of a chat by their entry numbers. */
import type { ChatRecord } from "../record/index.ts"
import { isConflict } from "../errors/index.ts"
import type { Saved } from "./sessionStore.ts"

/** The place of a save: the entry before it, and the waiting inputs that it takes. */
export interface Place {
  readonly after: number
  readonly takes: ReadonlyArray<string>
}

/**
 * Saves records after the one that the process began with.
 *
 * **Details**: an input that an earlier record had in its inbox, and this one has not, is taken.
 */
export abstract class CommitChain {
  #version: number
  readonly #waiting: Set<string>
  #newest: ReadonlySet<string>

  constructor(record: ChatRecord | undefined) {
    this.#version = record?.version ?? 0
    this.#waiting = new Set(idsOf(record))
    this.#newest = this.#waiting
  }

  /** Saves a record at this place. */
  protected abstract saveAt(record: ChatRecord, place: Place): Promise<Saved | undefined>

  /** Called when another program has written since. */
  protected abstract conflicted(): void

  /** Saves the chat's record; the next phase waits for it. */
  async commit(record: ChatRecord): Promise<void> {
    const now = new Set(idsOf(record))
    this.#newest = now
    const takes = Array.from(this.#waiting).filter((id) => !now.has(id))
    for (const id of now) this.#waiting.add(id)
    try {
      const saved = await this.saveAt(record, { after: this.#version, takes })
      if (saved !== undefined) this.#version = Math.max(this.#version, saved.seq)
      for (const id of takes) if (!this.#newest.has(id)) this.#waiting.delete(id)
    } catch (error) {
      if (isConflict(error)) this.conflicted()
      throw error
    }
  }
}

const idsOf = (record: ChatRecord | undefined): ReadonlyArray<string> => (record?.inbox ?? []).map(({ id }) => id)

/** Saves a chat's record; the next phase waits for it. */
export type SaveRecord = (record: ChatRecord) => void | Promise<void>
