import { describe, expect, test } from "vitest"
import { Clock, Process, System } from "@troupe/otp"
import { Effect } from "effect"
import { Chat, Engine, error, Fake, ok, tool, Troupe, user } from "../../src/index.ts"
import { SessionError, ToolError, ValidationError } from "../../src/errors.ts"
import type { ChatOptions } from "../../src/chats.ts"
import type { ToolCall } from "../../src/messages.ts"
import { type Conversation, Codec, type Store } from "../../src/store.ts"
import type { Permissions, Tool } from "../../src/tools.ts"

/** Sets the mode its argument names, and says what came of it. */
const setsMode = (failures: Array<unknown> = []): Tool.Tool =>
  tool({
    name: "set",
    effect: "read",
    execute: async ({ mode }, { setPermissionMode }) => {
      try {
        await setPermissionMode(mode as Permissions.Mode)
        return `now ${String(mode)}`
      } catch (failure) {
        failures.push(failure)
        throw failure
      }
    }
  })

const write = tool({ name: "write", execute: () => "written" })

const set = (mode: string, id = mode): Partial<ToolCall.ToolCall> => ({ id, name: "set", arguments: { mode } })
const writing = (id: string): Partial<ToolCall.ToolCall> => ({ id, name: "write", arguments: {} })

const calling = (...batches: ReadonlyArray<ReadonlyArray<Partial<ToolCall.ToolCall>>>): Fake.Fake =>
  Fake.make({
    scripts: [
      ...batches.map((calls) => [...calls.map((toolCall) => ({ toolCall })), { finish: "tool_calls" }]),
      [{ text: "done" }, { finish: "stop" }]
    ] as Array<Fake.Script>
  })

const run = async (adapter: Fake.Fake, options: ChatOptions = {}) => {
  const failures: Array<unknown> = []
  const engine = Engine.make({ adapter, tools: [setsMode(failures), write] })
  const result = await Chat.run(engine, [user("go")], options)
  const outcomes = result.steps.map(({ toolResults }) => toolResults.map(({ outcome }) => outcome))
  return { result, failures, outcomes: outcomes.filter((batch) => batch.length > 0) }
}

describe("the mode that a call requests", () => {
  test("PMODE1 counts from the next batch on, and of several the last in call order", async () => {
    const adapter = calling([set("plan"), writing("a")], [writing("b")], [set("acceptEdits"), set("default")])
    const { result, outcomes } = await run(adapter, { permissions: { mode: "trusted" } })
    expect(outcomes).toEqual([["completed", "completed"], ["denied"], ["completed", "completed"]])
    expect(result.steps.map(({ permissionMode }) => permissionMode)).toEqual(["plan", undefined, "default", undefined])
    expect(result.permissionMode).toBe("default")
  })

  test("PMODE1 of a batch is folded in call order, whoever ends first", async () => {
    let free: (() => void) | undefined
    const waits = tool({
      name: "waits",
      execute: async (_, { setPermissionMode }) => {
        await new Promise<void>((resolve) => (free = resolve))
        await setPermissionMode("plan")
      }
    })
    const frees = tool({
      name: "frees",
      execute: async (_, { setPermissionMode }) => {
        await setPermissionMode("acceptEdits")
        free?.()
      }
    })
    const adapter = calling([
      { id: "1", name: "waits" },
      { id: "2", name: "frees" }
    ])
    const { permissionMode } = await Chat.run(Engine.make({ adapter, tools: [waits, frees] }), [user("go")], {
      permissions: { mode: "trusted" }
    })
    expect(permissionMode).toBe("acceptEdits")
  })

  test("counts where the options have no permissions", async () => {
    const { outcomes } = await run(calling([set("plan")], [writing("a")]))
    expect(outcomes).toEqual([["completed"], ["denied"]])
  })

  test("a result says nothing of a mode nobody set", async () => {
    const { result } = await run(calling([writing("a")]), { permissions: { mode: "trusted" } })
    expect(result).not.toHaveProperty("permissionMode")
  })

  test("what is no mode is refused, and changes nothing", async () => {
    const { result, failures } = await run(calling([set("yolo")]))
    expect(failures).toEqual([expect.any(ValidationError)])
    expect(result).not.toHaveProperty("permissionMode")
  })

  test("a call that is over sets no mode", async () => {
    let late: Promise<unknown> | undefined
    const leaves = tool({
      name: "set",
      execute: (_, { setPermissionMode }) => {
        late = Promise.resolve().then(() => setPermissionMode("plan"))
        late.catch(() => undefined)
        return "gone"
      }
    })
    const adapter = calling([set("plan")])
    const result = await Chat.run(Engine.make({ adapter, tools: [leaves] }), [user("go")])
    await expect(late).rejects.toMatchObject({ reason: "cancelled" })
    expect(result).not.toHaveProperty("permissionMode")
  })

  test("a handler that waits for nothing sets it all the same", async () => {
    const hasty = tool({ name: "set", execute: (_, { setPermissionMode }) => void setPermissionMode("plan") })
    const result = await Chat.run(Engine.make({ adapter: calling([set("plan")]), tools: [hasty] }), [user("go")])
    expect(result.permissionMode).toBe("plan")
  })
})

