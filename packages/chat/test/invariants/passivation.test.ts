import { Clock, Process, System } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import type { Decision } from "../../src/record/Approval.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import type { ChatSnapshot } from "../../src/view/liveView.ts"
import { askUser, ok } from "../../src/values/HandlerResult.ts"
import { memory } from "../double/savingStore.ts"
import { make } from "../../src/tool/Tool.ts"
import { Troupe } from "../../src/troupe/Troupe.ts"
import { collected } from "../double/collected.ts"
import { handAdapter } from "../double/handAdapter.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { processesOf } from "../double/processes.ts"
import { calls, handling, says } from "../double/scripts.ts"
import type { RecordStore } from "../../src/store/sessionStore.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

const check = leakCheck()

const afterMs = 1_000

const resting = async (options: Partial<TroupeOptions> = {}, id = "c") => {
  const adapter = check.fake({ respond: () => says("fine") })
  const made = await check.troupe({ adapter, passivateAfterMs: afterMs, ...options })
  const chat = await made.troupe.chat(id)
  return { ...made, chat }
}

const said = (chat: LocalChatRef) => chat.thread.messages.map(({ content }) => content)

/** Long enough for any chat that rests. */
const restMs = afterMs * 1.25

describe("PASS1 the process of a chat at rest ends", () => {
  test("after its time, and no later than a quarter more", async () => {
    const { chat, clock, system } = await resting()
    await chat.send("go").result()
    await clock.advance(afterMs - 1)
    expect(chat.pid).toBeDefined()
    await clock.advance(afterMs / 4 + 1)
    expect([chat.pid, processesOf(system, "Chat c")]).toEqual([undefined, []])
  })

  test("unless the Troupe says never; by default after ten minutes", async () => {
    const never = await resting({ passivateAfterMs: Infinity })
    await never.clock.advance(1e9)
    expect(never.chat.pid).toBeDefined()
    const byDefault = await resting({ passivateAfterMs: undefined })
    await byDefault.clock.advance(599_999)
    expect(byDefault.chat.pid).toBeDefined()
    await byDefault.clock.advance(150_001)
    expect(byDefault.chat.pid).toBeUndefined()
  })

  test("and that is no crash: none is reported, none is counted, and no child is left", async () => {
    const crashes: Array<unknown> = []
    const clock = Clock.test()
    const system = System.make({ clock, onCrash: (report) => crashes.push(report) })
    const adapter = check.fake({ respond: () => says("fine") })
    const troupe = await Troupe.start({ adapter, system, passivateAfterMs: afterMs, maxRestarts: 0 })
    const chat = await troupe.chat("c")
    for (let turn = 0; turn < 10; turn++) {
      await chat.send("go").result()
      await clock.advance(restMs)
      expect(chat.pid).toBeUndefined()
    }
    expect([crashes, processesOf(system, "Chat c")]).toEqual([[], []])
    await troupe.stop()
    await System.stop(system)
  })

  test("counted anew from whatever happens in it, and from whoever asks for it", async () => {
    const { chat, clock, troupe } = await resting()
    for (let time = 0; time < 5; time++) {
      await clock.advance(afterMs * 0.9)
      if (time % 2 === 0) await chat.send("go").result()
      else await troupe.chat("c")
    }
    const { pid } = chat
    await clock.advance(afterMs * 0.9)
    expect(chat.pid).toBe(pid)
    await clock.advance(restMs)
    expect(chat.pid).toBeUndefined()
  })

  test("but not while somebody watches it, and for its time after", async () => {
    const { chat, clock } = await resting()
    const { unsubscribe } = chat.subscribe(() => {})
    const attached = chat.attach()
    await clock.advance(restMs * 3)
    unsubscribe()
    await clock.advance(restMs * 3)
    expect(chat.pid).toBeDefined()
    await attached.return()
    await clock.advance(afterMs * 0.7)
    expect(chat.pid).toBeDefined()
    await clock.advance(restMs)
    expect(chat.pid).toBeUndefined()
  })

  test("but not in a turn, nor while inputs are held", async () => {
    const adapter = handAdapter()
    const store = memory()
    const { chat, clock, troupe } = await resting({ adapter, store })
    chat.send("go")
    await chat.send("held").receipt
    await clock.advance(restMs * 3)
    expect([chat.getSnapshot()?.context.phase, chat.pid !== undefined]).toEqual(["streaming", true])
    await chat.stop()
    const again = await troupe.chat("c")
    expect(again.getSnapshot()?.context.inbox).toHaveLength(1)
    await clock.advance(restMs * 3)
    expect(again.pid).toBeDefined()
  })

  test("but not while the store does not have it", async () => {
    const inner = memory()
    let broken = false
    const store: RecordStore = {
      ...inner,
      save: (record) => {
        if (broken) throw new Error("full")
        return inner.save(record)
      }
    }
    const { chat, clock } = await resting({ store })
    await chat.send("one").result()
    broken = true
    await expect(chat.setPermissionMode("plan")).rejects.toMatchObject({ reason: "store_failed" })
    await clock.advance(restMs * 3)
    expect([chat.pid !== undefined, chat.getSnapshot()?.context.permissionMode]).toEqual([true, "plan"])
    broken = false
    await chat.send("two").result()
    await clock.advance(restMs)
    expect(chat.pid).toBeUndefined()
    await chat.send("three").result()
    expect(chat.getSnapshot()?.context.permissionMode).toBe("plan")
  })

  test("but not while the store is asked to keep it", async () => {
    const inner = memory()
    const kept = Promise.withResolvers<void>()
    let slow = false
    const store: RecordStore = {
      ...inner,
      save: async (record) => (slow && (await kept.promise), await inner.save(record))
    }
    const { chat, clock } = await resting({ store, passivateAfterMs: 100 })
    await chat.send("go").result()
    slow = true
    const set = chat.setPermissionMode("plan")
    await clock.advance(1_000)
    expect(chat.pid).toBeDefined()
    kept.resolve()
    await set
    await clock.advance(1_000)
    expect(chat.pid).toBeUndefined()
    await chat.send("more").result()
    expect(chat.getSnapshot()?.context.permissionMode).toBe("plan")
  })
})

