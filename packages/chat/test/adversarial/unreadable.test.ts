import { describe, expect, test } from "vitest"
import type { Hooks, LifecycleEvent, ToolHookEvent } from "../../src/gate/Hooks.ts"
import type { Answer } from "../../src/gate/permissionRules.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, echo, says } from "../double/scripts.ts"

const check = leakCheck()

const trap = (): never => {
  throw new Error("do not look")
}

/** An object whose field throws when it is read. */
const trapped = (fields: object, field: string): object =>
  Object.defineProperty(fields, field, { get: trap, enumerable: true })

/** Answers of which some part throws when it is read. */
const unreadable: Readonly<Record<string, () => unknown>> = {
  type: () => trapped({}, "type"),
  reason: () => trapped({ type: "deny" }, "reason"),
  "a denial": () => ({ type: "deny", reason: trapped({ code: "unknown", metadata: {} }, "reason") }),
  "a denial's metadata": () => ({ type: "deny", reason: { reason: "r", code: "unknown", metadata: trapped({}, "m") } }),
  arguments: () => trapped({ type: "allow" }, "arguments"),
  "an argument": () => ({ type: "allow", arguments: trapped({}, "x") }),
  text: () => trapped({ type: "augment" }, "text"),
  messages: () => ({ type: "inject", messages: [trapped({ role: "user" }, "content")] }),
  params: () => ({ type: "params", params: trapped({}, "model") }),
  everything: () => new Proxy({}, { get: trap, has: trap, ownKeys: trap, getPrototypeOf: trap })
}

const answers = Object.keys(unreadable)

const turnWith = async (options: object) => {
  const { troupe } = await check.troupe({
    adapter: check.fake({ scripts: [calls("echo"), says("ok"), says("ok")] }),
    tools: [echo],
    ...options
  })
  const chat = await troupe.chat("c")
  const result = await chat.send("go").result()
  // The chat is the same process, and goes on.
  expect((await chat.send("again").result()).haltedReason).toBe("completed")
  return { result, outcomes: result.steps.flatMap(({ toolResults }) => toolResults.map(({ outcome }) => outcome)) }
}

/** Only the first answer of an event cannot be read. */
const once = (what: string): (() => unknown) => {
  let asked = 0
  return () => (asked++ === 0 ? unreadable[what]?.() : undefined)
}

describe("an answer that throws when it is read", () => {
  test.each(answers)("GATE1 refuses the call that was asked about: %s", async (what) => {
    const { result, outcomes } = await turnWith({ permissions: { ask: () => unreadable[what]?.() as Answer } })
    expect(outcomes).toEqual(["denied"])
    expect(result.haltedReason).toBe("completed")
  })

  test.each(answers)("ANSW1 ends the turn with hook_crashed before a call, which does not run: %s", async (what) => {
    const { result, outcomes } = await turnWith({ hooks: { PreToolUse: [once(what)] } })
    expect(outcomes).toEqual(["denied"])
    expect(result.haltedReason).toBe("hook_crashed")
  })

  test.each(answers)("ANSW1 ends the turn with hook_crashed after a call, which has run: %s", async (what) => {
    const { result, outcomes } = await turnWith({ hooks: { PostToolUse: [once(what)] } })
    expect(outcomes).toEqual(["completed"])
    expect(result.haltedReason).toBe("hook_crashed")
  })

  const seen: ReadonlyArray<LifecycleEvent> = ["UserPromptSubmit", "PreIteration", "ChatParams"]
  test.each(seen.flatMap((event) => answers.map((what) => [event, what] as const)))(
    "HOOK4 ends the turn with hook_crashed at %s: %s",
    async (event, what) => {
      const { result } = await turnWith({ hooks: { [event]: [once(what)] } satisfies Record<string, unknown> })
      expect(result.haltedReason).toBe("hook_crashed")
    }
  )

  const deaf: ReadonlyArray<LifecycleEvent | ToolHookEvent> = ["SessionStart", "Stop", "PermissionRequest"]
  test.each(deaf)("changes nothing at %s, where no answer counts", async (event) => {
    const hooks = { [event]: [once("everything")] } as Hooks
    const { result, outcomes } = await turnWith({ hooks, permissions: { ask: () => "allow" } })
    expect([result.haltedReason, ...outcomes]).toEqual(["completed", "completed"])
  })
})