describe("how loose a call may make the run", () => {
  test("PMODE2 a plan of the host is not left where nobody can be asked", async () => {
    const { result, failures, outcomes } = await run(calling([set("default")], [writing("a")]), {
      permissions: { mode: "plan" }
    })
    expect(failures).toEqual([expect.any(ToolError)])
    expect(failures[0]).toMatchObject({ reason: "denied", metadata: { code: "phase_gated", mode: "default" } })
    expect(outcomes).toEqual([["denied"], ["denied"]])
    expect(result).not.toHaveProperty("permissionMode")
  })

  test("PMODE2 a plan of the host is left when a person agrees, whose question has the call and the mode", async () => {
    const asked: Array<unknown> = []
    const ask: Permissions.Ask = ({ toolCall, mode, wants }) => {
      asked.push([toolCall.id, mode, wants])
      return "allow"
    }
    const { result, outcomes } = await run(calling([set("default", "1")], [writing("2")]), {
      permissions: { mode: "plan", ask }
    })
    expect(asked).toEqual([
      ["1", "plan", undefined],
      ["1", "plan", "default"],
      ["2", "default", undefined]
    ])
    expect(outcomes).toEqual([["completed"], ["completed"]])
    expect(result.permissionMode).toBe("default")
  })

  const nonsense = (answer: unknown) => () => answer as Permissions.Answer
  const overdrawn = { reason: "too dear", code: "budget_exceeded", metadata: { euros: 9 } } as const
  test.each([
    ["user_denied", "a refusal", () => "deny" as const],
    ["user_denied", "a refusal with a reason", () => ({ type: "deny", reason: "no" })],
    ["budget_exceeded", "a refusal for programs", () => ({ type: "deny", reason: overdrawn })],
    ["user_denied", "a halt", () => "halt" as const],
    ["user_denied", "a suspension", () => "suspend" as const],
    ["unknown", "a number", nonsense(7)],
    ["unknown", "nothing", nonsense(undefined)],
    ["unknown", "an unknown word", nonsense("yes")],
    ["unknown", "a member that no answer has", nonsense({ type: "allow", args: {} })],
    [
      "unknown",
      "a throw",
      () => {
        throw new Error("gone")
      }
    ]
  ] satisfies ReadonlyArray<[string, string, () => Permissions.Answer]>)(
    "PMODE2. A refusal has the code of its cause: %s for %s",
    async (code, _, answer) => {
      const ask: Permissions.Ask = ({ wants }) => (wants === undefined ? "allow" : answer())
      const { result, failures, outcomes } = await run(calling([set("default")]), {
        permissions: { mode: "plan", ask }
      })
      expect(failures).toMatchObject([{ reason: "denied", metadata: { code, mode: "default" } }])
      expect(outcomes).toEqual([["denied"]])
      expect(result).not.toHaveProperty("permissionMode")
    }
  )

  /** The hooks that were called for one call, with what they were given. */
  const seen = () => {
    const log: Array<readonly [event: string, reason: unknown]> = []
    const note = (event: string) => (payload: object) => {
      log.push([event, "denial" in payload ? payload.denial : "reason" in payload ? payload.reason : undefined])
    }
    const hooks: ChatOptions["hooks"] = {
      PermissionDenied: [note("PermissionDenied")],
      ToolDenied: [note("ToolDenied")],
      PostToolUse: [note("PostToolUse")],
      PostToolUseFailure: [note("PostToolUseFailure")]
    }
    return { log, hooks }
  }
  const why =
    "set may not set the permission mode to trusted: nobody can be asked, and default is as loose as it may be"

  test("PMODE5. A call that ends with that refusal is denied: its hooks are called, and no policy is asked", async () => {
    const { log, hooks } = seen()
    const policies: Array<unknown> = []
    const onToolError = (_: unknown, failure: unknown) => (policies.push(failure), "halt" as const)
    const { result } = await run(calling([set("trusted")]), { hooks, onToolError })
    expect(log).toEqual([
      ["PermissionDenied", why],
      ["ToolDenied", { reason: why, code: "phase_gated", metadata: { mode: "trusted" } }]
    ])
    expect(policies).toEqual([])
    expect(result.haltedReason).toBe("completed")
    expect(result.steps[0]?.toolResults).toMatchObject([{ outcome: "denied", content: why }])
  })

  const ending = (execute: Parameters<typeof tool>[0]["execute"]) =>
    tool({ name: "set", effect: "read", execute: execute ?? (() => "") })
  test.each([
    ["throws", ending((_, context) => context.setPermissionMode("trusted"))],
    [
      "throws while another is refused",
      ending((_, { setPermissionMode }) => Promise.all([setPermissionMode("trusted"), setPermissionMode("bypass")]))
    ],
    ["returns it as its failure", ending((_, { setPermissionMode }) => setPermissionMode("trusted").catch(error))],
    [
      "fails in an effect with it",
      ending((_, { setPermissionMode }) => Effect.promise(() => setPermissionMode("trusted")))
    ]
  ])("PMODE5. Also a handler that %s", async (_, asks) => {
    const { log, hooks } = seen()
    const engine = Engine.make({ adapter: calling([set("trusted")]), tools: [asks] })
    const { steps } = await Chat.run(engine, [user("go")], { hooks })
    expect(steps[0]?.toolResults).toMatchObject([{ outcome: "denied", content: why }])
    expect(log.map(([event]) => event)).toEqual(["PermissionDenied", "ToolDenied"])
  })

  test("PMODE5. A handler that goes on after the refusal, or makes one of its own, ends as it says", async () => {
    const { log, hooks } = seen()
    const goesOn = ending((_, { setPermissionMode }) => setPermissionMode("trusted").catch(() => "well then"))
    const own = new ToolError("denied", { message: "no", toolName: "set", toolCallId: "2" })
    const makes = tool({ name: "own", execute: () => Promise.reject(own) })
    const adapter = calling([set("trusted", "1"), { id: "2", name: "own", arguments: {} }])
    const { steps } = await Chat.run(Engine.make({ adapter, tools: [goesOn, makes] }), [user("go")], { hooks })
    expect(steps[0]?.toolResults.map(({ outcome }) => outcome)).toEqual(["completed", "failed"])
    expect(log.map(([event]) => event).toSorted()).toEqual(["PostToolUse", "PostToolUse", "PostToolUseFailure"])
  })

  test("PMODE2 a plan that a call began is left freely, as far as the host's mode", async () => {
    const { result, failures } = await run(calling([set("plan")], [set("default")], [set("trusted")]))
    expect(failures).toMatchObject([{ reason: "denied" }])
    expect(result.permissionMode).toBe("default")
  })

  test("a next run begins in the mode of the last, as loose as the host says", async () => {
    const { result } = await run(calling([set("plan")]), { permissions: { mode: "acceptEdits" } })
    const again = { mode: result.permissionMode, loosest: "acceptEdits" } as const
    const { outcomes } = await run(calling([writing("a")], [set("acceptEdits")], [writing("b")]), {
      permissions: again
    })
    expect(outcomes).toEqual([["denied"], ["completed"], ["completed"]])
  })

  test("no deadline counts while a person is asked, and questions come one after another", async () => {
    const clock = Clock.test()
    const minute = 60_000
    let open = 0
    const ask: Permissions.Ask = async ({ wants }) => {
      if (wants === undefined) return { type: "allow" }
      expect(++open).toBe(1)
      await new Promise<void>((resolve) => void clock.setTimeout(() => resolve(), minute))
      open--
      return { type: "allow" }
    }
    const { result, outcomes } = await clock.run(
      run(calling([set("default", "1"), set("acceptEdits", "2")]), {
        permissions: { mode: "plan", ask },
        toolTimeoutMs: 1_000,
        toolIdleTimeoutMs: 500,
        system: System.make({ clock })
      })
    )
    expect(outcomes).toEqual([["completed", "completed"]])
    expect(result.permissionMode).toBe("acceptEdits")
  })

  test("a deadline counts again behind the answer", async () => {
    const clock = Clock.test()
    const hangs = tool({
      name: "set",
      effect: "read",
      execute: async (_, { setPermissionMode }) => {
        await setPermissionMode("default")
        return new Promise(() => {})
      }
    })
    const system = System.make({ clock })
    const { steps } = await clock.run(
      Chat.run(Engine.make({ adapter: calling([set("x")]), tools: [hangs] }), [user("go")], {
        permissions: { mode: "plan", ask: () => "allow" },
        toolTimeoutMs: 1_000,
        system
      })
    )
    expect(steps[0]?.toolResults[0]?.outcome).toBe("timed_out")
  })
})

