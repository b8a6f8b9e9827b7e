/** What a store must make of a database of version 1. */
import { Message } from "@troupe/chat/messages"
import { user } from "@troupe/chat"
import type { Store } from "@troupe/chat/store"
import { expect } from "vitest"
import { recordOf, save } from "./records.ts"

const question = user("An OLD question")
const known = ["i1"]

/** Looks at all of it, and writes. */
export const expectMigrated = async (store: Store.SessionStore): Promise<void> => {
  const newest = recordOf("a", [question, Message.assistant("A late answer")], { known, version: 3, draft: "So far" })
  expect(await store.load("a")).toEqual(newest)
  expect(await store.at("a", 2)).toEqual(
    recordOf("a", [question, Message.assistant("An early answer")], { known, version: 2 })
  )
  expect((await store.history("a")).map(({ seq, at, kept, messages }) => [seq, at, kept, messages.length])).toEqual([
    [1, 1000, 0, 1],
    [2, 2000, 1, 1],
    [3, 3000, 1, 1]
  ])
  const summary = { id: "a", title: "An OLD question", seq: 3, messages: 2, createdAt: 1000, updatedAt: 3000 }
  expect(await store.list({ search: "old Q" })).toEqual({ chats: [{ ...summary, running: false, waiting: 0 }] })
  expect(await store.list({ search: "early" })).toEqual({ chats: [] })
  expect(await save(store, newest, { after: 3 })).toEqual({ seq: 4 })
  expect((await store.fork("a", "b", 1)).thread.messages).toEqual([question])
}
