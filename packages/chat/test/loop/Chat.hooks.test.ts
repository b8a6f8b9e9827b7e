import * as Effect from "effect/Effect"
import { describe, expect, test } from "vitest"
import * as Chat from "../../src/loop/Chat.ts"
import type { ChatOptions } from "../../src/options/ChatOptions.ts"
import * as Engine from "../../src/options/Engine.ts"
import { ok } from "../../src/values/HandlerResult.ts"
import type { HookAnswer, Hooks } from "../../src/gate/Hooks.ts"
import * as Session from "../../src/session/Session.ts"
import { type Message } from "../../src/model/messageShapes.ts"
import { assistant, system, text, user } from "../../src/model/Message.ts"
import { hop } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, callThenAnswer, echo, handling, hi, only, readAll, said, says } from "../double/scripts.ts"
import type { Script } from "../../src/adapter/Fake.ts"

const check = leakCheck()

/** A hook that notes its event, and answers this. */
const noting = () => {
  const observed: Array<string> = []
  const on = (event: string, answer?: HookAnswer) => () => {
    observed.push(event)
    return answer
  }
  const all = (): Hooks => ({
    SessionStart: [on("SessionStart")],
    UserPromptSubmit: [on("UserPromptSubmit")],
    PreIteration: [on("PreIteration")],
    ChatParams: [on("ChatParams")],
    Stop: [on("Stop")],
    StopFailure: [on("StopFailure")],
    SessionEnd: [on("SessionEnd")]
  })
  return { observed, on, all }
}

const linesOf = (messages: ReadonlyArray<Message>) => messages.map((message) => `${message.role}:${text(message)}`)

/** Both functional forms, and what was asked of the model. */
const run = async (
  scripts: ReadonlyArray<Script>,
  hooks: () => Hooks,
  { messages = hi, ...options }: ChatOptions & { readonly messages?: ReadonlyArray<Message> } = {}
) => {
  const more = { requestId: "r", ...options }
  const collected = check.fake({ scripts })
  const result = await Chat.run(Engine.make({ adapter: collected, tools: [echo] }), messages, {
    ...more,
    hooks: hooks()
  })
  const streamed = check.fake({ scripts })
  const engine = Engine.make({ adapter: streamed, tools: [echo] })
  const events = await readAll(await Chat.stream(engine, messages, { ...more, hooks: hooks() }))
  expect(only(events, "chat_completed").result).toEqual(result)
  expect(streamed.requests).toEqual(collected.requests)
  return { result, requests: collected.requests, lines: linesOf(result.thread.messages) }
}