describe("a living chat", () => {
  const textStore = () => {
    const texts = new Map<string, string>()
    const store: Store.Store = {
      load: (id) => {
        const text = texts.get(id)
        return text === undefined ? undefined : Codec.decode("ChatRecord", text)
      },
      save: (record: Conversation) => void texts.set(record.id, Codec.encode("ChatRecord", record)),
      delete: (id) => void texts.delete(id)
    }
    return store
  }

  test("the mode is in the snapshot, and survives turns and the program", async () => {
    const store = textStore()
    const tools = [setsMode(), write]
    const first = await Troupe.start({ adapter: calling([set("plan")]), tools, store })
    const chat = await first.chat("a")
    expect(chat.getSnapshot()?.context.permissionMode).toBe("default")
    expect((await chat.send("go").result()).permissionMode).toBe("plan")
    expect(chat.getSnapshot()?.context.permissionMode).toBe("plan")
    await first.stop()
    const second = await Troupe.start({ adapter: calling([writing("a")], [set("default")]), tools, store })
    const revived = await second.chat("a")
    expect(revived.getSnapshot()?.context.permissionMode).toBe("plan")
    const result = await revived.send("on").result()
    expect(result.steps.map(({ toolResults }) => toolResults.map(({ outcome }) => outcome))).toEqual([
      ["denied"],
      ["completed"],
      []
    ])
    expect(result.permissionMode).toBe("default")
    await second.stop()
  })

  test("the host's mode counts at once, and at rest it is stored", async () => {
    const store = textStore()
    const troupe = await Troupe.start({ adapter: calling([set("default")]), tools: [setsMode()], store })
    const chat = await troupe.chat("a")
    await chat.setPermissionMode("plan")
    expect(chat.getSnapshot()?.context.permissionMode).toBe("plan")
    expect(await store.load("a")).toMatchObject({ permissionMode: { mode: "plan", loosest: "plan" } })
    expect((await chat.send("go").result()).permissionMode).toBe("plan")
    await troupe.stop()
    await expect(chat.setPermissionMode("plan")).rejects.toMatchObject({ reason: "chat_stopped" })
  })

  test("a process that dies in a turn loses no mode that was set", async () => {
    const hangs = tool({
      name: "set",
      execute: async (_, { setPermissionMode }) => {
        await setPermissionMode("plan")
        return new Promise(() => {})
      }
    })
    const adapter = calling([set("plan")], [{ id: "2", name: "write", arguments: {} }])
    const troupe = await Troupe.start({ adapter, tools: [hangs, write] })
    const chat = await troupe.chat("a")
    for await (const event of chat.send("go")) {
      if (event.type !== "tool_call_completed") continue
      await chat.setPermissionMode("acceptEdits")
      break
    }
    if (chat.pid !== undefined) Process.exit(chat.pid, "kill")
    const revived = await troupe.chat("a")
    expect(revived.getSnapshot()?.context.permissionMode).toBe("acceptEdits")
    await troupe.stop()
  })

  test("PMODE3 the host's mode counts for the calls of a request that runs", async () => {
    const script = [{ text: "let me" }, { toolCall: writing("a") }, { finish: "tool_calls" }] as Fake.Script
    const adapter = Fake.make({ scripts: [script, [{ finish: "stop" }]] })
    const troupe = await Troupe.start({ adapter, tools: [write] })
    const chat = await troupe.chat("a")
    const turn = chat.send("go")
    for await (const event of turn) if (event.type === "text_delta") await chat.setPermissionMode("plan")
    const { steps } = await turn.result()
    expect(steps[0]?.toolResults.map(({ outcome }) => outcome)).toEqual(["denied"])
    await troupe.stop()
  })

  test("PMODE3 what a person agreed to before the host set another mode does not count", async () => {
    const setByHost = Promise.withResolvers<void>()
    const agreed = Promise.withResolvers<void>()
    const leaves = tool({
      name: "set",
      effect: "read",
      execute: async (_, { setPermissionMode }) => {
        await setPermissionMode("trusted")
        agreed.resolve()
        await setByHost.promise
        return ok("left")
      }
    })
    const troupe = await Troupe.start({
      adapter: calling([{ id: "1", name: "set" }]),
      tools: [leaves],
      permissions: { mode: "plan", ask: () => "allow" }
    })
    const chat = await troupe.chat("a")
    const turn = chat.send("go")
    await agreed.promise
    await chat.setPermissionMode("default")
    setByHost.resolve()
    expect((await turn.result()).permissionMode).toBe("default")
    await troupe.stop()
  })

  test("what is no mode is refused", async () => {
    const troupe = await Troupe.start({ adapter: calling() })
    const chat = await troupe.chat("a")
    expect(() => chat.setPermissionMode("yolo" as Permissions.Mode)).toThrow(ValidationError)
    await troupe.stop()
  })

  test("a store that fails is said, and the mode counts all the same", async () => {
    const store: Store.Store = {
      load: () => undefined,
      save: () => {
        throw new Error("full")
      },
      delete: () => undefined
    }
    const troupe = await Troupe.start({ adapter: calling(), store })
    const chat = await troupe.chat("a")
    const setting = chat.setPermissionMode("plan")
    await expect(setting).rejects.toBeInstanceOf(SessionError)
    expect(chat.getSnapshot()?.context.permissionMode).toBe("plan")
    await troupe.stop()
  })

  describe("PMODE4 a client", () => {
    const started = async (permissions: Permissions.Permissions, adapter = Fake.make({ script: [] })) => {
      const troupe = await Troupe.start({ adapter, tools: [setsMode()], permissions })
      const chat = await troupe.chat("a")
      return { chat, troupe, mode: () => chat.getSnapshot()?.context.permissionMode, stop: () => troupe.stop() }
    }
    const refused = (loosest: Permissions.Mode) => ({ reason: "mode_refused", metadata: { loosest } })

    test("sets no mode looser than the host's, and comes back to that one", async () => {
      const { chat, mode, stop } = await started({ mode: "acceptEdits", loosest: "trusted" })
      await expect(chat.setPermissionMode("trusted", { within: "host" })).rejects.toMatchObject(refused("acceptEdits"))
      expect(mode()).toBe("acceptEdits")
      for (const next of ["plan", "default", "acceptEdits"] as const) {
        await chat.setPermissionMode(next, { within: "host" })
        expect(mode()).toBe(next)
      }
      await chat.setPermissionMode("plan")
      await expect(chat.setPermissionMode("default", { within: "host" })).rejects.toMatchObject(refused("plan"))
      await stop()
    })

    test("sets a looser mode up to the one that is said, and always a stricter one", async () => {
      const { chat, mode, stop } = await started({ mode: "plan" })
      await chat.setPermissionMode("trusted", { within: "trusted" })
      expect(mode()).toBe("trusted")
      await expect(chat.setPermissionMode("bypass", { within: "trusted" })).rejects.toMatchObject(refused("trusted"))
      await chat.setPermissionMode("acceptEdits", { within: "plan" })
      expect(mode()).toBe("acceptEdits")
      await expect(chat.setPermissionMode("trusted", { within: "host" })).rejects.toMatchObject(refused("plan"))
      expect(() => chat.setPermissionMode("plan", { within: "loose" as Permissions.Mode })).toThrow(ValidationError)
      await stop()
    })

    test("that plans is asked before a call leaves the plan", async () => {
      const { chat, mode, stop } = await started({ mode: "trusted" }, calling([set("default")]))
      await chat.setPermissionMode("plan", { within: "host" })
      await chat.send("go").result()
      expect(mode()).toBe("plan")
      await stop()
    })

    test("is bound by the host's mode also behind what calls set, in a fork, and behind a rewind", async () => {
      const adapter = calling([set("trusted")])
      const { chat, troupe, mode, stop } = await started({ mode: "plan", ask: () => "allow" }, adapter)
      expect((await chat.send("go").result()).permissionMode).toBe("trusted")
      await chat.setPermissionMode("default", { within: "host" })
      const fork = await troupe.fork("a", { at: 1 })
      await troupe.rewind("a", 1)
      for (const one of [chat, fork]) {
        expect(one.getSnapshot()?.context.permissionMode).toBe("default")
        await expect(one.setPermissionMode("trusted", { within: "host" })).rejects.toMatchObject(refused("plan"))
      }
      expect(mode()).toBe("default")
      await stop()
    })
  })
})
