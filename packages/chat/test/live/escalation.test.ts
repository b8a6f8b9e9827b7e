import { Fake, tool, Troupe } from "../../src/index.ts"
import type { Store } from "../../src/store.ts"
import { Clock, System } from "@troupe/otp"
import { expect, test } from "vitest"
import { memory } from "../double/savingStore.ts"

const calls = [{ toolCall: { id: "c1", name: "pay", arguments: {} } }, { finish: "tool_calls" as const }]

const start = async (store: Store.SessionStore, clock: Clock.TestClock, escalated: Array<string>, fails = false) => {
  const crashes: Array<unknown> = []
  const system = System.make({ name: "escalation", clock, onCrash: (report) => void crashes.push(report.reason) })
  const troupe = await Troupe.start({
    adapter: Fake.make({ respond: () => calls }),
    tools: [tool({ name: "pay", execute: () => "paid" })],
    permissions: { ask: () => "suspend" },
    store,
    system,
    escalateAfterMs: 4_000,
    onEscalate: ({ chat, toolCallId }) => {
      escalated.push(`${chat} ${toolCallId}`)
      if (fails) throw new Error("no mail server")
    }
  })
  const stop = async () => {
    await troupe.stop()
    await System.stop(system)
  }
  return { troupe, stop, crashes }
}

/** Lets a look at the store, which answers later, end. */
const settled = async () => {
  for (let turns = 0; turns < 5; turns++) await new Promise<void>((resolve) => void setImmediate(resolve))
}

const later = async (clock: Clock.TestClock, ms: number) => {
  for (let passed = 0; passed < ms; passed += 1_000) {
    await clock.advance(1_000)
    await settled()
  }
}

test("ESCALATE1, ESCALATE3 a wait of a chat that no program has loaded is escalated once, over programs and restarts", async () => {
  const clock = Clock.test()
  const store = memory({ clock })
  const escalated: Array<string> = []
  const first = await start(store, clock, escalated)
  await (await first.troupe.chat("a")).send("Pay").result()
  await later(clock, 3_000)
  expect(escalated).toEqual([])
  await first.stop()
  const programs = [await start(store, clock, escalated), await start(store, clock, escalated)]
  await later(clock, 2_000)
  expect(escalated).toEqual(["a c1"])
  expect(programs.map(({ troupe }) => troupe.isAlive("a"))).toEqual([false, false])
  const [wait] = (await store.waiting?.())?.waits ?? []
  expect(wait?.escalatedAt).toBeGreaterThanOrEqual(4_000)
  for (const { stop } of programs) await stop()
  const again = await start(store, clock, escalated)
  await later(clock, 9_000)
  expect(escalated).toEqual(["a c1"])
  expect((await (await again.troupe.chat("a")).approve("c1", { type: "deny" }).result()).haltedReason).toBe(
    "awaiting_approval"
  )
  await again.stop()
  await later(clock, 9_000)
  expect(escalated).toEqual(["a c1"])
})

test("ESCALATE2 an exception of onEscalate is reported as a crash, and the other waits are escalated", async () => {
  const clock = Clock.test()
  const store = memory({ clock })
  const escalated: Array<string> = []
  const { troupe, stop, crashes } = await start(store, clock, escalated, true)
  for (const id of ["a", "b"]) await (await troupe.chat(id)).send("Pay").result()
  await later(clock, 5_000)
  expect(escalated).toEqual(["a c1", "b c1"])
  expect(crashes).toMatchObject([{ message: "no mail server" }, { message: "no mail server" }])
  await stop()
})

test("a store without a list of waits: `store_without_waiting`, and nothing is escalated", async () => {
  const clock = Clock.test()
  const { waiting: _, escalate: __, ...store } = memory({ clock })
  const { troupe, stop } = await start(store, clock, [])
  await later(clock, 5_000)
  await expect(troupe.waiting()).rejects.toMatchObject({ reason: "store_without_waiting" })
  await expect(troupe.waiting({ limit: 0 })).rejects.toMatchObject({ reason: "store_without_waiting" })
  await stop()
  const plain = await Troupe.start({
    adapter: Fake.make({ script: [] }),
    store: { load: () => undefined, save: () => {}, delete: () => {} }
  })
  await expect(plain.waiting()).rejects.toMatchObject({ reason: "store_without_waiting" })
  await plain.stop()
})

test("`onEscalate` without `escalateAfterMs` is refused, since it is never called", async () => {
  const started = Troupe.start({ adapter: Fake.make({ script: [] }), onEscalate: () => {} })
  await expect(started).rejects.toThrow("onEscalate: is never called without escalateAfterMs")
})
