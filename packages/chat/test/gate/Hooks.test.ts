import { Clock, System } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { describe, expect, test } from "vitest"
import { ValidationError } from "../../src/errors/ChatError.ts"
import * as Engine from "../../src/options/Engine.ts"
import * as Hooks from "../../src/gate/Hooks.ts"
import { resolveOptions } from "../../src/options/resolveOptions.ts"
import { system, user } from "../../src/model/Message.ts"
import { denial } from "../../src/gate/permissionRules.ts"
import type { ToolCall } from "../../src/model/ToolCall.ts"

const bash: ToolCall = { id: "c1", name: "bash", arguments: { command: "ls" } }
const running = (): Hooks.HookRun => ({ signal: new AbortController().signal })

/** A hook that notes that it ran, and answers this. */
const answering = (answer: Hooks.HookAnswer, ran: Array<unknown> = []) => {
  return (payload: unknown): Hooks.HookAnswer => {
    ran.push(payload)
    return answer
  }
}

const throwing = (): never => {
  throw new Error("boom")
}

const pre = (PreToolUse: Hooks.Hooks["PreToolUse"], toolCall = bash) =>
  Hooks.preTool({ PreToolUse }, toolCall, running())

const used = { ...Hooks.toolUse(bash), result: "out", outcome: "completed" } as const
const post = (PostToolUse: Hooks.Hooks["PostToolUse"], payload: Hooks.Payloads["PostToolUse"] = used) =>
  Hooks.postTool({ PostToolUse }, payload, running())

const prompt = { prompt: "hi", sessionId: undefined, messages: [user("hi")] }
const submitted = (UserPromptSubmit: Hooks.Hooks["UserPromptSubmit"]) =>
  Hooks.lifecycle({ UserPromptSubmit }, "UserPromptSubmit", prompt, running())