describe("the hooks of a run", () => {
  test("are called at its beginning, its prompt, each request, its end, in this order", async () => {
    const { observed, all } = noting()
    await Chat.run(Engine.make({ adapter: check.fake({ scripts: callThenAnswer }), tools: [echo] }), hi, {
      hooks: all()
    })
    expect(observed).toEqual([
      "SessionStart",
      "UserPromptSubmit",
      "PreIteration",
      "ChatParams",
      "PreIteration",
      "ChatParams",
      "Stop",
      "SessionEnd"
    ])
  })

  test("get the data of their event", async () => {
    const observed: Array<unknown> = []
    const engine = Engine.make({
      adapter: check.fake({ scripts: callThenAnswer }),
      tools: [echo],
      context: { user: 7 }
    })
    const note = (payload: unknown, { context }: { readonly context: unknown }) =>
      void observed.push([payload, context])
    const hooks: Hooks = {
      SessionStart: [note],
      UserPromptSubmit: [note],
      PreIteration: [note],
      Stop: [note],
      SessionEnd: [note]
    }
    await Chat.run(engine, hi, { hooks, sessionId: "s" })
    const sessionId = "s"
    expect(observed).toMatchObject([
      [{ sessionId, source: "new", messages: hi }, { user: 7 }],
      [{ sessionId, prompt: "hi", messages: hi }, { user: 7 }],
      [{ sessionId, iteration: 0, unproductiveIterations: 0, fingerprint: undefined }, { user: 7 }],
      [{ sessionId, iteration: 1, unproductiveIterations: 0, fingerprint: expect.any(String) }, { user: 7 }],
      [{ sessionId, haltedReason: "completed", result: { steps: [{}, {}] } }, { user: 7 }],
      [{ sessionId, haltedReason: "completed", messages: { length: 4 } }, { user: 7 }]
    ])
  })

  test("HOOK3 a turn that ended as nobody meant it to is a StopFailure", async () => {
    const { observed, on } = noting()
    const hooks = { Stop: [on("Stop")], StopFailure: [on("StopFailure")], SessionEnd: [on("SessionEnd")] }
    const ends = async (scripts: ReadonlyArray<Script>, options: ChatOptions = {}) => {
      observed.length = 0
      const engine = Engine.make({ adapter: check.fake({ scripts }), tools: [echo] })
      await Chat.run(engine, hi, { hooks, ...options }).catch(() => undefined)
      return observed.join()
    }
    expect(await ends([says("done")])).toBe("Stop,SessionEnd")
    expect(await ends([calls("echo")], { haltWhen: () => true })).toBe("Stop,SessionEnd")
    expect(await ends([calls("echo")], { mode: "manual" })).toBe("Stop,SessionEnd")
    expect(await ends([calls("echo")], { maxTurns: 1 })).toBe("StopFailure,SessionEnd")
    expect(await ends([[{ text: "a" }, { error: "server_error" }]])).toBe("StopFailure,SessionEnd")
    const crashes = { ...hooks, PreToolUse: [() => Promise.reject(new Error("boom"))] }
    expect(await ends([calls("echo")], { hooks: crashes })).toBe("StopFailure,SessionEnd")
    // A run that is refused at once has no result to report.
    expect(await ends([[{ preflightError: "authentication_failed" }]])).toBe("SessionEnd")
  })

  test("CHAT11 without hooks for an event the chart has no transition for it", async () => {
    const { observed, on } = noting()
    const hooks = { PreToolUse: [on("PreToolUse")] }
    const result = await Chat.run(Engine.make({ adapter: check.fake({ scripts: [says("a")] }) }), hi, { hooks })
    expect([result.haltedReason, observed]).toEqual(["completed", []])
  })

  test("may be Effects, and promises", async () => {
    const { result } = await run([says("done")], () => ({
      PreIteration: [
        () => Effect.succeed<HookAnswer>({ type: "inject", messages: system("a") }),
        () => Promise.resolve<HookAnswer>({ type: "inject", messages: [system("b")] })
      ]
    }))
    expect(linesOf(result.thread.messages)).toEqual(["user:hi", "system:a", "system:b", "assistant:done"])
  })
})

describe("UserPromptSubmit", () => {
  test("replaces the text of the input, and adds messages behind it", async () => {
    const { lines, requests } = await run([says("done")], () => ({
      UserPromptSubmit: [
        () => ({ type: "transform", prompt: "x" }),
        () => ({ type: "inject", messages: system("note") }),
        () => ({ type: "transform", prompt: "y" })
      ]
    }))
    expect(lines).toEqual(["user:y", "system:note", "assistant:done"])
    expect(requests.map(({ messages }) => linesOf(messages))).toEqual([["user:y", "system:note"]])
  })

  test("keeps what was said beside words", async () => {
    const image = { type: "image", image: { base64: "aGk=", mediaType: "image/png" } } as const
    const messages = [user([{ type: "text", text: "a" }, image, { type: "text", text: "b" }])]
    const hooks = (): Hooks => ({ UserPromptSubmit: [() => ({ type: "transform", prompt: "c" })] })
    const { result } = await run([says("done")], hooks, { messages })
    expect(result.thread.messages[0]).toEqual(user([{ type: "text", text: "c" }, image]))
  })

  test("is called only for a last message of the user, and not when a run goes on with results", async () => {
    const { observed, on } = noting()
    const hooks = () => ({ UserPromptSubmit: [on("heard")] })
    await run([says("done")], hooks, { messages: [...hi, assistant("a")] })
    expect(observed).toEqual([])
  })

  test("HOOK4 a halt ends the turn before any request, with what was said in the thread", async () => {
    const hooks = (): Hooks => ({
      UserPromptSubmit: [() => ({ type: "inject", messages: system("a") }), () => ({ type: "halt", reason: "nope" })]
    })
    const { result, requests, lines } = await run([says("never")], hooks)
    expect(result).toMatchObject({ haltedReason: "nope", steps: [], metadata: { haltHook: "UserPromptSubmit" } })
    expect(requests).toEqual([])
    expect(lines).toEqual(["user:hi", "system:a"])
  })
})

