/** The laws of what the conversations of a store wait for. */
import { user } from "@troupe/chat"
import { Message } from "@troupe/chat/messages"
import type { Conversation, Store } from "@troupe/chat/store"
import type { Law } from "../law/index.ts"
import { type MakeStore, refuses, same, storeLaw, save } from "./storeLaw.ts"
import { recordWith, said } from "./storeSamples.ts"

/** A store that lists waits. */
type WaitStore = Store.SessionStore & Required<Pick<Store.SessionStore, "waiting" | "escalate">>

type WaitOptions = NonNullable<Parameters<WaitStore["waiting"]>[0]>

const listsWaits = (store: Store.SessionStore): store is WaitStore =>
  store.waiting !== undefined && store.escalate !== undefined

/** A law of the stores that list waits; another store has no such laws. */
const waitLaw = (
  make: MakeStore,
  title: string,
  check: (store: WaitStore, clock: Parameters<Parameters<typeof storeLaw>[2]>[1]) => Promise<void>,
  ttlMs?: number
): Law => storeLaw(make, title, async (store, clock) => (listsWaits(store) ? check(store, clock) : undefined), ttlMs)

const pay = { id: "c1", name: "pay", arguments: { to: "Ann", amount: 12n } }
const look = { id: "c2", name: "look", arguments: null, rawArguments: '{"cut' }

/** A conversation with a call that waits for approval, and one whose outcome is unknown. */
const suspended = (id: string, askedAt = 5): Conversation =>
  recordWith(id, [user("Pay"), Message.assistant("", [pay, look])], {
    running: true,
    open: {
      at: 1,
      calls: [
        { state: "waiting", kind: "permission", reason: "it pays", askedAt, expiresAt: 900 },
        { state: "waiting", kind: "unknown_outcome", reason: "it may have run", askedAt: askedAt + 0.5 }
      ]
    }
  })

const asking = (id: string, question = "Which account?"): Conversation =>
  recordWith(id, [user("Pay"), Message.assistant("", [pay]), Message.toolResult("c1", "asked")], {
    lastHaltedReason: "ask_user",
    pendingQuestion: { toolCallId: "c1", question, options: {} },
    expiresAt: 500
  })

const manual = (id: string): Conversation =>
  recordWith(id, [user("Look"), Message.assistant("", [look])], { pendingToolCalls: [look] })

const idsOf = async (store: WaitStore, options?: WaitOptions): Promise<ReadonlyArray<string>> =>
  (await store.waiting(options)).waits.map(({ chat, toolCallId }) => `${chat} ${toolCallId}`)

const pages = async (store: WaitStore, options: WaitOptions): Promise<ReadonlyArray<ReadonlyArray<string>>> => {
  const found: Array<ReadonlyArray<string>> = []
  let after: string | undefined
  do {
    const { waits, next } = await store.waiting({ ...options, after })
    found.push(waits.map(({ chat }) => chat))
    after = next
  } while (after !== undefined && found.length < 100)
  return found
}

