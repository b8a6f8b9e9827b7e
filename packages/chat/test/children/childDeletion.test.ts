/** SUB6: the deletion of a conversation while one of its calls begins a sub-agent. */
import { expect, test } from "vitest"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { says } from "../double/scripts.ts"
import { childrenIn, delegates } from "../double/subagents.ts"
import { memory } from "../../src/store/Store.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"

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
  const store: SessionStore = {
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
