/** Chains the records of one process of a chat by their entry numbers. */
import type { Conversation } from "../record/index.ts"
import { isConflict } from "../errors/index.ts"
import { type Keeps, keepsOf } from "./commitLog.ts"
import type { Saved } from "./sessionStore.ts"

/** The place of a save: the entry before it, what it keeps of that, and the waiting inputs that it takes. */
export interface Place {
  readonly after: number
  readonly keeps: Keeps
  readonly takes: ReadonlyArray<string>
}

const none: ReadonlyArray<string> = []

/** Saves records after the one that the process began with. */
export abstract class CommitChain {
  #version: number
  /** The record of that entry. */
  #base: Conversation | undefined

  constructor(record: Conversation | undefined) {
    this.#version = record?.version ?? 0
    this.#base = record
  }

  /** Saves a record at this place. */
  protected abstract saveAt(record: Conversation, place: Place): Promise<Saved | undefined>

  /** Called when another program has written since. */
  protected abstract conflicted(): void

  /** Saves the chat's record, which takes these inputs; the next phase waits for it. */
  async commit(record: Conversation, takes = none): Promise<void> {
    try {
      const saved = await this.saveAt(record, { after: this.#version, keeps: keepsOf(this.#base, record), takes })
      if (saved !== undefined && saved.seq > this.#version) {
        this.#version = saved.seq
        this.#base = record
      }
    } catch (error) {
      if (isConflict(error)) this.conflicted()
      throw error
    }
  }
}

/** Saves a chat's record, which takes these inputs; the next phase waits for it. */
export type SaveRecord = (record: Conversation, takes?: ReadonlyArray<string>) => void | Promise<void>
