import { describe, expect, test } from "vitest"
import * as z from "zod"
import type { Decision } from "../../src/record/Approval.ts"
import { ValidationError } from "../../src/errors/ChatError.ts"
import { halt, ok } from "../../src/values/HandlerResult.ts"
import type { ToolMessage } from "../../src/model/messageShapes.ts"
import { make } from "../../src/tool/Tool.ts"
import { diskStore } from "../double/crashing.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, says } from "../double/scripts.ts"
import type { RecordStore } from "../../src/store/sessionStore.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

const check = leakCheck()

const allow: Decision = { type: "allow" }
const suspend: TroupeOptions["permissions"] = { ask: () => "suspend" }

const results = ({ thread }: { readonly thread: { readonly messages: ReadonlyArray<object> } }) =>
  thread.messages.filter((message): message is ToolMessage => "role" in message && message.role === "tool")

const outcomes = (of: Parameters<typeof results>[0]) => results(of).map(({ outcome }) => outcome)

const payTool = (ran: Array<unknown> = [], keys: Array<string> = []) =>
  make({
    name: "pay",
    parameters: z.object({ euros: z.number().optional() }),
    handler: (args, { idempotencyKey }) => {
      ran.push(args)
      keys.push(idempotencyKey)
      return ran.length === 1 ? new Promise(() => {}) : ok("paid")
    }
  })

/** A chat whose calls of `pay` wait for permission, and what another program makes of it. */
const suspended = async (options: Partial<TroupeOptions> = {}) => {
  const ran: Array<unknown> = [{}]
  const store = diskStore()
  const first = await check.troupe({
    adapter: check.fake({ scripts: [calls("pay"), says("done")] }),
    tools: [payTool(ran)],
    store,
    permissions: suspend,
    ...options
  })
  const chat = await first.troupe.chat("c")
  await chat.send("go").result()
  ran.splice(0)
  ran.push("before")
  const again = async (at: number, more: Partial<TroupeOptions> = {}) => {
    const next = store.leave()
    await first.troupe.stop()
    const adapter = check.fake({ scripts: [says("done"), says("more")] })
    const second = await check.troupe({
      adapter,
      tools: [payTool(ran)],
      store: next,
      permissions: suspend,
      ...options,
      ...more
    })
    await second.clock.advance(at)
    return { ...second, chat: await second.troupe.chat("c"), store: next, adapter }
  }
  return { ...first, chat, ran, again }
}

/** A chat whose program ended while `pay` ran: its outcome is unknown. */
const unknown = async (
  options: Partial<TroupeOptions> = {},
  edit: (store: RecordStore) => RecordStore = (store) => store
) => {
  const ran: Array<unknown> = []
  const keys: Array<string> = []
  const store = diskStore()
  const first = await check.troupe({
    adapter: check.fake({ scripts: [calls("pay")] }),
    tools: [payTool(ran, keys)],
    store
  })
  const turn = (await first.troupe.chat("c")).send("go")
  await until(() => ran.length === 1)
  const next = store.leave()
  await first.troupe.stop()
  await turn.result().catch(() => {})
  const adapter = check.fake({ scripts: [says("done"), says("more")] })
  const second = await check.troupe({ adapter, tools: [payTool(ran, keys)], store: edit(next), ...options })
  return { ...second, chat: await second.troupe.chat("c"), ran, keys, store: next }
}

describe("CHAT14 what expired", () => {
  test("has expired when the chat is there again: nothing can be approved", async () => {
    const { again, ran } = await suspended({ permissions: { ...suspend, expiresMs: 60 } })
    const { chat, store } = await again(60)
    expect(chat.getSnapshot()?.value).toBe("idle")
    await expect(chat.approve("c0", allow).result()).rejects.toMatchObject({ reason: "unknown_tool_call_id" })
    expect(ran).toEqual(["before"])
    expect(outcomes(chat)).toEqual(["denied"])
    await until(() => store.record()?.lastHaltedReason === "expired")
  })

  test("a decision that comes with its end comes too late, whatever its timer does", async () => {
    let now = 0
    const { chat, system } = await suspended({ permissions: { ...suspend, expiresMs: 60 } })
    Object.defineProperty(system.clock, "now", { value: () => now })
    now = 60
    await expect(chat.approve("c0", allow).result()).rejects.toMatchObject({ reason: "unknown_tool_call_id" })
    expect(outcomes(chat)).toEqual(["denied"])
    expect((await chat.send("well?").result()).haltedReason).toBe("completed")
  })

  test("a call of unknown outcome waits since it was first found, whatever is restarted", async () => {
    const options = { suspendedTtlMs: 100 }
    const { clock, chat, store, troupe } = await unknown(options)
    expect(chat.getSnapshot()?.context.pendingApprovals).toMatchObject([{ askedAt: 0, expiresAt: 100 }])
    await until(() => store.record()?.open?.calls[0]?.state === "waiting")
    expect(store.record()?.open?.calls).toMatchObject([{ state: "waiting", askedAt: 0, expiresAt: 100 }])
    await chat.stop()
    await clock.advance(60)
    const later = await troupe.chat("c")
    expect(later.getSnapshot()?.context.pendingApprovals).toMatchObject([{ askedAt: 0, expiresAt: 100 }])
    await later.stop()
    await clock.advance(40)
    const late = await troupe.chat("c")
    expect(late.getSnapshot()?.value).toBe("idle")
    expect(outcomes(late)).toEqual(["unknown"])
  })

  test("a store that fails then does not keep the chat from being there", async () => {
    const { chat } = await unknown({}, (store) => ({ ...store, save: () => Promise.reject(new Error("disk")) }))
    await hop()
    expect(chat.getSnapshot()?.value).toBe("awaitingApproval")
  })
})