describe("PreIteration", () => {
  test("puts messages into the thread before each request", async () => {
    const hooks = (): Hooks => ({ PreIteration: [() => ({ type: "inject", messages: system("PI") })] })
    const { lines } = await run(callThenAnswer, hooks)
    expect(lines).toEqual(["user:hi", "system:PI", "assistant:", 'tool:{"x":1}', "system:PI", "assistant:done"])
  })

  test("HOOK4 a halt ends the turn, with the steps it had", async () => {
    const hooks = (): Hooks => ({
      PreIteration: [({ iteration }) => (iteration === 1 ? { type: "halt", reason: "pi" } : undefined)]
    })
    const { result, requests } = await run(callThenAnswer, hooks)
    expect(result).toMatchObject({ haltedReason: "pi", steps: [{}], metadata: { haltHook: "PreIteration" } })
    expect(requests).toHaveLength(1)
  })

  test("what it injects as a user is nothing that a person said: the guards go on counting", async () => {
    const hooks = (): Hooks => ({ PreIteration: [() => ({ type: "inject", messages: user("go on") })] })
    const { result } = await run([calls("echo"), calls("echo"), says("done")], hooks, { maxUnproductive: 1 })
    expect(result.haltedReason).toBe("no_progress")
  })
})

describe("ChatParams", () => {
  test("changes one request: its options, and what is behind the thread; nothing of it is stored", async () => {
    let asked = 0
    const hooks = (): Hooks => {
      asked = 0
      return {
        ChatParams: [
          () =>
            asked++ > 0
              ? undefined
              : { type: "params", params: { temperature: 0.1, model: "small", providerOptions: { top: 1 } } },
          () => ({ type: "inject", messages: system("aside") })
        ]
      }
    }
    const { lines, requests } = await run(callThenAnswer, hooks, { temperature: 1 })
    expect(requests[0]).toMatchObject({ temperature: 0.1, model: "small", options: { top: 1 } })
    expect(requests[1]).toMatchObject({ temperature: 1, options: {} })
    expect(requests[1]?.model).toBeUndefined()
    expect(requests.map(({ messages }) => said(messages.at(-1)))).toEqual(["aside", "aside"])
    expect(lines).toEqual(["user:hi", "assistant:", 'tool:{"x":1}', "assistant:done"])
  })

  test("sees the request as it would be", async () => {
    const seen: Array<unknown> = []
    const hooks = (): Hooks => ({
      PreIteration: [() => ({ type: "inject", messages: system("a") })],
      ChatParams: [({ request }) => void seen.push(request)]
    })
    const { requests } = await run([says("done")], hooks, { maxTokens: 5 })
    expect(seen[0]).toEqual(requests[0])
  })

  test("options that are none, or not a hook's to change, are a hook that crashed", async () => {
    for (const params of [{ temperature: "hot" }, { maxTurns: 99 }, 5]) {
      const hooks = (): Hooks => ({ ChatParams: [() => ({ type: "params", params }) as never] })
      const { result, requests } = await run([says("never")], hooks)
      expect(result).toMatchObject({ haltedReason: "hook_crashed", metadata: { haltHook: "ChatParams" } })
      expect(requests).toEqual([])
    }
  })

  test("HOOK4 a halt ends the turn before the request", async () => {
    const { result, requests } = await run([says("never")], () => ({ ChatParams: [() => "halt"] }))
    expect([result.haltedReason, requests.length]).toEqual(["halt", 0])
  })
})

describe("a hook that fails", () => {
  const throws = (): never => {
    throw new Error("boom")
  }

  test.each(["UserPromptSubmit", "PreIteration", "ChatParams"])("is a halt, at %s", async (event) => {
    const { result } = await run([says("never")], () => ({ [event]: [throws] }))
    expect(result).toMatchObject({
      haltedReason: "hook_crashed",
      metadata: { haltHook: event, error: { message: "boom" } }
    })
  })

  test("changes nothing where its answer does not count, and the others are called", async () => {
    const { observed, on } = noting()
    const result = await Chat.run(Engine.make({ adapter: check.fake({ scripts: [says("done")] }) }), hi, {
      hooks: {
        SessionStart: [throws, on("start", "halt"), on("start")],
        Stop: [throws, on("stop", { type: "halt", reason: "y" }), on("stop")],
        SessionEnd: [throws, on("end")]
      }
    })
    expect([result.haltedReason, observed]).toEqual(["completed", ["start", "start", "stop", "stop", "end"]])
  })

  test("is one that gives no answer within hookTimeoutMs", async () => {
    const { system: here, clock } = check.system()
    const engine = Engine.make({ adapter: check.fake({ scripts: [says("never")] }) })
    let signal: AbortSignal | undefined
    const hooks: Hooks = {
      PreIteration: [
        (_, context) => {
          ;({ signal } = context)
          return new Promise(() => {})
        }
      ]
    }
    const running = Chat.run(engine, hi, { hooks, hookTimeoutMs: 50, system: here })
    await clock.advance(49)
    expect(signal?.aborted).toBe(false)
    await clock.advance(1)
    expect((await running).haltedReason).toBe("hook_crashed")
    expect([signal?.aborted, clock.pending]).toEqual([true, 0])
  })

  test("a reserved word is none to halt with", async () => {
    const { result } = await run([says("never")], () => ({
      PreIteration: [() => ({ type: "halt", reason: "completed" })]
    }))
    expect(result.haltedReason).toBe("hook_crashed")
  })
})

