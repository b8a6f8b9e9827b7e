import { describe, expect, test } from "vitest"
import type * as Hooks from "../../src/gate/Hooks.ts"
import { type Gate, gateBatch, gateCall, isGated } from "../../src/gate/gate.ts"
import { type Answer, type Ask, denial } from "../../src/gate/permissionRules.ts"
import { user } from "../../src/model/Message.ts"
import { make } from "../../src/tool/Tool.ts"
import type { ToolCall } from "../../src/model/ToolCall.ts"

const bash = make({ name: "bash" })
const call = (id = "c1"): ToolCall => ({
  id,
  name: "bash",
  arguments: { command: "ls" },
  rawArguments: '{"command":"ls"}'
})

const gated = (gate: Partial<Gate>, toolCall = call()) =>
  gateCall(toolCall, bash, { signal: new AbortController().signal, ...gate })

/** What an answer to the question comes to. */
const asked = (answer: unknown) => gated({ permissions: { ask: () => answer as Answer } })

/** Notes which hooks ran, in their order. */
const spying = (log: Array<string>, answer?: Hooks.HookAnswer): Hooks.Hooks => {
  const spy = (event: string) => () => {
    log.push(event)
    return answer
  }
  const events = ["PermissionRequest", "PreToolUse", "PermissionDenied", "ToolDenied"] as const
  return Object.fromEntries(events.map((event) => [event, [spy(event)]]))
}

describe("the gate", () => {
  test("61 the hooks come last: a refused call does not reach PreToolUse", async () => {
    const log: Array<string> = []
    await gated({ permissions: { deny: ["bash"] }, hooks: spying(log) })
    expect(log).toEqual(["PermissionDenied", "ToolDenied"])
  })

  test("61 an answer that allows is asked for first, then the hooks are", async () => {
    const log: Array<string> = []
    const ask: Ask = () => {
      log.push("ask")
      return "allow"
    }
    expect(await gated({ permissions: { ask }, hooks: spying(log) })).toEqual({
      type: "allow",
      toolCall: call(),
      edited: false
    })
    expect(log).toEqual(["PermissionRequest", "ask", "PreToolUse"])
  })

  test("62, 63 PermissionDenied is called for every refusal, ToolDenied for those that have a code", async () => {
    const log: Array<string> = []
    const plain = { ...spying(log), PreToolUse: [() => ({ type: "deny", reason: "no writes" }) as const] }
    expect(await gated({ hooks: plain })).toMatchObject({ type: "deny", reason: "no writes", denial: undefined })
    expect(log.splice(0)).toEqual(["PermissionDenied"])
    const reason = denial("budget_exceeded", "too dear")
    const typed = { ...spying(log), PreToolUse: [() => ({ type: "deny", reason }) as const] }
    expect(await gated({ hooks: typed })).toMatchObject({ type: "deny", reason: "too dear", denial: reason })
    expect(log).toEqual(["PermissionDenied", "ToolDenied"])
  })

  test("64 a halt calls neither, from the question or from a hook", async () => {
    const log: Array<string> = []
    const hooks = { ...spying(log), PreToolUse: [() => "halt" as const] }
    expect(await gated({ hooks })).toMatchObject({ type: "halt" })
    expect(await gated({ hooks: spying(log), permissions: { ask: () => "halt" } })).toMatchObject({
      type: "halt",
      reason: "halt"
    })
    expect(log).toEqual(["PermissionRequest"])
  })

  test("65 what the hooks of a refusal answer changes nothing", async () => {
    const refused = await gated({ permissions: { deny: ["bash"] }, hooks: spying([], "halt") })
    expect(refused).toMatchObject({ type: "deny", denial: { code: "user_denied" } })
  })

  test("68 each answer to the question is its verdict", async () => {
    expect(await asked("allow")).toMatchObject({ type: "allow", edited: false })
    expect(await asked({ type: "allow" })).toMatchObject({ type: "allow", edited: false })
    expect(await asked("deny")).toMatchObject({ type: "deny", denial: { code: "user_denied" } })
    expect(await asked({ type: "deny", reason: "nah" })).toMatchObject({
      type: "deny",
      reason: "nah",
      denial: { code: "user_denied", metadata: { raw: "nah" } }
    })
    expect(await asked("halt")).toMatchObject({ type: "halt", reason: "halt" })
    expect(await asked({ type: "halt", reason: "user_stop" })).toMatchObject({ type: "halt", reason: "user_stop" })
    expect(await asked("suspend")).toEqual({ type: "suspend", toolCall: call(), expiresMs: undefined })
    const ask: Ask = () => ({ type: "suspend" })
    expect(await gated({ permissions: { ask, expiresMs: 60 } })).toMatchObject({ type: "suspend", expiresMs: 60 })
  })

  test("GATE1 what is no answer is a refusal with the code unknown", async () => {
    const foreign: ReadonlyArray<unknown> = [
      42,
      undefined,
      true,
      "yes",
      [],
      { type: "allow", arguments: ["ls"] },
      { type: "halt", reason: "completed" },
      { type: "halt", reason: 5 },
      { type: "halt", reason: "" },
      { type: "halt", reason: " " },
      { type: "halt", reason: null }
    ]
    for (const answer of foreign) {
      expect(await asked(answer)).toMatchObject({
        type: "deny",
        denial: { code: "unknown", metadata: { raw: answer } }
      })
    }
  })

  test("GATE1 GATE6 a question that throws or rejects is a refusal with the code unknown, which the hooks get", async () => {
    const log: Array<string> = []
    const asks: ReadonlyArray<Ask> = [
      () => {
        throw new Error("offline")
      },
      () => Promise.reject(new Error("offline"))
    ]
    for (const ask of asks) {
      const refused = await gated({ permissions: { ask }, hooks: spying(log) })
      expect(refused).toMatchObject({ type: "deny", denial: { code: "unknown", metadata: { fault: "offline" } } })
      expect(refused).toMatchObject({ reason: expect.not.stringContaining("offline") })
    }
    expect(log).toEqual([
      "PermissionRequest",
      "PermissionDenied",
      "ToolDenied",
      "PermissionRequest",
      "PermissionDenied",
      "ToolDenied"
    ])
  })

  test("70 the loosest mode still has its hooks", async () => {
    expect(
      await gated({ permissions: { mode: "bypass" }, hooks: { PreToolUse: [() => "deny" as const] } })
    ).toMatchObject({
      type: "deny"
    })
  })

  test("the question says which call it is about, in which mode, context and thread", async () => {
    const questions: Array<object> = []
    const ask: Ask = ({ signal, ...question }) => {
      questions.push({ ...question, aborted: signal.aborted })
      return "allow"
    }
    const messages = [user("Delete it")]
    await gated({ permissions: { mode: "acceptEdits", ask }, context: { user: "u1" }, messages }, call("c7"))
    expect(questions).toEqual([
      { toolCall: call("c7"), tool: bash, mode: "acceptEdits", context: { user: "u1" }, messages, aborted: false }
    ])
  })

  test("GATE5 arguments that were edited are what the hooks see, and a hook can edit them again", async () => {
    const seen: Array<unknown> = []
    const ask: Ask = () => ({ type: "allow", arguments: { command: "pwd" } })
    const hook: Hooks.Hook<"PreToolUse"> = ({ arguments: args }) => {
      seen.push(args)
      return { type: "allow", arguments: { ...args, cwd: "/" } }
    }
    const verdict = await gated({ permissions: { ask }, hooks: { PreToolUse: [hook] } })
    expect(seen).toEqual([{ command: "pwd" }])
    expect(verdict).toEqual({
      type: "allow",
      edited: true,
      given: { command: "pwd" },
      toolCall: { id: "c1", name: "bash", arguments: { command: "pwd", cwd: "/" } }
    })
  })
})

