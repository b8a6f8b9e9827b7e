/** Chains the records of one process of a chat by their entry numbers. */
import { type Conversation, type Keeps, keepsFirst, leastOf, wholeOf } from "../record/index.ts"
import type { Saved } from "./sessionStore.ts"

/** The place of a save: the entry before it, what it keeps of that, and the waiting inputs that it takes. */
export interface Place {
  readonly after: number
  readonly keeps: Keeps
  readonly takes: ReadonlyArray<string>
}

/**
 * The rows that a save names.
 *
 * - `takes`: the ids of the waiting inputs that the record has in its thread
 * - `keeps`: the most that the record keeps of the one saved before; absent if it keeps everything
 * - `settled`: how many messages the next record certainly keeps; absent for all of them
 */
export interface Named {
  readonly takes?: ReadonlyArray<string> | undefined
  readonly keeps?: Keeps | undefined
  readonly settled?: number | undefined
}

const none: ReadonlyArray<string> = []

/** Saves records after the one that the process began with. */
export abstract class CommitChain {
  #version: number
  /** The most that a record can keep of that entry. */
  #saved: Keeps

  /** `keeps` is the most that the next record keeps, if the process does not begin with the record itself. */
  constructor(record: Conversation | undefined, keeps?: Keeps) {
    this.#version = record?.version ?? 0
    const whole = record === undefined ? { messages: 0, known: 0 } : wholeOf(record)
    this.#saved = leastOf(whole, keeps) ?? whole
  }

  /** The version of the newest entry that this process has written, or began with. */
  get version(): number {
    return this.#version
  }

  /** Saves a record at this place. */
  protected abstract saveAt(record: Conversation, place: Place): Promise<Saved | undefined>

  /** Called when a save has succeeded. */
  protected abstract saved(record: Conversation): void

  /** Called when a save has failed; returns the error to throw, or a promise of it. */
  protected abstract failed(error: unknown): unknown

  /** Saves the chat's record; the next phase waits for it. */
  async commit(record: Conversation, { takes = none, keeps: named, settled }: Named = {}): Promise<void> {
    const whole = wholeOf(record)
    const keeps = leastOf(leastOf(this.#saved, whole), named) ?? whole
    try {
      const saved = await this.saveAt(record, { after: this.#version, keeps, takes })
      if (saved !== undefined && saved.seq > this.#version) {
        this.#version = saved.seq
        this.#saved = leastOf(whole, settled === undefined ? undefined : keepsFirst(settled)) ?? whole
      }
      this.saved(record)
    } catch (error) {
      throw await this.failed(error)
    }
  }
}

/** Saves a chat's record, with the rows that it names; the next phase waits for it. */
export type SaveRecord = (record: Conversation, named?: Named) => void | Promise<void>