describe("CHAT11 a cancel in the middle of a hook", () => {
  const hanging =
    (signals: Array<AbortSignal>) =>
    (_: unknown, { signal }: { readonly signal: AbortSignal }) => {
      signals.push(signal)
      return new Promise<never>(() => {})
    }

  test.each(["SessionStart", "UserPromptSubmit", "PreIteration", "ChatParams", "Stop"])(
    "ends the turn at once, and aborts the hook: %s",
    async (event) => {
      const { system: here } = check.system()
      const { controller, signal } = aborting()
      const signals: Array<AbortSignal> = []
      const engine = Engine.make({ adapter: check.fake({ scripts: [says("done")] }) })
      const running = Chat.run(engine, hi, { hooks: { [event]: [hanging(signals)] }, signal, system: here })
      while (signals.length === 0) await hop()
      controller.abort()
      const { haltedReason } = await running
      expect(haltedReason).toBe(event === "Stop" ? "completed" : "cancelled")
      expect(signals.map(({ aborted }) => aborted)).toEqual([true])
    }
  )

  test("HOOK5 hooks of the end have no more time than the turn drains", async () => {
    const { system: here, clock } = check.system()
    const { controller, signal } = aborting()
    const signals: Array<AbortSignal> = []
    const engine = Engine.make({ adapter: check.fake({ scripts: [[{ text: "a" }, { hang: true }]] }) })
    const hooks = { StopFailure: [hanging(signals), hanging(signals)] }
    const running = Chat.run(engine, hi, { hooks, signal, drainMs: 20, system: here })
    await clock.advance(0)
    controller.abort()
    await clock.advance(19)
    expect(signals).toHaveLength(1)
    await clock.advance(1)
    expect((await running).haltedReason).toBe("cancelled")
    expect([signals.length, clock.pending]).toEqual([1, 0])
  })

  test("a reader that leaves aborts the hook, too", async () => {
    const { system: here } = check.system()
    const signals: Array<AbortSignal> = []
    const engine = Engine.make({ adapter: check.fake({ scripts: [says("done")] }) })
    const events = await Chat.stream(engine, hi, { hooks: { Stop: [hanging(signals)] }, system: here })
    const reading = readAll(events)
    while (signals.length === 0) await hop()
    await events.return()
    await reading
    expect(signals.map(({ aborted }) => aborted)).toEqual([true])
  })
})

const aborting = () => {
  const controller = new AbortController()
  return { controller, signal: controller.signal }
}

test("a hook's messages are those of the system, a person or the model", async () => {
  const hooks = (): Hooks => ({
    PreIteration: [
      () => ({
        type: "inject",
        messages: [
          { role: "tool", toolCallId: "c9", content: "x" },
          assistant("", [{ id: "c9", name: "echo", arguments: {} }]),
          assistant("mine")
        ]
      })
    ]
  })
  const { lines } = await run([says("done")], hooks)
  expect(lines).toEqual(["user:hi", "assistant:mine", "assistant:done"])
})

test("a budget's time goes on while hooks are asked", async () => {
  const { system: here, clock } = check.system()
  const engine = Engine.make({ adapter: check.fake({ scripts: [says("never")] }), tools: [handling("t", () => ok(1))] })
  const hooks: Hooks = { PreIteration: [() => new Promise(() => {})] }
  const running = Chat.run(engine, hi, { hooks, budget: { timeMs: 30 }, system: here })
  await clock.advance(30)
  expect(await running).toMatchObject({ haltedReason: "budget_time" })
  expect(clock.pending).toBe(0)
})

test("in a session the thread has what hooks made of what was said, in both forms", async () => {
  const hooks: Hooks = {
    UserPromptSubmit: [({ prompt }) => ({ type: "transform", prompt: `${prompt}!` })],
    PreIteration: [() => ({ type: "inject", messages: system("PI") })]
  }
  const engine = () => Engine.make({ adapter: check.fake({ scripts: [says("A")] }) })
  const expected = ["user:hi!", "system:PI", "assistant:A"]
  const turn = await Session.start(engine(), hi, { hooks })
  expect(linesOf(turn.session.thread.messages)).toEqual(expected)
  const stream = await Session.streamStart(engine(), hi, { hooks })
  await readAll(stream)
  expect(linesOf(stream.session().thread.messages)).toEqual(expected)
})
