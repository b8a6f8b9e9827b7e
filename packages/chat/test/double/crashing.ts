/** A store of texts that a program can leave behind, and programs that live from it. */
import * as Codec from "../../src/session/Codec.ts"
import type { Conversation } from "../../src/record/Conversation.ts"
import type { RecordStore } from "../../src/store/sessionStore.ts"

/** What the program that ends leaves behind: after `halt` nothing is kept, as if it were gone. */
export interface DiskStore extends RecordStore {
  /** How often something was kept. */
  readonly saves: number
  /** The record as it is kept now. */
  readonly record: () => Conversation | undefined
  /** A store over what is kept now; this one keeps nothing. */
  readonly leave: () => DiskStore
}

/** Keeps a record as text; calls back before each save, which may wait. */
export const diskStore = (text?: string, onSave: (count: number) => void | Promise<void> = () => {}): DiskStore => {
  let kept = text
  let saves = 0
  let left = false
  const read = () => (kept === undefined ? undefined : Codec.decode("ChatRecord", kept))
  return {
    get saves() {
      return saves
    },
    record: read,
    load: read,
    save: async (record) => {
      const next = Codec.encode("ChatRecord", record)
      saves += 1
      await onSave(saves)
      if (!left) kept = next
    },
    delete: () => {
      kept = undefined
    },
    leave: () => {
      left = true
      return diskStore(kept)
    }
  }
}
