/** SUB6, SUB15: the deletion of conversations of sub-agents. */
import { expect, test } from "vitest"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { said, says } from "../double/scripts.ts"
import { childrenIn, delegates } from "../double/subagents.ts"
import type { Conversation } from "../../src/record/Conversation.ts"
import { memory, type Saving, type SavingStore } from "../double/savingStore.ts"

const check = leakCheck()

/** A store in which the operation of this name on a sub-agent's conversation goes on only when the test says so. */
const holding = (held: "load" | "save") => {
  const kept = memory()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  let waiting = 0
  const wait = async () => {
    waiting += 1
    await released
  }
  const store: SavingStore = {
    ...kept,
    load: (id) => (held === "load" && id.includes("/~/") ? wait().then(() => kept.load(id)) : kept.load(id)),
    save: (record, options) =>
      held === "save" && record.id.includes("/~/")
        ? wait().then(() => kept.save(record, options))
        : kept.save(record, options)
  }
  return { store, kept, release, waiting: () => waiting }
}

test.each([
  { held: "load" as const, background: undefined },
  { held: "save" as const, background: undefined },
  { held: "load" as const, background: true as const },
  { held: "save" as const, background: true as const }
])(
  "SUB6 a deletion during the first $held of a sub-agent leaves no row of it: background $background",
  async ({ held, background }) => {
    const { store, kept, release, waiting } = holding(held)
    const { troupe, adapters } = await delegates(check, () => says("done"), { kept: store, tool: { background } })
    const chat = await troupe.chat("c")
    chat
      .send("please !dig")
      .result()
      .catch(() => {})
    await until(() => waiting() === 1)
    const deleted = troupe.delete("c")
    await hop()
    release()
    await deleted
    await hop()
    expect(await childrenIn(kept)).toEqual([])
    expect(await kept.load("c")).toBeUndefined()
    expect(adapters.research.requests).toEqual([])
  }
)

test("SUB6 a deletion after the first save of a sub-agent got no answer leaves no row of it", async () => {
  const { store, kept, release, waiting } = holding("save")
  const { troupe, clock } = await delegates(check, () => says("done"), { kept: store })
  const chat = await troupe.chat("c")
  const turn = chat.send("please !dig").result()
  await until(() => waiting() === 1)
  await clock.advance(5_000)
  expect((await turn).finalResponse?.outputText).toContain("failed")
  await troupe.delete("c")
  release()
  await hop()
  expect(await childrenIn(kept)).toEqual([])
})

test.each([undefined, true as const])(
  "SUB15 a child whose conversation is missing after it had begun fails, and never begins again: background %s",
  async (background) => {
    const store = memory()
    const hangs = () => [{ text: "…" }, { hang: true as const }]
    const first = await delegates(check, hangs, { kept: store, tool: { background } })
    const begun = await first.troupe.chat("c")
    const turn = begun.send("please !dig").result()
    turn.catch(() => {})
    await until(() => first.adapters.research.open === 1)
    const [child = ""] = await childrenIn(store)
    expect((await store.load("c"))?.children).toEqual([child])
    await first.troupe.stop()
    await store.delete(child)

    const next = await delegates(check, () => says("done again"), { kept: store, tool: { background } })
    const chat = await next.troupe.chat("c")
    if (background === undefined) await chat.retry().result()
    const textsOf = () => chat.thread.messages.map(said)
    await until(() => textsOf().some((text) => text.includes("was deleted after it had begun")))
    expect(next.adapters.research.requests).toEqual([])
    await until(() => chat.getSnapshot()?.context.phase === "idle")
    expect((await store.load("c"))?.children).toEqual([child])
  }
)

test("SUB15 the record of a chat has its children, and notes of one batch share a save", async () => {
  const store = memory()
  const { troupe, adapters } = await delegates(check, () => says("found"), { kept: store })
  const noted: Array<number> = []
  const save = store.save.bind(store)
  Object.assign(store, {
    save: (record: Conversation, options: Saving) => {
      if (record.id === "c") noted.push(record.children?.length ?? 0)
      return save(record, options)
    }
  })
  await (await troupe.chat("c")).send("please !dig and !dive and !delve").result()
  expect(adapters.research.requests).toHaveLength(3)
  expect(noted.filter((many) => many > 0 && many < 3)).toEqual([])
  expect(new Set((await store.load("c"))?.children)).toEqual(new Set(await childrenIn(store)))
})
