import { describe, expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import type { ChatOptions } from "../../src/options/ChatOptions.ts"
import * as Dispatch from "../../src/batch/Dispatch.ts"
import * as Engine from "../../src/options/Engine.ts"
import { error, ok } from "../../src/values/HandlerResult.ts"
import { copied } from "../../src/json/structuralSharing.ts"
import { make } from "../../src/tool/Tool.ts"
import type { ToolCall } from "../../src/model/ToolCall.ts"
import * as Zombies from "../../src/call/Zombies.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, handling, hi, says } from "../double/scripts.ts"
import type { Handler, Tool } from "../../src/tool/toolContract.ts"

const check = leakCheck()

const written = { path: "a", list: [1, { deep: true }] }

/** Changes whatever can be changed, and every part of it. */
const spoil = (value: unknown): void => {
  if (typeof value !== "object" || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    spoil(inner)
    Reflect.set(value, key, "spoiled")
  }
  Reflect.set(value, "added", "spoiled")
}

/** What the thread says was called, and what the next request says, behind a turn in which somebody spoils what he gets. */
const calledWith = async (tool: Tool, options: ChatOptions = {}) => {
  const adapter = check.fake({ scripts: [calls([tool.name, structuredClone(written)]), says("ok")] })
  const { thread, steps } = await Chat.run(Engine.make({ adapter, tools: [tool] }), hi, options)
  const [, assistant] = thread.messages
  const called = assistant?.role === "assistant" ? assistant.toolCalls : undefined
  const [, sent] = adapter.requests[1]?.messages ?? []
  return { called, sent: sent?.role === "assistant" ? sent.toolCalls : undefined, results: steps[0]?.toolResults }
}

const asWritten = [expect.objectContaining({ id: "c0", arguments: written })]

describe("a handler that changes what it is handed", () => {
  const handlers: Readonly<Record<string, Handler>> = {
    arguments: (args) => {
      spoil(args)
      return ok("done")
    },
    "the call of its context": (_, { toolCall }) => {
      spoil(toolCall)
      return ok("done")
    }
  }
  test.each(Object.entries(handlers))("changes no thread and no request: %s", async (_, handler) => {
    const { called, sent, results } = await calledWith(handling("t", handler))
    expect(called).toEqual(asWritten)
    expect(sent).toEqual(asWritten)
    expect(results).toMatchObject([{ toolCallId: "c0", outcome: "completed", content: "done" }])
  })

  test("runs again with the arguments that the model wrote", async () => {
    const seen: Array<string> = []
    const { troupe, clock } = await check.troupe({
      adapter: check.fake({ scripts: [calls(["t", structuredClone(written)]), says("ok")] }),
      tools: [
        handling("t", (args) => {
          seen.push(JSON.stringify(args))
          spoil(args)
          return seen.length > 1 ? ok("done") : new Promise(() => {})
        })
      ]
    })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    await until(() => seen.length === 1)
    const restarted = chat.restartToolCall("c0")
    await clock.advance(1_000)
    await restarted
    await turn.result()
    expect(seen).toEqual([JSON.stringify(written), JSON.stringify(written)])
  })

  test("does not hide a loop that goes nowhere from its guard", async () => {
    let count = 0
    const adapter = check.fake({ respond: (_, n) => (n > 9 ? says("ok") : calls("t")) })
    const tool = handling("t", (args) => {
      args["count"] = count++
      return ok("same")
    })
    const result = await Chat.run(Engine.make({ adapter, tools: [tool] }), hi, { maxUnproductive: 2 })
    expect(result.haltedReason).toBe("no_progress")
  })

  test("changes nothing when its call is long over", async () => {
    const late = Promise.withResolvers<void>()
    const { troupe, system, clock } = await check.troupe({
      adapter: check.fake({ scripts: [calls(["t", structuredClone(written)]), says("ok")] }),
      tools: [
        handling("t", async (args, { toolCall }) => {
          await late.promise
          spoil(args)
          spoil(toolCall)
          return ok(1)
        })
      ],
      toolTimeoutMs: 50
    })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    await until(() => chat.getSnapshot()?.context.toolCalls[0]?.status === "running")
    await clock.advance(50)
    await turn.result()
    late.resolve()
    await until(() => Zombies.counts(system).late === 1)
    expect(chat.thread.messages[1]).toMatchObject({ toolCalls: asWritten })
  })
})

describe("each observer of a call", () => {
  const spoils = (notified: unknown): void => spoil(notified)
  const options: Readonly<Record<string, ChatOptions>> = {
    "a question": {
      permissions: {
        ask: ({ toolCall }) => {
          spoil(toolCall)
          return "allow"
        }
      }
    },
    "a hook before it": { hooks: { PreToolUse: [spoils, (use) => spoil(use)] } },
    "a hook before the question": { permissions: { ask: () => "allow" }, hooks: { PermissionRequest: [spoils] } },
    "a hook behind it": { hooks: { PostToolUse: [spoils], PostToolUseFailure: [spoils] } },
    "the function that chooses its deadline": {
      toolTimeoutMs: (toolCall) => {
        spoil(toolCall)
        return 1_000
      }
    },
    "the function that says whether it reads": {
      permissions: {
        mode: "plan",
        readOnly: (toolCall) => {
          spoil(toolCall)
          return true
        }
      }
    },
    "the policy for its failure": {
      onToolError: (toolCall) => {
        spoil(toolCall)
        return { continue: "done" }
      }
    }
  }
  test.each(Object.entries(options))("changes nothing by changing its arguments: %s", async (who, given) => {
    const seen: Array<unknown> = []
    const tool = handling("t", (args) => {
      seen.push(structuredClone(args))
      return who === "the policy for its failure" ? error("no") : ok("done")
    })
    const { called, sent, results } = await calledWith(tool, given)
    expect(seen).toEqual([written])
    expect(called).toEqual(asWritten)
    expect(sent).toEqual(asWritten)
    expect(results).toMatchObject([{ toolCallId: "c0", content: "done" }])
  })

  test("cannot change arguments that it gave by keeping them", async () => {
    const kept = { path: "b" }
    const seen: Array<unknown> = []
    const tool = make({
      name: "t",
      handler: (args) => {
        kept.path = "c"
        seen.push(structuredClone(args))
        return ok(1)
      }
    })
    const { results } = await calledWith(tool, {
      hooks: { PreToolUse: [() => ({ type: "allow", arguments: kept })] }
    })
    expect(seen).toEqual([{ path: "b" }])
    expect(results?.[0]?.metadata).toEqual({ arguments: { path: "b" } })
  })

  test("a runner of a dispatcher has a call of its own", async () => {
    const given: ReadonlyArray<ToolCall> = [{ id: "a", name: "x", arguments: structuredClone(written) }]
    await Dispatch.run(given, {}, (toolCall, state) => {
      spoil(toolCall)
      return ["r", state]
    })
    expect(given).toEqual([{ id: "a", name: "x", arguments: written }])
  })
})

describe("a copy", () => {
  test("COPY1 shares no object and no list with what it is a copy of, however deep", () => {
    let deep: unknown = []
    for (let depth = 0; depth < 50_000; depth++) deep = [deep]
    expect(copied(deep) === deep).toBe(false)
    const self: Record<string, unknown> = {}
    self["self"] = self
    const own = copied(self)
    expect(own).not.toBe(self)
    expect(own["self"]).toBe(own)
    const bytes = new Uint8Array(1)
    expect(copied({ bytes }).bytes).toBe(bytes)
    const hostile = JSON.parse('{"__proto__":{"a":[1]}}') as Record<string, unknown>
    const copy = copied(hostile)
    expect(Object.keys(copy)).toEqual(["__proto__"])
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype)
    expect(JSON.stringify(copy)).toBe(JSON.stringify(hostile))
  })

  test("COPY2 a getter is read once", () => {
    let reads = 0
    const copy = copied({
      get n() {
        return { read: ++reads }
      }
    })
    expect([copy.n, copy.n, reads]).toEqual([{ read: 1 }, { read: 1 }, 1])
  })
})