describe("the gate of a batch", () => {
  const calls = ["a", "b", "c"].map((id) => ({ toolCall: call(id), tool: bash }))

  test("GATE2 questions come one after another, in call order", async () => {
    let open = 0
    const log: Array<string> = []
    const ask: Ask = async ({ toolCall }) => {
      expect(++open).toBe(1)
      await Promise.resolve()
      log.push(toolCall.id)
      open--
      return { type: "allow" }
    }
    await gateBatch(calls, { permissions: { ask }, signal: new AbortController().signal })
    expect(log).toEqual(["a", "b", "c"])
  })

  test("GATE3 after a halt no call is judged", async () => {
    const ask: Ask = ({ toolCall }) => (toolCall.id === "b" ? "halt" : "allow")
    const verdicts = await gateBatch(calls, { permissions: { ask }, signal: new AbortController().signal })
    expect(verdicts.map(({ type }) => type)).toEqual(["allow", "halt"])
  })

  test("GATE4 an aborted gate ends at once, and aborts the question", async () => {
    const leaving = new AbortController()
    const open = Promise.withResolvers<AbortSignal>()
    const ask: Ask = ({ signal }) => {
      open.resolve(signal)
      return new Promise(() => undefined)
    }
    const verdicts = gateBatch(calls, { permissions: { ask }, signal: leaving.signal })
    const signal = await open.promise
    leaving.abort()
    expect((await verdicts).map(({ type }) => type)).toEqual(["aborted"])
    expect(signal.aborted).toBe(true)
  })

  test("options without permissions and without hooks before a call have no gate", () => {
    expect(isGated({})).toBe(false)
    expect(isGated({ hooks: { PreToolUse: [], PostToolUse: [() => "ok"] } })).toBe(false)
    expect(isGated({ permissions: {} })).toBe(true)
    expect(isGated({ hooks: { PreToolUse: [() => "ok"] } })).toBe(true)
  })
})