describe("hooks before a call", () => {
  test("66 the first refusal or halt is the last word, and later hooks do not run", async () => {
    const ran: Array<unknown> = []
    const later = answering("ok", ran)
    expect(await pre([answering({ type: "deny", reason: "a" }), later])).toEqual({ type: "deny", reason: "a" })
    expect(await pre([{ hooks: [answering({ type: "halt", reason: "b" }), later] }])).toEqual({
      type: "halt",
      reason: "b"
    })
    expect(ran).toEqual([])
  })

  test("a word alone is the answer without its details", async () => {
    expect(await pre([answering("deny")])).toMatchObject({ type: "deny" })
    expect(await pre([answering("halt")])).toEqual({ type: "halt", reason: "halt" })
    expect(await pre([answering("allow"), answering("ok"), answering(undefined)])).toEqual({ type: "allow" })
  })

  test("67 a hook that throws or rejects is a halt with the reason hook_crashed", async () => {
    const crash = { type: "halt", reason: "hook_crashed", message: "boom" }
    expect(await pre([throwing])).toMatchObject(crash)
    expect(await pre([() => Promise.reject(new Error("boom"))])).toMatchObject(crash)
    expect(await pre([() => Effect.fail("boom")])).toMatchObject(crash)
    expect(await pre([() => Effect.die(new Error("boom"))])).toMatchObject(crash)
  })

  test("67 answers that do not count before a call mean that all is well", async () => {
    const foreign: ReadonlyArray<unknown> = [
      42,
      "anything",
      null,
      [],
      { type: "augment", text: "x" },
      { type: "inject", messages: [] }
    ]
    for (const answer of foreign) expect(await pre([answering(answer as Hooks.HookAnswer)])).toEqual({ type: "allow" })
  })

  test("a refusal for programs is handed on as it is", async () => {
    const refusal = denial("sandbox_violation", "outside the folder", { path: "/etc" })
    expect(await pre([answering({ type: "deny", reason: refusal })])).toEqual({
      type: "deny",
      reason: "outside the folder",
      denial: refusal
    })
  })

  test("arguments that a hook put in the call's place are seen by the next, and by the call", async () => {
    const seen: Array<unknown> = []
    const editing = answering({ type: "allow", arguments: { command: "pwd" } })
    const verdict = await pre([editing, answering("ok", seen)])
    expect(verdict).toEqual({ type: "allow", arguments: { command: "pwd" } })
    expect(seen).toEqual([
      { toolCall: { ...bash, arguments: { command: "pwd" } }, toolName: "bash", arguments: { command: "pwd" } }
    ])
    expect(bash.arguments).toEqual({ command: "ls" })
  })

  test("arguments that are no object, and reserved reasons to halt, are faults of the hook", async () => {
    const edit: unknown = { type: "allow", arguments: ["ls"] }
    expect(await pre([answering(edit as Hooks.HookAnswer)])).toMatchObject({ type: "halt", reason: "hook_crashed" })
    for (const reason of ["completed", "", "  ", 5, null, {}] as ReadonlyArray<string>) {
      const halting = [answering({ type: "halt", reason })]
      expect(await pre(halting)).toMatchObject({ reason: "hook_crashed" })
      expect(await post(halting)).toMatchObject({ reason: "hook_crashed" })
    }
  })

  test("what hooks added to a result stays when a later one halts or fails", async () => {
    const added: Hooks.HookAnswer = { type: "augment", text: "1 hint" }
    expect(await post([answering(added), answering({ type: "halt", reason: "enough" })])).toEqual({
      type: "halt",
      reason: "enough",
      text: "1 hint"
    })
    expect(await post([answering(added), answering({ type: "halt", reason: "" })])).toMatchObject({
      reason: "hook_crashed",
      text: "1 hint"
    })
  })

  test("a group is for the tools whose names its pattern is found in", async () => {
    const fired = async (match: string | RegExp, name: string): Promise<boolean> =>
      (await pre([{ match, hooks: [answering("deny")] }], { ...bash, name })).type === "deny"
    expect(await fired("write|edit", "write")).toBe(true)
    expect(await fired("write|edit", "read")).toBe(false)
    expect(await fired("ash", "bash")).toBe(true)
    expect(await fired("Bash", "bash")).toBe(false)
    expect(await fired("^as", "bash")).toBe(false)
    expect(await fired(/BASH/i, "bash")).toBe(true)
  })

  test("what an expression found before does not count", async () => {
    const match = /bash/g
    const twice = [
      await pre([{ match, hooks: [answering("deny")] }]),
      await pre([{ match, hooks: [answering("deny")] }])
    ]
    expect(twice.map(({ type }) => type)).toEqual(["deny", "deny"])
  })

  test("a pattern that cannot be read is a fault, here and in the options", async () => {
    expect(await pre([{ match: "(", hooks: [answering("ok")] }])).toMatchObject({ reason: "hook_crashed" })
  })

  test("a hook is waited for, whether it answers with a promise or an effect", async () => {
    expect(await pre([async () => "deny" as const])).toMatchObject({ type: "deny" })
    expect(await pre([() => Effect.succeed("deny" as const)])).toMatchObject({ type: "deny" })
  })

  test("HEAR2 when nobody waits the hook's signal is aborted, and the verdict says so", async () => {
    const leaving = new AbortController()
    const notified = Promise.withResolvers<AbortSignal>()
    const hook = (_: unknown, { signal }: Hooks.HookContext): Promise<never> => {
      notified.resolve(signal)
      return new Promise(() => undefined)
    }
    const verdict = Hooks.preTool({ PreToolUse: [hook] }, bash, { signal: leaving.signal })
    const signal = await notified.promise
    expect(signal.aborted).toBe(false)
    leaving.abort()
    expect(await verdict).toEqual({ type: "aborted" })
    expect(signal.aborted).toBe(true)
  })

  test("HEAR2 a hook that gives no answer in time has crashed, and its signal is aborted", async () => {
    const clock = Clock.test()
    const inTime = System.make({ clock })
    let signal: AbortSignal | undefined
    const hook = (_: unknown, context: Hooks.HookContext): Promise<never> => {
      signal = context.signal
      return new Promise(() => undefined)
    }
    const verdict = Hooks.preTool({ PreToolUse: [hook] }, bash, { ...running(), system: inTime, timeoutMs: 100 })
    await clock.advance(100)
    expect(await verdict).toMatchObject({ reason: "hook_crashed", message: "no answer within 100 ms" })
    expect(signal?.aborted).toBe(true)
    await System.stop(inTime)
  })

  test("HEAR3 a hook that has answered leaves no timer and no listener", async () => {
    const clock = Clock.test()
    const inTime = System.make({ clock })
    await Hooks.preTool({ PreToolUse: [answering("ok")] }, bash, { ...running(), system: inTime, timeoutMs: 100 })
    expect(clock.pending).toBe(0)
    await System.stop(inTime)
  })
})

