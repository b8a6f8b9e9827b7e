import { expect, test } from "vitest"
import { SessionError } from "../../src/errors/ChatError.ts"
import { assistant, user } from "../../src/model/Message.ts"
import * as Store from "../../src/store/Store.ts"
import { recordWith, said } from "../double/records.ts"
import { memory } from "../double/savingStore.ts"

test("a store that keeps a log is distinguished from one that does not", () => {
  const simple: Store.Store = { load: () => undefined, save: () => {}, delete: () => {} }
  expect(Store.isSessionStore(memory())).toBe(true)
  expect(Store.isSessionStore(simple)).toBe(false)
})

test("LOG1 a record is read from as few entries as it needs, and from too few it is refused", () => {
  const records = [said("a", "1"), said("a", "1", "2"), said("a", "3"), said("a", "3", "4")]
  const commits = records.map((record, index): Store.Commit => {
    const before = records[index - 1] ?? Store.blank("a")
    const { change } = Store.commitOf(before, [Store.replacing(before, record)])
    return { seq: index + 1, at: 0, kind: "saved", ...change }
  })
  const read: Array<number> = []
  function* newestFirst(): Generator<Store.Commit, void> {
    for (const commit of commits.toReversed()) {
      read.push(commit.seq)
      yield commit
    }
  }
  expect(Store.recordOf("a", newestFirst())).toEqual({ ...records[3], version: 4 })
  expect(read).toEqual([4, 3])
  expect(() => Store.recordOf("a", commits.slice(1, 2))).toThrow(RangeError)
  expect(() => Store.recordOf("a", [])).toThrow(RangeError)
})

test("LOG1 known ids that begin anew are not those of before", () => {
  const known = (...ids: ReadonlyArray<string>) => ({ ...said("a", "1"), known: ids })
  const records = [known("a", "b"), said("a", "1"), known("a"), known("c", "d"), known("c", "e")]
  const commits = records.map((record, index): Store.Commit => {
    const before = records[index - 1] ?? Store.blank("a")
    const { change } = Store.commitOf(before, [Store.replacing(before, record)])
    return { seq: index + 1, at: 0, kind: "saved", ...change }
  })
  for (const [index, record] of records.entries()) {
    const entries = commits.slice(0, index + 1).toReversed()
    expect(Store.recordOf("a", entries)).toEqual({ ...record, version: index + 1 })
  }
})

test("LOG2 the messages before the first change of the entries are left out, and are not looked into", () => {
  const untouched = new Proxy(assistant("two"), {
    get: () => {
      throw new Error("looked into")
    }
  })
  const before = recordWith("a", [user("one"), untouched])
  const { change } = Store.commitOf(before, [{ type: "MessagesAdded", messages: [user("three")] }])
  expect([change.kept, change.messages]).toEqual([2, [user("three")]])
})

test("a refusal says what was refused, and what to do", () => {
  const error = Store.refused("unknown_commit", "a", 7)
  expect(error).toBeInstanceOf(SessionError)
  expect(error).toMatchObject({ reason: "unknown_commit", metadata: { id: "a", seq: 7 } })
  expect(error.message).toBe("The chat a has no entry 7; its history has those there are")
})