export const waitLaws = (make: MakeStore): ReadonlyArray<Law> => [
  waitLaw(make, "waiting lists what each newest record waits for, the oldest first", async (store, clock) => {
    same("the list", await store.waiting(), { waits: [] })
    await clock.advance(7)
    await save(store, asking("b"))
    await save(store, manual("c"))
    await save(store, suspended("a"))
    await save(store, said("d", "Hello"))
    const paid = { toolCallId: "c1", tool: "pay" }
    const looked = { toolCallId: "c2", tool: "look", text: '{"cut' }
    same("the list", await store.waiting(), {
      waits: [
        {
          chat: "a",
          kind: "approval",
          ...paid,
          text: '{"to":"Ann","amount":"12"}',
          reason: "it pays",
          askedAt: 5,
          expiresAt: 900
        },
        { chat: "a", kind: "unknown_outcome", ...looked, reason: "it may have run", askedAt: 5 },
        { chat: "b", kind: "question", ...paid, text: "Which account?", askedAt: 7, expiresAt: 500 },
        { chat: "c", kind: "tool_result", ...looked, askedAt: 7 }
      ]
    })
  }),
  waitLaw(
    make,
    "a wait leaves with the entry that ends it, and one that lasts keeps its time",
    async (store, clock) => {
      await save(store, asking("a"), { after: 0 })
      await clock.advance(5)
      await save(store, { ...asking("a", "Which one?"), usage: { totalTokens: 1 } }, { after: 1 })
      same(
        "the list",
        (await store.waiting()).waits.map(({ text, askedAt }) => [text, askedAt]),
        [["Which one?", 0]]
      )
      const answering = { ...asking("a"), running: true }
      await save(store, answering, { after: 2 })
      same("the list", await store.waiting(), { waits: [] })
      await save(store, asking("a"), { after: 3 })
      same(
        "the list",
        (await store.waiting()).waits.map(({ askedAt }) => askedAt),
        [5]
      )
      const open = suspended("a").open
      await save(store, { ...suspended("a"), open }, { after: 4 })
      same("the list", await idsOf(store), ["a c1", "a c2"])
      const decided = { state: "decided", kind: "permission", decision: { type: "allow" } } as const
      const [, second = decided] = open?.calls ?? []
      const half = { ...suspended("a"), open: { at: 1, calls: [decided, second] } }
      await save(store, half, { after: 5 })
      same("the list", await idsOf(store), ["a c2"])
      await store.delete("a")
      same("the list", await store.waiting(), { waits: [] })
    }
  ),
  waitLaw(make, "a fork and a rewind wait for what their record waits for", async (store, clock) => {
    await save(store, asking("a"))
    await save(store, said("a", "Pay"))
    same("the list", await idsOf(store), [])
    await clock.advance(3)
    await store.fork("a", "b", 1)
    await store.rewind("a", 1)
    same("the list", await idsOf(store), ["b c1", "a c1"])
    await store.rewind("a", 0)
    same("the list", await idsOf(store), ["b c1"])
  }),
  waitLaw(make, "waits are filtered by owner, kind and agent, and read in pages", async (store, clock) => {
    for (let at = 0; at < 9; at++) {
      await clock.advance(1)
      const record = at % 3 === 0 ? manual(`anna/${at}`) : asking(`ben/${at}`)
      await save(store, at % 2 === 0 ? record : Object.assign(record, { agent: { name: "support", version: "2" } }))
    }
    await save(store, asking("anna"))
    same("an owner's", await idsOf(store, { owner: "anna/" }), ["anna/0 c2", "anna/3 c2", "anna/6 c2"])
    same("of a longer prefix", await idsOf(store, { owner: "ben/1" }), ["ben/1 c1"])
    same("of a shorter one", (await idsOf(store, { owner: "ann" })).length, 4)
    same("of none", await idsOf(store, { owner: "\uD800" }), [])
    same("the questions", (await idsOf(store, { kind: "question" })).length, 7)
    same("an owner's questions", await idsOf(store, { owner: "anna/", kind: "question" }), [])
    same("of other agents", await idsOf(store, { agent: "billing" }), [])
    const all = Array.from({ length: 9 }, (_, at) => (at % 3 === 0 ? `anna/${at}` : `ben/${at}`))
    same("the pages", await pages(store, { limit: 4 }), [all.slice(0, 4), all.slice(4, 8), [...all.slice(8), "anna"]])
    same("an owner's pages", await pages(store, { owner: "anna/", limit: 2 }), [["anna/0", "anna/3"], ["anna/6"]])
    for (const wrong of [{ limit: 0 }, { limit: 1_001 }, { after: "x" }, { kind: "other" }, { owner: 1 }]) {
      await refuses("a wrong option", "invalid_options", () => store.waiting(wrong as WaitOptions))
    }
  }),
  waitLaw(make, "the options of a question are listed in plain JSON, unless they are too long", async (store) => {
    const choosing = (id: string, options: Readonly<Record<string, unknown>>) =>
      save(store, { ...asking(id), pendingQuestion: { toolCallId: "c1", question: "Which account?", options } })
    await choosing("a", { choices: ["one", 2n] })
    await choosing("b", { choices: "x".repeat(5_000) })
    same(
      "the options",
      (await store.waiting()).waits.map(({ options }) => options),
      [{ choices: ["one", "2"] }, undefined]
    )
  }),
  waitLaw(make, "texts are bounded, and any ids and names are kept", async (store) => {
    const odd = { id: "c \uD800\0", name: "a\0b", arguments: { text: "x".repeat(5_000) } }
    await save(store, recordWith("a", [user("Go"), Message.assistant("", [odd])], { pendingToolCalls: [odd] }))
    const [wait] = (await store.waiting()).waits
    same("the ids", [wait?.toolCallId, wait?.tool], [odd.id, odd.name])
    const length = wait?.text.length ?? 0
    same("the length of the text", length > 2_000 && length < 2_100, true)
  }),
  waitLaw(make, "an expired wait is not listed, and leaves with its conversation", async (store, clock) => {
    await save(store, asking("a"))
    await clock.advance(499)
    same("the list", await idsOf(store), ["a c1"])
    await clock.advance(1)
    same("the list", await idsOf(store), [])
    same("what is escalated", await store.escalate(1_000, 10), [])
  }),
  waitLaw(make, "a wait is escalated once, the oldest first, and says so as long as it lasts", async (store, clock) => {
    for (const id of ["a", "b", "c"]) {
      await save(store, manual(id), { after: 0 })
      await clock.advance(10)
    }
    same("those before", await store.escalate(-1, 10), [])
    const escalated = await store.escalate(10, 1)
    same(
      "the oldest",
      escalated.map(({ chat, escalatedAt }) => [chat, escalatedAt]),
      [["a", 30]]
    )
    const both = await Promise.all([store.escalate(15, 10), store.escalate(15, 10)])
    same(
      "the next",
      both.flat().map(({ chat }) => chat),
      ["b"]
    )
    await save(store, { ...manual("a"), usage: { totalTokens: 1 } }, { after: 1 })
    same(
      "the list",
      (await store.waiting()).waits.map(({ escalatedAt }) => escalatedAt),
      [30, 30, undefined]
    )
    await save(store, said("a", "Pay"), { after: 2 })
    await save(store, manual("a"), { after: 3 })
    same(
      "the list",
      (await store.waiting({ owner: "a" })).waits.map(({ escalatedAt }) => escalatedAt),
      [undefined]
    )
  })
]
