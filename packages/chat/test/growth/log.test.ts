import { expect, test } from "vitest"
import type { Conversation } from "../../src/record/Conversation.ts"
import { type Message } from "../../src/model/messageShapes.ts"
import { user } from "../../src/model/Message.ts"
import * as Store from "../../src/store/Store.ts"
import * as Thread from "../../src/model/Thread.ts"
import { dearer, type Measured } from "./cost.ts"

const rounds = 7

const recordOf = (thread: Thread.Thread): Conversation => ({
  id: "c",
  thread,
  usage: {},
  running: false,
  pendingToolCalls: []
})

const messages = (count: number): ReadonlyArray<Message> => Array.from({ length: count }, (_, at) => user(`said ${at}`))

/** A conversation that is saved again and again, one message longer each time. */
const growing = (count: number, saves: number, save: (record: Conversation) => unknown): Measured => ({
  run: () => {
    let thread = Thread.from(messages(count))
    save(recordOf(thread))
    for (let at = 0; at < saves; at++) {
      thread = Thread.append(thread, user("more"))
      save(recordOf(thread))
    }
  }
})

test("LOG2 a save costs what it adds and a look at each reference: to find what is new is no dearer than to append it", async () => {
  /** A store of its own each time: the log of a shared one would grow from round to round. */
  const saving = (): Measured => ({
    run: () => {
      const store = Store.memory()
      return growing(5_000, 500, (record) => store.save(record)).run()
    }
  })
  expect(await dearer(rounds, saving(), growing(5_000, 500, recordOf as () => unknown))).toBeLessThan(8)
})

test("LOG2 the log of a conversation is as large as what was said, however often it was saved", () => {
  const store = Store.memory()
  const length = 300
  void growing(0, length, (record) => store.save(record)).run()
  const history = store.history("c", { limit: 1_000 })
  const added = history instanceof Promise ? [] : history.map((commit) => commit.messages.length)
  expect(added).toHaveLength(length + 1)
  expect(added.reduce((sum, count) => sum + count, 0)).toBe(length)
})

test("LOG1 to read the newest entry costs the same behind ten times as many entries", async () => {
  const reading = (entries: number): Measured => {
    const store = Store.memory()
    const thread = Thread.from(messages(50))
    for (let at = 0; at < entries; at++) void store.save(recordOf(thread))
    return {
      run: () => {
        for (let read = 0; read < 2_000; read++) void store.load("c")
      }
    }
  }
  expect(await dearer(rounds, reading(10_000), reading(1_000))).toBeLessThan(4)
})
