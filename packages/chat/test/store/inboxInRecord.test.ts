import { describe, expect, test } from "vitest"
import { InboxInRecord } from "../../src/store/inboxInRecord.ts"
import type { Conversation } from "../../src/record/Conversation.ts"
import type { InboxEntry } from "../../src/record/Inbox.ts"
import type { RecordStore } from "../../src/store/sessionStore.ts"
import { saved } from "../../src/record/entries.ts"
import { blank } from "../../src/store/commitLog.ts"
import { user } from "../../src/model/Message.ts"

const input = (id: string): InboxEntry => ({ id, whenBusy: "queue", message: user(id) })

const said = (...texts: ReadonlyArray<string>): Conversation => ({
  ...blank("c"),
  thread: { messages: texts.map((text) => user(text)) }
})

const shown = (record: Conversation | undefined) => [
  record?.thread.messages.map(({ content }) => content),
  record?.inbox?.map(({ id }) => id)
]

/** A store whose saves the test settles, each by its place; without `isSlow` they are done at once. */
const plain = (isSlow = false) => {
  let kept: Conversation | undefined
  let loads = 0
  const saves: Array<() => void> = []
  const store: RecordStore = {
    load: () => {
      loads += 1
      return kept
    },
    save: (record) => {
      if (!isSlow) return void (kept = record)
      return new Promise((resolve) => {
        saves.push(() => {
          kept = record
          resolve()
        })
      })
    },
    delete: () => void (kept = undefined)
  }
  return { store: new InboxInRecord(store), saves, kept: () => kept, loads: () => loads }
}

test("PLAIN1 an input is in the saved record until a save takes it, whatever that record says of the inbox", () => {
  const { store, kept } = plain()
  expect(store.accept("c", input("a"))).toEqual({ input: input("a"), isNew: true })
  expect(store.accept("c", input("b"))).toEqual({ input: input("b"), isNew: true })
  expect(shown(kept())).toEqual([[], ["a", "b"]])
  void store.append("c", [saved(said("x"))])
  expect(shown(kept())).toEqual([["x"], ["a", "b"]])
  void store.append("c", [saved(said("x", "a"))], { takes: ["a"] })
  expect(shown(kept())).toEqual([["x", "a"], ["b"]])
  void store.append("c", [saved(said("x", "a", "b"))], { takes: ["b"] })
  expect(shown(kept())).toEqual([["x", "a", "b"], undefined])
})

test("the same id again is the same input, as it was first", () => {
  const { store, kept } = plain()
  void store.accept("c", input("a"))
  expect(store.accept("c", { ...input("a"), message: user("other") })).toEqual({ input: input("a"), isNew: false })
  expect(shown(kept())).toEqual([[], ["a"]])
})

test("the record of a chat that is not loaded is loaded once", () => {
  const { store, kept, loads } = plain()
  void store.append("c", [saved(said("x"))])
  void store.accept("c", input("a"))
  store.forget("c")
  void store.accept("c", input("b"))
  void store.accept("c", input("d"))
  expect([shown(kept()), loads()]).toEqual([[["x"], ["a", "b", "d"]], 2])
})

test("PLAIN1 a save that fails takes nothing", () => {
  const failing: RecordStore = {
    load: () => ({ ...said(), inbox: [input("a")] }),
    save: ({ thread }) => {
      if (thread.messages.length > 0) throw new Error("disk")
    },
    delete: () => {}
  }
  const store = new InboxInRecord(failing)
  void store.load("c")
  expect(() => store.append("c", [saved(said("a"))], { takes: ["a"] })).toThrow("disk")
  expect(store.accept("c", input("a"))).toMatchObject({ isNew: false })
})

test("PLAIN2 a save that settles late does not bring back what later writes are made of", async () => {
  const { store, saves, kept } = plain(true)
  await store.load("c")
  const late = store.accept("c", input("a"))
  const next = store.append("c", [saved(said("x"))])
  saves[1]?.()
  await next
  saves[0]?.()
  await late
  expect(shown(kept())).toEqual([[], ["a"]])
  const last = store.accept("c", input("b"))
  saves[2]?.()
  await last
  expect(shown(kept())).toEqual([["x"], ["b"]])
})

describe("PLAIN2 a load that settles late, after another one", () => {
  /** A store whose loads the test settles, each by its place, with the record that was stored when it began. */
  const slowToLoad = () => {
    let kept: Conversation | undefined
    const loads: Array<() => void> = []
    const store: RecordStore = {
      load: () => {
        const record = kept
        return new Promise((resolve) => void loads.push(() => resolve(record)))
      },
      save: (record) => void (kept = record),
      delete: () => void (kept = undefined)
    }
    return { store: new InboxInRecord(store), settle: (place: number) => loads[place]?.(), kept: () => kept }
  }

  const loadedTwice = async () => {
    const { store, settle, kept } = slowToLoad()
    const [late, next] = [store.load("c"), store.load("c")]
    settle(1)
    await next
    await store.append("c", [saved(said("x"))])
    return { store, settle, kept, late }
  }

  test("does not bring back its record", async () => {
    const { store, settle, kept, late } = await loadedTwice()
    settle(0)
    expect(await late).toBeUndefined()
    await store.accept("c", input("a"))
    expect(shown(kept())).toEqual([["x"], ["a"]])
  })

  test("does not do so for a chat whose process has ended since", async () => {
    const { store, settle, kept, late } = await loadedTwice()
    store.forget("c")
    settle(0)
    await late
    const accepted = store.accept("c", input("a"))
    settle(2)
    await accepted
    expect(shown(kept())).toEqual([["x"], ["a"]])
  })

  test("does not do so where a write began since, of the record that was known", async () => {
    const { store, settle, kept, late } = await loadedTwice()
    settle(0)
    await late
    const second = store.load("c")
    await store.append("c", [saved(said("x", "y"))])
    settle(2)
    await second
    await store.accept("c", input("a"))
    expect(shown(kept())).toEqual([["x", "y"], ["a"]])
  })

  test("is the load of a write, which is refused", async () => {
    const { store, settle, kept } = slowToLoad()
    const [late, next] = [store.accept("c", input("a")), store.load("c")]
    settle(1)
    await next
    await store.append("c", [saved(said("x"))])
    settle(0)
    await expect(late).rejects.toMatchObject({ reason: "store_conflict" })
    expect(shown(kept())).toEqual([["x"], undefined])
  })
})
