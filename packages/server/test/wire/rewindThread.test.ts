import { describe, expect, it } from "@effect/vitest"
import { Message, Usage } from "@troupe/chat/messages"
import { Store } from "@troupe/chat/store"
import { Effect, Schema } from "effect"
import { before, behind, entryAt, entryOf } from "../../src/wire/rewindThread.ts"

const recordOf = (messages: ReadonlyArray<Message.Message>) => ({
  id: "a",
  thread: { messages },
  usage: Usage.empty,
  running: false,
  pendingToolCalls: []
})

/** Something is said, said in an open step, or the conversation is rewound to an entry. */
const Happening = Schema.Union([
  Schema.Struct({ what: Schema.Literals(["say", "say", "open"]), text: Schema.Literals(["x", "y"]) }),
  Schema.Struct({ what: Schema.Literal("rewind"), part: Schema.Literals([0, 0.3, 0.6, 0.9]) })
])

/** What became of a log. */
const logOf = async (happenings: ReadonlyArray<typeof Happening.Type>) => {
  const store = Store.memory()
  let messages: ReadonlyArray<Message.Message> = []
  await store.append("a", [Store.saved(recordOf(messages))])
  for (const one of happenings) {
    if (one.what === "rewind") {
      const entries = await store.history("a", { limit: 1_000 })
      const { seq, isStep } = entries[Math.floor(one.part * entries.length)] ?? { seq: 1, isStep: true }
      if (isStep) ({ messages } = (await store.rewind("a", seq)).thread)
    } else {
      messages = [...messages, Message.user(one.text)]
      const open = { at: 0, calls: [] }
      const stored = (await store.load("a")) ?? Store.blank("a")
      const record = one.what === "open" ? { ...recordOf(messages), open } : recordOf(messages)
      await store.append("a", [Store.replacing(stored, record)])
    }
  }
  return { store, messages, commits: await store.history("a", { limit: 1_000 }) }
}

describe("REWIND1. what stays is as it was", () => {
  it.effect.prop("whatever was said and rewound", { happenings: Schema.Array(Happening) }, ({ happenings }) =>
    Effect.promise(async () => {
      const { store, messages, commits } = await logOf(happenings)
      const isEachStep = commits.every(({ isStep }) => isStep)
      for (let at = 0; at < messages.length; at++) {
        const seq = entryAt(commits.map(entryOf), before(messages, at))
        if (isEachStep) expect(seq).toBeGreaterThan(0)
        if (seq === undefined || seq === 0) continue
        expect(commits[seq - 1]?.isStep).toBe(true)
        expect((await store.at("a", seq))?.thread.messages).toEqual(messages.slice(0, at))
      }
    })
  )
})

describe("a place", () => {
  const said = Message.user("x")
  const unsaid = { ...Message.user("date"), writer: { type: "hook" as const, event: "UserPromptSubmit" } }
  const thread = [said, Message.assistant("1"), unsaid, unsaid, said, unsaid, Message.assistant("2")]

  it("may leave out what nobody said beside the message", () => {
    expect(before(thread, 4)).toEqual({ from: 2, to: 4 })
    expect(behind(thread, 4)).toEqual({ from: 5, to: 6 })
    expect(before(thread, 0)).toEqual({ from: 0, to: 0 })
  })

  it("that no entry leads to is not found; the beginning always is", () => {
    const entries = [{ seq: 1, kind: "saved", from: undefined, kept: 0, isStep: true, length: 4 }] as const
    expect(entryAt(entries, { from: 1, to: 3 })).toBeUndefined()
    expect(entryAt(entries, { from: 4, to: 4 })).toBe(1)
    expect(entryAt(entries, { from: 0, to: 0 })).toBe(0)
  })
})
