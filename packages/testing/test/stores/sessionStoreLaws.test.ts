import { describe, expect, test } from "vitest"
import { Store } from "@troupe/chat/store"
import { recordWith, said } from "../../src/stores/storeSamples.ts"
import * as Testing from "../../src/Testing.ts"

describe("the store in memory", () => {
  test.each(Testing.sessionStoreLaws((options) => Store.memory(options)))("$title", async ({ check }) => {
    await expect(check()).resolves.toBeUndefined()
  })
})

/** How many laws a store breaks that is as the one in memory, but for this. */
const brokenBy = async (other: (kept: Store.SessionStore) => Partial<Store.SessionStore>): Promise<number> => {
  const laws = Testing.sessionStoreLaws((options) => {
    const kept = Store.memory(options)
    return { ...kept, ...other(kept) }
  })
  let broken = 0
  for (const { check } of laws) await check().catch(() => (broken += 1))
  return broken
}

const flaws: Readonly<Record<string, (kept: Store.SessionStore) => Partial<Store.SessionStore>>> = {
  "does not look at the number": (kept) => ({
    append: (id, entries, on) => kept.append(id, entries, { ...on, after: undefined })
  }),
  "takes what goes on from a deleted conversation": (kept) => ({
    append: (id, entries, on) => kept.append(id, entries, { ...on, record: undefined })
  }),
  "leaves out writes without entries": (kept) => ({
    append: async (id, entries, on) =>
      entries.length === 0 ? ((await kept.load(id)) ?? said(id)) : kept.append(id, entries, on)
  }),
  "keeps messages only": (kept) => ({
    append: async (id, entries, on) => {
      const record = entries.reduce(Store.evolve, (await kept.load(id)) ?? Store.blank(id))
      return kept.append(id, [Store.saved(recordWith(id, record.thread.messages))], on)
    }
  }),
  "forgets inputs": () => ({ accept: (_, input) => ({ input, isNew: true }) }),
  "lets inputs wait that were taken": (kept) => ({
    append: (id, entries, on) => kept.append(id, entries, { ...on, takes: [] })
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
      await kept.append(id, [Store.saved((await kept.at(id, seq)) ?? said(id))])
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