describe("PASS2 who holds a passivated chat", () => {
  test("reads what it said and where it stands", async () => {
    const { chat, clock } = await resting()
    await chat.send("go").result()
    const before = chat.getSnapshot()
    await clock.advance(restMs)
    expect([chat.pid, chat.getSnapshot(), said(chat)]).toEqual([undefined, before, ["go", "fine"]])
  })

  test.each<readonly [string, (chat: LocalChatRef) => unknown]>([
    ["sends", (chat) => chat.send("more").result()],
    ["sends and would be refused if it were busy", (chat) => chat.send("more", { whenBusy: "reject" }).result()],
    ["retries", (chat) => chat.retry().result()],
    ["sets its mode", (chat) => chat.setPermissionMode("plan")],
    ["subscribes", (chat) => chat.subscribe(() => {}).unsubscribe()],
    ["attaches", (chat) => chat.attach().return()]
  ])("and %s has it living again", async (_, wants) => {
    const { chat, clock } = await resting()
    await chat.send("go").result()
    await clock.advance(restMs)
    expect(chat.pid).toBeUndefined()
    await wants(chat)
    await until(() => chat.pid !== undefined)
    expect(said(chat).slice(0, 2)).toEqual(["go", "fine"])
  })

  test("and asks the Troupe for it gets the same address", async () => {
    const { chat, clock, troupe } = await resting()
    await chat.send("go").result()
    await clock.advance(restMs)
    const again = await troupe.chat("c")
    expect([again === chat, chat.pid !== undefined]).toEqual([true, true])
  })

  test("cancels nothing, and stops it for good", async () => {
    const { chat, clock, troupe } = await resting()
    await chat.send("go").result()
    await clock.advance(restMs)
    await chat.cancel()
    await chat.cancelToolCalls()
    expect([chat.resume(), chat.pid]).toEqual([[], undefined])
    await chat.stop()
    await expect(chat.send("more").result()).rejects.toMatchObject({ reason: "chat_stopped" })
    expect(said(await troupe.chat("c"))).toEqual(["go", "fine"])
  })

  test("and watches it from then on sees what a living one says", async () => {
    const { chat, clock } = await resting()
    await chat.send("go").result()
    await clock.advance(restMs)
    const seen: Array<ChatSnapshot> = []
    const { unsubscribe } = chat.subscribe((snapshot) => seen.push(snapshot))
    const attached = chat.attach()
    const first = [await attached.next(), await attached.next()].map(({ value }) => value?.type)
    expect([first, chat.pid !== undefined]).toEqual([["snapshot", "snapshot"], true])
    await chat.send("more").result()
    expect(seen.at(-1)?.context.thread.messages).toHaveLength(4)
    const read = []
    for await (const item of attached) {
      read.push(item.type === "event" ? item.event.type : item.type)
      if (item.type === "event" && item.event.type === "chat_completed") break
    }
    expect([read[0], read.at(-1)]).toEqual(["message_started", "chat_completed"])
    unsubscribe()
  })

  test("a cursor of before leads to a snapshot, and never to the wrong events", async () => {
    const { chat, clock } = await resting()
    const attached = chat.attach()
    const first = await attached.next()
    await chat.send("go").result()
    await attached.return()
    await clock.advance(restMs)
    const again = chat.attach({ cursor: first.value?.cursor })
    expect(await again.next()).toMatchObject({ value: { type: "snapshot", snapshot: { value: "idle" } } })
    await again.return()
  })

  test("a Troupe that ends while they rest ends them too", async () => {
    const { chat, clock, troupe } = await resting()
    await chat.send("go").result()
    await clock.advance(restMs)
    await troupe.stop()
    await expect(chat.send("more").result()).rejects.toMatchObject({ reason: "chat_stopped" })
  })
})

