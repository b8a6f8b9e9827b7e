/** The laws of named entries: what they make of a record, what they follow, and what a history has of them. */
import { user } from "@troupe/chat"
import { Message, Usage } from "@troupe/chat/messages"
import { type Conversation, Store } from "@troupe/chat/store"
import type { Law } from "../law/index.ts"
import { type MakeStore, refuses, same, save, storeLaw } from "./storeLaw.ts"
import { inputOf, said } from "./storeSamples.ts"

const calls = Message.assistant("", [
  { id: "c1", name: "pay", arguments: { amount: 3n } },
  { id: "c2", name: "look", arguments: {} },
  { id: "c3", name: "sign", arguments: {} }
])
const waits: Extract<Store.Entry, { readonly type: "CallAsked" }>["state"] = {
  state: "waiting",
  kind: "permission",
  reason: "r",
  askedAt: 5
}
const decided: Extract<Store.Entry, { readonly type: "Decided" }>["state"] = {
  state: "decided",
  kind: "permission",
  decision: { type: "allow" }
}
const task = { id: "t1", toolCallId: "c1", tool: "pay", arguments: {}, key: "k", startedAt: 1 }

/** The writes of a conversation, with every entry that there is. */
const writes: ReadonlyArray<ReadonlyArray<Store.Entry>> = [
  [
    { type: "InputTaken", messages: [user("one")], inputs: ["i1"], known: ["i1"] },
    { type: "AgentSet", agent: { name: "a", version: "1" } }
  ],
  [
    { type: "Replied", messages: [calls], step: { id: "s1", agent: "a", manual: [2] } },
    { type: "Used", usage: { ...Usage.empty, inputTokens: 7 } },
    { type: "CallsIntended", calls: [{ call: 0, arguments: { amount: 4n } }] },
    { type: "ChildrenChanged", children: ["a/~/c"] }
  ],
  [
    { type: "CallEnded", call: 1, messages: [Message.toolResult("c2", "seen")] },
    { type: "StepHalted", halt: { type: "halt", toolCallId: "c2", reason: "enough", result: null } },
    { type: "ModeSet", permissionMode: { mode: "plan", loosest: "default" } }
  ],
  [
    { type: "CallAsked", call: 0, state: waits },
    { type: "TurnEnded", reason: "awaiting_approval" }
  ],
  [{ type: "Decided", call: 0, state: decided }, { type: "TurnContinued" }, { type: "StepHalted" }],
  [
    { type: "CallEnded", call: 0, messages: [Message.toolResult("c1", "paid")] },
    { type: "CallEnded", call: 2, messages: [Message.toolResult("c3", "signed")] },
    { type: "StepEnded" },
    { type: "ChildrenChanged" },
    { type: "TaskBegan", task },
    { type: "MessagesAdded", messages: [user("by a hook")], metadata: { title: "Payments" } }
  ],
  [
    { type: "Replied", at: 4, messages: [Message.assistant("Which?")] },
    { type: "TurnEnded", reason: "ask_user" },
    {
      type: "WaitChanged",
      pendingQuestion: { toolCallId: "c1", question: "Which?", options: {} },
      pendingToolCalls: [],
      expiresAt: 99
    },
    { type: "ReplyCut", draft: "so f" }
  ],
  [],
  [
    { type: "InputTaken", messages: [user("two")], inputs: ["i2"], known: ["i2"] },
    { type: "TaskEnded", id: "t1" },
    { type: "WaitChanged", pendingToolCalls: [] }
  ],
  [Store.saved(said("a", "another"))]
]

const withoutVersion = (record: Conversation): Conversation => ({ ...record, version: undefined })

