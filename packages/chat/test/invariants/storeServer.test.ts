import { type Clock, GenServer, Process, type System } from "@troupe/otp"
import { expect, test } from "vitest"
import type { Conversation } from "../../src/record/Conversation.ts"
import { type Guarded, guarded, storeServer } from "../../src/store/storeServer.ts"
import { memory } from "../double/savingStore.ts"
import { saved } from "../../src/record/entries.ts"
import * as Thread from "../../src/model/Thread.ts"
import * as Usage from "../../src/model/Usage.ts"
import { hop } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { inputOf } from "../double/records.ts"
import type { RecordStore, SessionStore } from "../../src/store/sessionStore.ts"

const check = leakCheck()

const recordOf = (name: string): Conversation => ({
  id: "c",
  thread: Thread.empty,
  usage: Usage.empty,
  running: false,
  pendingToolCalls: [],
  known: [name]
})

/** A store whose operations are done when they are let go, and what it was asked to do. */
const held = () => {
  const asked: Array<string> = []
  const kept: Array<string> = []
  const gates = new Map<string, () => void>()
  const wait = (what: string): Promise<void> => {
    asked.push(what)
    return new Promise((resolve) => void gates.set(what, resolve))
  }
  const store: RecordStore = {
    load: async () => {
      await wait("load")
      return recordOf(kept.at(-1) ?? "nothing")
    },
    save: async ({ known }) => {
      const [name = ""] = known ?? []
      await wait(name)
      kept.push(name)
    },
    delete: () => {}
  }
  const releaseHeld = async (what: string): Promise<void> => {
    gates.get(what)?.()
    gates.delete(what)
    await hop()
  }
  return { store, asked, kept, releaseHeld }
}

const nameOf = (value: unknown): string => (value as Conversation | undefined)?.known?.[0] ?? "nothing"

/** A process that guards the store, and what it is asked for. */
const guarding = async (system: System.System, state: Guarded) => {
  const server = await GenServer.start(system, storeServer, state)
  const answers: Array<string> = []
  const answered = (answer: string) => void answers.push(answer)
  return {
    answers,
    save: async (name: string): Promise<void> => {
      GenServer.call(server, { type: "append", id: "c", entries: [saved(recordOf(name))] }).then(
        () => answered(`${name} kept`),
        () => answered(`${name} not answered`)
      )
      await hop()
    },
    load: async (): Promise<void> => {
      GenServer.call(server, { type: "load", id: "c" }).then(
        (answer) => answered("error" in answer ? "failed" : `loaded ${nameOf(answer.value)}`),
        () => answered("load not answered")
      )
      await hop()
    },
    kill: async (): Promise<void> => {
      Process.kill(server)
      await hop()
    }
  }
}

const begun = async (): Promise<{
  readonly outside: ReturnType<typeof held>
  readonly clock: Clock.TestClock
  readonly process: () => ReturnType<typeof guarding>
}> => {
  const { system, clock } = check.system()
  const outside = held()
  const state = guarded(outside.store, system, () => false)
  const loading = state.store.load("c")
  await outside.releaseHeld("load")
  await loading
  outside.asked.length = 0
  return { outside, clock, process: () => guarding(system, state) }
}

test("STORE5 a write that waited when the process died is not done over what the next process keeps", async () => {
  const { outside, process } = await begun()
  const first = await process()
  await first.save("slow")
  await first.save("behind it")
  await first.kill()
  expect(first.answers).toEqual(["slow not answered", "behind it not answered"])
  const second = await process()
  await second.save("newer")
  expect(outside.asked).toEqual(["slow"])
  await outside.releaseHeld("slow")
  await outside.releaseHeld("newer")
  expect(outside.kept).toEqual(["slow", "newer"])
  expect(second.answers).toEqual(["newer kept"])
  await second.kill()
})

test("STORE5 what the next process loads has the write that was under way when the one before died", async () => {
  const { outside, process } = await begun()
  const first = await process()
  await first.save("slow")
  await first.kill()
  const second = await process()
  await second.load()
  expect(outside.asked).toEqual(["slow"])
  await outside.releaseHeld("slow")
  await outside.releaseHeld("load")
  expect(second.answers).toEqual(["loaded slow"])
  await second.kill()
})

test("STORE5 the time that such a write holds up others for goes on while no process lives", async () => {
  const { outside, clock, process } = await begun()
  const first = await process()
  await first.save("never")
  await clock.advance(2_000)
  await first.kill()
  await clock.advance(2_000)
  const second = await process()
  await second.load()
  await clock.advance(999)
  expect(outside.asked).toEqual(["never"])
  await clock.advance(1)
  await outside.releaseHeld("load")
  expect(second.answers).toEqual(["loaded nothing"])
  await second.kill()
})

test("STORE5 nobody waits for what a process that died was loading", async () => {
  const { outside, process } = await begun()
  const first = await process()
  await first.load()
  await first.kill()
  const second = await process()
  await second.load()
  expect(outside.asked).toEqual(["load", "load"])
  await outside.releaseHeld("load")
  expect(second.answers).toEqual(["loaded nothing"])
  await second.kill()
})

test("STORE5 a write that comes back late is mended by the next process, and not without one", async () => {
  const { outside, clock, process } = await begun()
  const first = await process()
  await first.save("late")
  await clock.advance(5_000)
  await first.save("newer")
  await outside.releaseHeld("newer")
  await first.kill()
  await outside.releaseHeld("late")
  expect(outside.kept).toEqual(["newer", "late"])
  expect(outside.asked).toEqual(["late", "newer"])
  const second = await process()
  await hop()
  await outside.releaseHeld("newer")
  expect(outside.kept).toEqual(["newer", "late", "newer"])
  await second.kill()
})

test("STORE9. of a chat whose process has ended it no longer has the number of the newest entry", async () => {
  const { system, clock } = check.system()
  const state = guarded(memory({ clock }), system, () => true)
  const server = await GenServer.start(system, storeServer, state)
  await GenServer.call(server, { type: "append", id: "c", entries: [saved(recordOf("one"))] })
  expect(state.newest.numbers.get("c")).toBe(1)
  GenServer.cast(server, { id: "c", text: "so far" })
  GenServer.cast(server, { left: "c" })
  await hop()
  expect(state.newest.numbers.size).toBe(0)
  expect((await state.store.load("c"))?.draft).toBe("so far")
  await GenServer.stop(server)
})

test("LATE2 an input that was accepted again while its commit was late waits, when the commit has taken its row", async () => {
  const { clock, system } = check.system()
  const inner = memory()
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const store: SessionStore = {
    ...inner,
    append: async (id, entries, appending) => {
      if (entries.length > 0 && appending?.after === 1) await gate
      return inner.append(id, entries, appending)
    }
  }
  const server = await GenServer.start(
    system,
    storeServer,
    guarded(store, system, () => true)
  )
  const accept = { type: "accept", id: "c", input: inputOf("i1", "i1") } as const
  const entries = [saved(recordOf("first"))]
  await GenServer.call(server, { type: "append", id: "c", entries, after: 0 })
  await GenServer.call(server, accept)
  const late = GenServer.call(server, { type: "append", id: "c", entries, after: 1, takes: ["i1"] }).catch(() => "late")
  await clock.advance(5_000)
  expect(await late).toBe("late")
  await GenServer.call(server, accept)
  open()
  await hop()
  const { version, inbox } = (await inner.load("c")) ?? {}
  expect([version, inbox?.map(({ id }) => id)]).toEqual([2, ["i1"]])
  Process.kill(server)
  await hop()
})
