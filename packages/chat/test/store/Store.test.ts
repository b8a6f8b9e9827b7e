import { describe, expect, test } from "vitest"
import type { Conversation } from "../../src/record/Conversation.ts"
import { SessionError } from "../../src/errors/ChatError.ts"
import { recordWith, said } from "../../src/testing/stores/storeSamples.ts"
import { assistant, user } from "../../src/model/Message.ts"
import * as Store from "../../src/store/Store.ts"
import * as Testing from "../../src/testing/Testing.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"

describe("the store in memory", () => {
  test.each(Testing.sessionStoreLaws((options) => Store.memory(options)))("$title", async ({ check }) => {
    await expect(check()).resolves.toBeUndefined()
  })
})

/** How many laws a store breaks that is as the one in memory, but for this. */
const brokenBy = async (other: (kept: SessionStore) => Partial<SessionStore>): Promise<number> => {
  const laws = Testing.sessionStoreLaws((options) => {
    const kept = Store.memory(options)
    return { ...kept, ...other(kept) }
  })
  let broken = 0
  for (const { check } of laws) await check().catch(() => (broken += 1))
  return broken
}

const shallow = (record: Conversation): Conversation => recordWith(record.id, record.thread.messages)

const flaws: Readonly<Record<string, (kept: SessionStore) => Partial<SessionStore>>> = {
  "does not look at preconditions": (kept) => ({ save: (record) => kept.save(record) }),
  "takes what goes on from a deleted conversation": (kept) => ({
    save: (record, on) => kept.save(structuredClone(record), on)
  }),
  "refuses its own late writes": (kept) => ({
    save: (record, on) =>
      kept.save(record, on === undefined ? undefined : { ...on, writer: `${on.writer} ${on.after}` })
  }),
  "keeps messages only": (kept) => ({ save: (record, on) => kept.save(shallow(record), on) }),
  "forgets inputs": () => ({ accept: (_, input) => ({ input, isNew: true }) }),
  "lets inputs wait that were taken": (kept) => ({
    save: (record, on) => kept.save(record, on === undefined ? undefined : { ...on, takes: [] })
  }),
  "forgets claims": () => ({ claim: () => {} }),
  "does not look at the fence of an input": (kept) => ({ accept: (id, input) => kept.accept(id, input) }),
  "does not look at the fence of a draft": (kept) => ({
    keepDraft: (id, text, after) => kept.keepDraft(id, text, after)
  }),
  "does not look at the fence of a fork": (kept) => ({ fork: (id, to, at) => kept.fork(id, to, at) }),
  "forgets drafts": () => ({ keepDraft: () => {} }),
  "rewinds to open steps": (kept) => ({
    rewind: async (id, seq, on) => {
      const history = await kept.history(id)
      if (history[seq - 1]?.isStep !== false) return kept.rewind(id, seq, on)
      await kept.save((await kept.at(id, seq)) ?? said(id))
      return said(id)
    }
  }),
  "lists those at rest as running": (kept) => ({ list: (options) => kept.list({ ...options, running: false }) }),
  "forgets what a prefix is": (kept) => ({ list: (options) => kept.list({ ...options, prefix: "" }) }),
  "searches by letter case": (kept) => ({
    list: (options) =>
      kept.list({ ...options, search: options?.search?.toUpperCase() === options?.search ? "~" : options?.search })
  }),
  "has one page": (kept) => ({ list: async (options) => ({ chats: (await kept.list(options)).chats }) }),
  "never expires": () => ({ expire: () => 0 }),
  "expires what is kept": (kept) => ({ expire: () => kept.expire() }),
  "lives on when it is closed": () => ({ close: () => {} })
}

test.each(Object.entries(flaws))("the laws show a store that %s", async (_, other) => {
  expect(await brokenBy(other)).toBeGreaterThan(0)
})

test("a store that keeps a log is distinguished from one that does not", () => {
  const simple: Store.Store = { load: () => undefined, save: () => {}, delete: () => {} }
  expect(Store.isSessionStore(Store.memory())).toBe(true)
  expect(Store.isSessionStore(simple)).toBe(false)
})

test("LOG1 a record is read from as few entries as it needs, and from too few it is refused", () => {
  const records = [said("a", "1"), said("a", "1", "2"), said("a", "3"), said("a", "3", "4")]
  const commits = records.map((record, index): Store.Commit => {
    const change = Store.commitOf(records[index - 1], record)
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
    const change = Store.commitOf(records[index - 1], record)
    return { seq: index + 1, at: 0, kind: "saved", ...change }
  })
  for (const [index, record] of records.entries()) {
    const entries = commits.slice(0, index + 1).toReversed()
    expect(Store.recordOf("a", entries)).toEqual({ ...record, version: index + 1 })
  }
})

test("LOG2 a message that is the same object is not looked into", () => {
  const untouched = new Proxy(assistant("two"), {
    get: () => {
      throw new Error("looked into")
    }
  })
  const before = recordWith("a", [user("one"), untouched])
  const change = Store.commitOf(before, recordWith("a", [...before.thread.messages, user("three")]))
  expect([change.kept, change.messages]).toEqual([2, [user("three")]])
})

test("a refusal says what was refused, and what to do", () => {
  const error = Store.refused("unknown_commit", "a", 7)
  expect(error).toBeInstanceOf(SessionError)
  expect(error).toMatchObject({ reason: "unknown_commit", metadata: { id: "a", seq: 7 } })
  expect(error.message).toBe("The chat a has no entry 7; its history has those there are")
})