export const entryLaws = (make: MakeStore): ReadonlyArray<Law> => [
  storeLaw(make, "the record of a conversation is the fold of its entries, at every prefix of them", async (store) => {
    let record = Store.blank("a")
    const records: Array<Conversation> = []
    for (const [after, entries] of writes.entries()) {
      record = entries.reduce(Store.evolve, record)
      records.push(record)
      same("what the write came to", await store.append("a", entries, { after }), { ...record, version: after + 1 })
      same("the record", await store.load("a"), { ...record, version: after + 1 })
    }
    const history = await store.history("a")
    let folded = Store.blank("a")
    for (const [index, { entries = [] }] of history.entries()) {
      folded = entries.reduce(Store.evolve, folded)
      same(`the entry ${index + 1}`, await store.at("a", index + 1), { ...records[index], version: index + 1 })
      same(`the fold of ${index + 1} entries`, withoutVersion(folded), records[index])
    }
    same(
      "the entries",
      history.map(({ entries }) => entries),
      writes
    )
  }),
  storeLaw(
    make,
    "an entry of the log has the messages from the first change of its named entries on",
    async (store) => {
      for (const [after, entries] of writes.entries()) await store.append("a", entries, { after })
      const history = await store.history("a")
      same(
        "the messages that stay",
        history.map(({ kept }) => kept),
        [0, 1, 2, 3, 3, 2, 4, 5, 5, 0]
      )
      same(
        "the ids that stay",
        history.map(({ known }) => known?.kept),
        [0, 1, 1, 1, 1, 1, 1, 1, 1, undefined]
      )
    }
  ),
  storeLaw(
    make,
    "a write without entries is one, after which nothing that follows the entry before is written",
    async (store) => {
      const { version = 0 } = await store.append("a", [Store.saved(said("a", "one"))], { after: 0 })
      const closed = await store.append("a", [], { after: version })
      same("the record", closed, { ...said("a", "one"), version: 2 })
      await refuses("a late write", "store_conflict", () => save(store, said("a", "late"), { after: version }))
      same("the record", await store.load("a"), closed)
      same(
        "the history",
        (await store.history("a")).map(({ entries, kept }) => [entries?.length, kept]),
        [
          [1, 0],
          [0, 1]
        ]
      )
    }
  ),
  storeLaw(make, "without entries and without a number only the inputs that are taken leave", async (store) => {
    await save(store, said("a", "one"))
    for (const id of ["i1", "i2"]) await store.accept("a", inputOf(id, id))
    await store.append("a", [], { takes: ["i1", "unknown"] })
    same("the record", await store.load("a"), { ...said("a", "one"), inbox: [inputOf("i2", "i2")], version: 1 })
    same("what waits", (await store.list()).chats[0]?.waiting, 1)
    await store.append("nobody", [], { takes: ["i1"] })
    same("a conversation that does not exist", await store.load("nobody"), undefined)
  }),
  storeLaw(make, "a write may name the record that it follows, as the store returned it", async (store) => {
    let record = await store.append("a", [Store.saved(said("a", "0"))], { after: 0 })
    for (let after = 1; after <= 5; after++) {
      const messages = [user(String(after))]
      record = await store.append("a", [{ type: "MessagesAdded", messages }], { after, record })
    }
    same("the record", await store.load("a"), { ...said("a", "0", "1", "2", "3", "4", "5"), version: 6 })
    const loaded = await store.load("a")
    await store.append("a", [{ type: "MessagesAdded", messages: [user("6")] }], { after: 6, record: loaded })
    same("the messages", (await store.load("a"))?.thread.messages.length, 7)
  }),
  storeLaw(
    make,
    "a write that follows a record of a deleted conversation is refused by the next of its id, though that has as many entries",
    async (store) => {
      const old = await store.append("a", [Store.saved(said("a", "one"))], { after: 0 })
      await store.delete("a")
      await save(store, said("a", "anew"), { after: 0 })
      const late = () => store.append("a", [Store.saved(said("a", "late"))], { after: 1, record: old })
      await refuses("a write", "store_conflict", late)
      same("the record", await store.load("a"), { ...said("a", "anew"), version: 1 })
    }
  ),
  storeLaw(make, "a write is refused by a newer epoch, and takes inputs only when it is stored", async (store) => {
    await store.accept("a", inputOf("i1", "1"))
    await store.accept("a", inputOf("i2", "2"))
    const fence = { key: "k", epoch: 1 }
    const first = await store.append("a", [Store.saved(said("a", "1"))], { after: 0, takes: ["i1"], fence })
    same("the record", await store.load("a"), { ...said("a", "1"), inbox: [inputOf("i2", "2")], version: 1 })
    const next: Store.Appending = { after: 1, record: first, takes: ["i2"] }
    const entries: ReadonlyArray<Store.Entry> = [{ type: "MessagesAdded", messages: [user("2")] }]
    await refuses("a write after 0", "store_conflict", () => store.append("a", entries, { takes: ["i2"], after: 0 }))
    await refuses("a write of none", "store_conflict", () => store.append("b", entries, { after: 1 }))
    await store.claim("k", 2)
    await refuses("a write of an old epoch", "store_fenced", () => store.append("a", entries, { ...next, fence }))
    await refuses("a first write of an old epoch", "store_fenced", () =>
      store.append("b", entries, { after: 0, fence })
    )
    same("the inputs", (await store.load("a"))?.inbox?.length, 1)
    await store.append("a", entries, { ...next, fence: { key: "k", epoch: 2 } })
    same("the record", await store.load("a"), { ...said("a", "1", "2"), version: 2 })
  }),
  storeLaw(
    make,
    "of writes and inputs of one conversation at the same time all inputs are kept, and one write",
    async (store) => {
      await save(store, said("a", "0"), { after: 0 })
      const inputs = Array.from({ length: 10 }, (_, index) => inputOf(`i${index}`, "1"))
      const written = Array.from({ length: 10 }, async (_, index) =>
        save(store, said("a", "0", `${index}`), { after: 1 })
      )
      await Promise.allSettled([...written, ...inputs.map(async (input) => store.accept("a", input))])
      same("the entries", (await store.history("a")).length, 2)
      const record = await store.load("a")
      same("the messages", record?.thread.messages.length, 2)
      same(
        "the inputs",
        record?.inbox?.map(({ id }) => id).toSorted(),
        inputs.map(({ id }) => id)
      )
      same("what waits", (await store.list()).chats[0]?.waiting, 10)
    }
  )
]