describe("BATCH9 DEC2 a call that may have run and does not run again is unknown", () => {
  const strict = make({ name: "pay", parameters: z.object({ to: z.string() }), handler: () => ok("paid") })

  test.each([
    ["its arguments no longer fit", { tools: [strict] }, "to"],
    ["a hook refuses it", { hooks: { PreToolUse: [() => ({ type: "deny", reason: "not so" })] } }, "not so"],
    ["a hook halts", { hooks: { PreToolUse: [() => ({ type: "halt", reason: "enough" })] } }, "enough"],
    ["a list refuses it", { permissions: { deny: ["pay"] } }, "may not be called"]
  ] as const)("%s", async (_what, options, why) => {
    const { chat, ran } = await unknown(options as Partial<TroupeOptions>)
    const result = await chat.approve("c0", allow).result()
    expect(outcomes(result)).toEqual(["unknown"])
    const [message] = results(result)
    expect(message?.content).toContain("it is unknown whether it took effect")
    expect(message?.content).toContain(why)
    expect(ran).toHaveLength(1)
  })

  test("DEC3 its tool is gone: it cannot be allowed to run again, and still waits", async () => {
    const { chat, ran } = await unknown({ tools: [] })
    expect(() => chat.approve("c0", allow)).toThrow(/The Troupe has no tool pay/)
    expect(chat.getSnapshot()?.context.pendingApprovals).toHaveLength(1)
    const result = await chat.approve("c0", { type: "deny", reason: "not so" }).result()
    expect([outcomes(result), ran.length]).toEqual([["unknown"], 1])
  })

  test("its intent cannot be stored", async () => {
    let failing = false
    const { chat, ran } = await unknown({}, (store) => ({
      ...store,
      save: (record) => {
        if (failing) return Promise.reject(new Error("disk"))
        failing = record.open?.calls[0]?.state === "decided"
        return store.save(record)
      }
    }))
    await chat.approve("c0", allow).result()
    expect(outcomes(chat)).toEqual(["unknown"])
    expect(results(chat)[0]?.content).toContain("store_failed")
    expect(ran).toHaveLength(1)
  })

  test("the turn is cancelled before it began", async () => {
    const asked = Promise.withResolvers<void>()
    const hooks: TroupeOptions["hooks"] = {
      PreToolUse: [
        () => {
          asked.resolve()
          return new Promise(() => {})
        }
      ]
    }
    const { chat } = await unknown({ hooks })
    const turn = chat.approve("c0", allow)
    await asked.promise
    await chat.cancel()
    expect((await turn.result()).haltedReason).toBe("cancelled")
    expect(outcomes(chat)).toEqual(["unknown"])
  })

  test("the decision is stored, and the turn is cancelled meanwhile", async () => {
    const saving = Promise.withResolvers<void>()
    let held = false
    const { chat, ran } = await unknown({}, (store) => ({
      ...store,
      save: async (record) => {
        if (record.open?.calls[0]?.state === "decided") {
          held = true
          await saving.promise
        }
        await store.save(record)
      }
    }))
    const turn = chat.approve("c0", allow)
    await until(() => held)
    const cancelled = chat.cancel()
    saving.resolve()
    await cancelled
    await turn.result()
    expect(outcomes(chat)).toEqual(["unknown"])
    expect(ran).toHaveLength(1)
  })

  test("what its handler came to counts, once it runs again", async () => {
    const failing = make({ name: "pay", handler: () => Promise.reject(new Error("no")) })
    const { chat } = await unknown({ tools: [failing] })
    expect(outcomes(await chat.approve("c0", allow).result())).toEqual(["failed"])
    const halting = make({ name: "pay", handler: () => halt("enough", 1) })
    const other = await unknown({ tools: [halting] })
    expect(outcomes(await other.chat.approve("c0", allow).result())).toEqual(["completed"])
  })
})