describe("PASS2 a chat that waits", () => {
  const pays = make({ name: "pay", effect: "write", handler: () => ok("paid") })
  const asking = async (options: Partial<TroupeOptions> = {}) => {
    const adapter = check.fake({ scripts: [calls("pay"), says("done")] })
    const permissions: TroupeOptions["permissions"] = { ask: () => "suspend" }
    const made = await resting({ adapter, tools: [pays], permissions, ...options })
    await made.chat.send("go").result()
    expect(made.chat.getSnapshot()?.context.phase).toBe("awaitingApproval")
    return made
  }
  const allow: Decision = { type: "allow" }

  test("for a decision waits for it when it is there again, and takes it once", async () => {
    const { chat, clock } = await asking()
    await clock.advance(restMs)
    expect(chat.pid).toBeUndefined()
    const result = await chat.approve("c0", allow).result()
    expect(result.haltedReason).toBe("completed")
    await expect(chat.approve("c0", allow).result()).rejects.toMatchObject({ reason: "unknown_tool_call_id" })
  })

  test("for an answer takes it", async () => {
    const adapter = check.fake({ scripts: [calls("ask"), says("done")] })
    const { chat, clock } = await resting({ adapter, tools: [handling("ask", () => askUser("Which?"))] })
    await chat.send("go").result()
    await clock.advance(restMs)
    expect([chat.pid, chat.getSnapshot()?.context.phase]).toEqual([undefined, "awaitingUser"])
    expect((await chat.send("this").result()).haltedReason).toBe("completed")
  })

  test("for results takes them", async () => {
    const adapter = check.fake({ scripts: [calls("mine"), says("done")] })
    const { chat, clock } = await resting({ adapter, tools: [make({ name: "mine", manual: true })] })
    await chat.send("go").result()
    await clock.advance(restMs)
    expect(chat.pid).toBeUndefined()
    expect((await chat.submitToolResults({ c0: 1 }).result()).haltedReason).toBe("completed")
  })

  test("no longer than it may: what expired while it had no process has expired for whoever comes next", async () => {
    const { chat, clock } = await asking({ suspendedTtlMs: afterMs * 10 })
    await clock.advance(restMs)
    expect(chat.pid).toBeUndefined()
    await clock.advance(afterMs * 10)
    await expect(chat.approve("c0", allow).result()).rejects.toMatchObject({ reason: "unknown_tool_call_id" })
    expect(chat.getSnapshot()?.context.lastHaltedReason).toBe("expired")
  })

  test("INT1 interrupted stays so", async () => {
    const adapter = handAdapter()
    const { chat, clock } = await resting({ adapter })
    chat
      .send("go")
      .result()
      .catch(() => {})
    await until(() => adapter.streams.length === 1)
    adapter.streams[0]?.text("Once")
    await until(() => chat.getSnapshot()?.context.partial.text === "Once")
    if (chat.pid !== undefined) Process.kill(chat.pid)
    await until(() => chat.getSnapshot()?.context.phase === "interrupted")
    await clock.advance(restMs)
    expect(chat.pid).toBeUndefined()
    chat.subscribe(() => {}).unsubscribe()
    await until(() => chat.pid !== undefined)
    const { phase, partial } = chat.getSnapshot()?.context ?? {}
    expect([phase, partial?.text]).toEqual(["interrupted", "Once"])
  })
})

