/** Chains the records of one process of a chat by their entry numbers. */
import type { ChatRecord } from "../record/index.ts"
import { isConflict } from "../errors/index.ts"
import type { Saved } from "./sessionStore.ts"

/** Saves records after the one that the process began with. */
export abstract class CommitChain {
  #version: number

  constructor(record: ChatRecord | undefined) {
    this.#version = record?.version ?? 0
  }

  /** Saves a record after the entry of this number. */
  protected abstract saveAfter(record: ChatRecord, after: number): Promise<Saved | undefined>

  /** Called when another program has written since. */
  protected abstract conflicted(): void

  /** Saves the chat's record; the next phase waits for it. */
  async commit(record: ChatRecord): Promise<void> {
    try {
      const saved = await this.saveAfter(record, this.#version)
      if (saved !== undefined) this.#version = Math.max(this.#version, saved.seq)
    } catch (error) {
      if (isConflict(error)) this.conflicted()
      throw error
    }
  }
}

/** Saves a chat's record; the next phase waits for it. */
export type SaveRecord = (record: ChatRecord) => void | Promise<void>