const cycle: Record<string, unknown> = {}
cycle["self"] = cycle
let deep: unknown = 1
for (let level = 0; level < 2_000; level++) deep = { a: deep }

describe("a decision that cannot work is refused, and the call still waits", () => {
  test.each([
    ["a member that is none", { type: "allow", args: { euros: 9 } }, "args: unknown; use type, arguments"],
    ["a result without a value", { type: "result" }, "value: missing"],
    ["another word for the value", { type: "result", result: 1 }, "result: unknown"],
    ["a bigint", { type: "result", value: { a: [1n] } }, "value.a.0: bigint"],
    ["no number", { type: "result", value: Number.NaN }, "value: not_finite"],
    ["a cycle", { type: "result", value: cycle }, "value.self: circular"],
    ["a value too deep", { type: "result", value: deep }, "value.a.a.a.….a.a: too_deep"],
    ["arguments that JSON cannot say", { type: "allow", arguments: { euros: 1n } }, "arguments.euros: bigint"],
    ["arguments that do not fit", { type: "allow", arguments: { euros: "ninety" } }, "arguments.euros"],
    [
      "what cannot be read",
      {
        type: "allow",
        get arguments() {
          throw new Error("boom")
        }
      },
      "boom"
    ]
  ])("%s", async (_what, decision, why) => {
    const { chat } = await suspended()
    const approved = () => chat.approve("c0", decision as Decision)
    expect(approved).toThrow(ValidationError)
    expect(approved).toThrow(why)
    try {
      approved()
    } catch (error) {
      expect(String(error).length).toBeLessThan(300)
    }
    expect(chat.getSnapshot()?.context.pendingApprovals).toHaveLength(1)
    expect((await chat.approve("c0", { type: "result", value: null }).result()).haltedReason).toBe("completed")
  })
})

describe("the lists hold for what a person allows", () => {
  test.each([
    ["on the list of those that may not", { ...suspend, deny: ["pay"] }],
    ["not on the list of those that may", { ...suspend, allow: ["look"] }]
  ] as const)("%s: denied, and nobody is asked again", async (_what, permissions) => {
    const { again, ran } = await suspended()
    const { chat } = await again(0, { permissions })
    expect(outcomes(await chat.approve("c0", allow).result())).toEqual(["denied"])
    expect(ran).toEqual(["before"])
  })

  test("the mode and the question do not count again", async () => {
    const { again, ran } = await suspended()
    const { chat } = await again(0, { permissions: { mode: "plan", ask: () => "deny", allow: ["pay"], deny: ["x"] } })
    expect(outcomes(await chat.approve("c0", allow).result())).toEqual(["completed"])
    expect(ran).toHaveLength(2)
  })
})

test("an answer with a member that is none allows nothing, and the model reads which", async () => {
  const ran: Array<unknown> = ["before"]
  const { troupe } = await check.troupe({
    adapter: check.fake({ scripts: [calls("pay"), says("done")] }),
    tools: [payTool(ran)],
    permissions: { ask: () => JSON.parse('{"type":"allow","args":{"euros":9}}') }
  })
  const result = await (await troupe.chat("c")).send("go").result()
  expect(outcomes(result)).toEqual(["denied"])
  expect(results(result)[0]?.content).toContain("args: unknown; use type, arguments")
  expect(ran).toHaveLength(1)
})

test("a call that runs again with other arguments has another key, the same for the same arguments", async () => {
  const keyOf = async (decision: Decision) => {
    const { chat, keys } = await unknown()
    await chat.approve("c0", decision).result()
    return keys
  }
  const [same, other, others, third] = [
    await keyOf(allow),
    await keyOf({ type: "allow", arguments: { euros: 9 } }),
    await keyOf({ type: "allow", arguments: { euros: 9 } }),
    await keyOf({ type: "allow", arguments: { euros: 8 } })
  ]
  expect(same[1]).toBe(same[0])
  /** What the key of the second run has behind that of the first. */
  const added = ([first = "", second = ""]: ReadonlyArray<string>) =>
    second.startsWith(`${first}/`) ? second.slice(first.length) : undefined
  expect(added(other)).toMatch(/^\/[0-9a-f]{16}$/)
  expect(added(others)).toBe(added(other))
  expect(added(third)).not.toBe(added(other))
})
