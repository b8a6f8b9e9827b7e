/**
 * Checks each save of each chat of the tests: the entries that are written lead from the stored record to the record of the chat.
 */
import { afterEach, expect } from "vitest"
import type { Conversation } from "../../src/record/Conversation.ts"
import { type Entry, evolve } from "../../src/record/entries.ts"
import { CommitChain } from "../../src/store/commitChain.ts"
import { blank } from "../../src/store/commitLog.ts"
import { isSameRecord } from "../../src/record/entriesBetween.ts"

type Append = (entries: ReadonlyArray<Entry>, appending: { readonly record?: Conversation }) => unknown

/** The parts of a chain of commits that the check uses. */
interface Chain {
  append: Append
  commit: (record: Conversation, takes?: ReadonlyArray<string>) => Promise<void>
}

const checked = Symbol.for("folded saves")
const state: { wrong: number } = (Reflect.get(globalThis, checked) as never) ?? { wrong: 0 }

if (Reflect.get(globalThis, checked) === undefined) {
  Reflect.set(globalThis, checked, state)
  const chain = CommitChain.prototype as unknown as Chain
  const { commit } = chain
  const written = new WeakMap<Chain, Array<Conversation>>()
  chain.commit = async function (this: Chain, record, ...more) {
    const known = written.get(this)
    const folded: Array<Conversation> = known ?? []
    if (known === undefined) {
      written.set(this, folded)
      const append = this.append.bind(this)
      const { id } = record
      this.append = (entries, appending, ...changes) => {
        folded.push(entries.reduce(evolve, appending.record ?? blank(id)))
        return append(entries, appending, ...changes)
      }
    }
    await commit.call(this, record, ...more)
    const at = folded.findIndex((one) => isSameRecord(one, record))
    if (at === -1) state.wrong += 1
    folded.splice(0, at)
  }
}

afterEach(() => {
  const { wrong } = state
  state.wrong = 0
  expect(wrong, "saves whose entries do not lead to the record").toBe(0)
})