describe("PASS3 a passivated chat without a reference", () => {
  test("is collected, and there again when it is asked for", async () => {
    const { troupe, clock } = await resting()
    const used = async (id: string) => {
      const chat = await troupe.chat(id)
      await chat.send("go").result()
      return [new WeakRef<object>(chat), new WeakRef<object>(chat.getSnapshot() ?? {})]
    }
    const refs = await used("gone")
    await clock.advance(restMs)
    expect(await collected(refs)).toEqual([true, true])
    expect(said(await troupe.chat("gone"))).toEqual(["go", "fine"])
  })

  test("but the hooks of its end are called", async () => {
    const observed: Array<string> = []
    const hooks = {
      SessionEnd: [({ sessionId }: { readonly sessionId?: string | undefined }) => void observed.push(sessionId ?? "")]
    }
    const { chat, clock, troupe } = await resting({ hooks })
    await chat.send("go").result()
    await clock.advance(restMs)
    expect([chat.pid, observed]).toEqual([undefined, []])
    await troupe.stop()
    expect(observed).toEqual(["c"])
  })
})

describe("PASS4 the timer", () => {
  const watched = () => {
    const clock = Clock.test()
    const timers = new Set<unknown>()
    const background = clock.setBackgroundTimeout?.bind(clock)
    const clear = clock.clearTimeout.bind(clock)
    clock.setBackgroundTimeout = (run, ms) => {
      const id = background?.(() => (timers.delete(id), run()), ms)
      timers.add(id)
      return id
    }
    clock.clearTimeout = (id) => (timers.delete(id), clear(id))
    return { clock, timers }
  }

  test("is there while a chat has a process, and not before or after", async () => {
    const { clock, timers } = watched()
    const system = System.make({ clock })
    const adapter = check.fake({ respond: () => says("fine") })
    const troupe = await Troupe.start({ adapter, system, passivateAfterMs: afterMs })
    expect(timers.size).toBe(0)
    const one = await troupe.chat("one")
    await troupe.chat("two")
    expect([timers.size, clock.pending]).toEqual([1, 0])
    await clock.advance(restMs)
    expect([one.pid, timers.size]).toEqual([undefined, 0])
    await one.send("go").result()
    expect(timers.size).toBe(1)
    await troupe.stop()
    expect(timers.size).toBe(0)
    await System.stop(system)
  })
})
