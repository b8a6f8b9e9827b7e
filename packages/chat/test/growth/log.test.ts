import { expect, test } from "vitest"
import { type Message } from "../../src/model/messageShapes.ts"
import { user } from "../../src/model/Message.ts"
import type { Entry } from "../../src/record/entries.ts"
import * as Thread from "../../src/model/Thread.ts"
import { dearer, type Measured } from "./cost.ts"
import { memory } from "../../src/store/Store.ts"

const rounds = 7

const messages = (count: number): ReadonlyArray<Message> => Array.from({ length: count }, (_, at) => user(`said ${at}`))

/** A conversation that is saved again and again, one message longer each time. */
const growing = (count: number, saves: number, save: (entry: Entry, after: number) => unknown): void => {
  save({ type: "MessagesAdded", messages: messages(count) }, 0)
  for (let at = 1; at <= saves; at++) save({ type: "MessagesAdded", messages: [user("more")] }, at)
}

test("LOG2 a save costs what it adds and a copy of each reference: it is not much dearer than to append the message", async () => {
  /** A store of its own each time: the log of a shared one would grow from round to round. */
  const saving: Measured = {
    run: () => {
      const store = memory()
      growing(5_000, 500, (entry, after) => store.append("c", [entry], { after }))
    }
  }
  const appending: Measured = {
    run: () => {
      let thread = Thread.empty
      growing(5_000, 500, (entry) => {
        if (entry.type === "MessagesAdded") thread = Thread.append(thread, ...entry.messages)
      })
    }
  }
  expect(await dearer(rounds, saving, appending)).toBeLessThan(8)
})

test("LOG2 the log of a conversation is as large as what was said, however often it was saved", () => {
  const store = memory()
  const length = 300
  growing(0, length, (entry, after) => store.append("c", [entry], { after }))
  const history = store.history("c", { limit: 1_000 })
  const added = history instanceof Promise ? [] : history.map((commit) => commit.messages.length)
  expect(added).toHaveLength(length + 1)
  expect(added.reduce((sum, count) => sum + count, 0)).toBe(length)
})

test("LOG1 to read the newest entry costs the same behind ten times as many entries", async () => {
  const reading = (entries: number): Measured => {
    const store = memory()
    void store.append("c", [{ type: "MessagesAdded", messages: messages(50) }])
    for (let at = 0; at < entries; at++) void store.append("c", [{ type: "TurnContinued" }])
    return {
      run: () => {
        for (let read = 0; read < 2_000; read++) void store.load("c")
      }
    }
  }
  expect(await dearer(rounds, reading(10_000), reading(1_000))).toBeLessThan(4)
})
