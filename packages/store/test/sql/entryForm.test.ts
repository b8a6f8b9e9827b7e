import { user } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import { Codec, type Conversation, Store } from "@troupe/chat/store"
import { expect, test } from "vitest"
import { commitOf, written } from "../../src/sql/entryForm.ts"
import { recordOf } from "../double/records.ts"

type Calls = NonNullable<Conversation["open"]>["calls"]

const entryOf = (calls: Calls): Store.Commit => {
  const toolCalls = calls.map((_, at) => ({ id: `c${at}`, name: "pay", arguments: {} }))
  const record = recordOf("a", [user("Pay"), Message.assistant("", toolCalls)], {
    running: true,
    open: { at: 1, calls }
  })
  return { seq: 1, at: 0, kind: "saved", ...Store.commitOf(Store.blank("a"), [Store.saved(record)]).change }
}

const waiting = (reason: string): Calls[number] => ({ state: "waiting", kind: "permission", reason, askedAt: 1 })

test("ROWS4 the body has the state of each call in its place, and is the one that the codec writes", () => {
  const intent = { state: "intended", arguments: { cents: 3n } } as const
  const calls = [
    { state: "done" },
    { state: "new" },
    waiting("one"),
    { state: "done" },
    intent,
    waiting("two"),
    { state: "new" },
    intent
  ] as const
  const entry = entryOf(calls)
  const { body, messages } = written(entry)
  const {
    messages: all,
    entries: _,
    ...rest
  } = Codec.toJson("Commit", entry).data as unknown as {
    readonly messages: ReadonlyArray<unknown>
    readonly entries: unknown
  }
  expect(JSON.parse(body)).toEqual({ ...rest, messages: all.length })
  const items = messages.map((text, position) => ({ list: 0, position, body: text }))
  expect(commitOf({ database: "d", id: "a" }, { body, items })).toEqual(entry)
  expect(JSON.parse(written(entryOf([])).body)).toMatchObject({ state: { open: { at: 1, calls: [] } } })
})

test("ROWS4 when a state of a call has no JSON form, the error names the call by its place", () => {
  const done = { state: "done" } as const
  const calls: Calls = [done, done, done, { state: "intended", arguments: { look: () => {} } }]
  expect(() => written(entryOf(calls))).toThrow("state.open.calls.3.arguments.look: function")
})