describe("hooks after a call", () => {
  test("texts are joined by a newline, and an empty first one is none", async () => {
    const texts = (...all: ReadonlyArray<string>) => post(all.map((text) => answering({ type: "augment", text })))
    expect(await texts("x", "y")).toEqual({ type: "augment", text: "x\ny" })
    expect(await texts("")).toEqual({ type: "ok" })
    expect(await texts("", "y")).toEqual({ type: "augment", text: "y" })
    expect(await texts("x", "")).toEqual({ type: "augment", text: "x\n" })
  })

  test("a halt is the last word, and a refusal comes too late", async () => {
    const ran: Array<unknown> = []
    const halting = answering({ type: "halt", reason: "h" }, ran)
    expect(await post([answering({ type: "augment", text: "x" }, ran), halting, answering("ok", ran)])).toEqual({
      type: "halt",
      reason: "h",
      text: "x"
    })
    expect(ran).toEqual([used, used])
    expect(await post([answering({ type: "deny", reason: "late" })])).toEqual({ type: "ok" })
  })

  test("a hook that throws is a halt, and groups match as before a call", async () => {
    expect(await post([throwing])).toMatchObject({ type: "halt", reason: "hook_crashed", message: "boom" })
    const group = { match: "^(edit|write)$", hooks: [answering({ type: "augment", text: "d" })] }
    expect(await post([group])).toEqual({ type: "ok" })
    expect(await post([group], { ...used, toolName: "edit" })).toEqual({ type: "augment", text: "d" })
  })
})

describe("hooks whose answers do not count", () => {
  test("65 a halt and a fault of theirs change nothing, and the others are called", async () => {
    const ran: Array<unknown> = []
    const payload = { ...Hooks.toolUse(bash), reason: "no" }
    const PermissionDenied = [answering("halt", ran), throwing, answering("ok", ran)]
    await Hooks.notify({ PermissionDenied }, "PermissionDenied", payload, running())
    expect(ran).toEqual([payload, payload])
  })
})

describe("hooks in the life of a chat", () => {
  test("injected messages add up, one or many", async () => {
    const [one, two, three] = [system("m1"), system("m2"), user("m3")]
    const verdict = await submitted([
      answering({ type: "inject", messages: one }),
      answering({ type: "inject", messages: [two, three] })
    ])
    expect(verdict).toEqual({ injects: [one, two, three], transform: undefined, halt: undefined })
  })

  test("the last transform counts, and only text transforms", async () => {
    const five: unknown = { type: "transform", prompt: 5 }
    const verdict = await submitted([
      answering({ type: "transform", prompt: "x" }),
      answering(five as Hooks.HookAnswer),
      answering({ type: "transform", prompt: "y" })
    ])
    expect(verdict.transform).toBe("y")
  })

  test("a halt stops later hooks and keeps what was injected before", async () => {
    const ran: Array<unknown> = []
    const verdict = await submitted([
      answering({ type: "inject", messages: system("m") }),
      answering({ type: "halt", reason: "enough" }),
      answering("ok", ran)
    ])
    expect(verdict).toMatchObject({ injects: [system("m")], halt: { reason: "enough" } })
    expect(ran).toEqual([])
  })

  test("a fault and a group are halts; a refusal and what is no message mean nothing", async () => {
    const group: unknown = { hooks: [] }
    const foreign: unknown = { type: "inject", messages: [5, { role: "nobody" }] }
    expect((await submitted([throwing])).halt).toMatchObject({ reason: "hook_crashed", message: "boom" })
    expect((await submitted([group as Hooks.Hook<"UserPromptSubmit">])).halt).toMatchObject({ reason: "hook_crashed" })
    expect(await submitted([answering("deny"), answering(foreign as Hooks.HookAnswer)])).toEqual({
      injects: [],
      transform: undefined,
      halt: undefined
    })
  })

  test("an event without hooks comes to nothing", async () => {
    expect(await submitted(undefined)).toEqual({ injects: [], transform: undefined, halt: undefined })
    expect(Hooks.has({ Stop: [] }, "Stop")).toBe(false)
    expect(Hooks.has({ Stop: [throwing] }, "SessionEnd", "Stop")).toBe(true)
  })
})

describe("the options of hooks", () => {
  test("unknown events, things that are no hooks and unreadable patterns are named by their places", () => {
    const hooks = {
      Stopp: [],
      Stop: throwing,
      SessionEnd: [{ hooks: [] }],
      PreToolUse: [throwing, { match: "(" }, { match: 5, hooks: [] }, { hooks: [], matcher: "x" }, 5]
    }
    const fields = refusalOf({ hooks }).map(({ field }) => field.join("."))
    expect(fields).toEqual([
      "hooks.Stopp",
      "hooks.Stop",
      "hooks.SessionEnd.0",
      "hooks.PreToolUse.1.match",
      "hooks.PreToolUse.1.hooks",
      "hooks.PreToolUse.2.match",
      "hooks.PreToolUse.3.matcher",
      "hooks.PreToolUse.4"
    ])
    expect(refusalOf({ hooks: [] })).toHaveLength(1)
  })
})

const refusalOf = (options: object): ValidationError["errors"] => {
  try {
    resolveOptions(Engine.make({}), options)
  } catch (thrown) {
    if (thrown instanceof ValidationError) return thrown.errors
    throw thrown
  }
  return []
}
