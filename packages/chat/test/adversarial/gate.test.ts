import { describe, expect, test } from "vitest"
import type { Message } from "../../src/model/messageShapes.ts"
import type { Answer, Ask, Question } from "../../src/gate/permissionRules.ts"
import { until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, echo, says } from "../double/scripts.ts"

const check = leakCheck()

/** Questions that are answered when the test says so. */
const asking = () => {
  const open: Array<Question & { readonly answer: (answer: Answer) => void }> = []
  const asked: Array<string> = []
  const ask: Ask = (question) => {
    const { promise, resolve } = Promise.withResolvers<Answer>()
    asked.push(question.toolCall.id)
    open.push({ ...question, answer: resolve })
    return promise
  }
  return { ask, open, asked }
}

const roles = (messages: ReadonlyArray<Message>) =>
  messages.map((message) => (message.role === "tool" ? `tool ${message.outcome}` : message.role))

describe("a living chat with a gate", () => {
  test("the model reads why a call was refused, and the turn goes on", async () => {
    const { troupe } = await check.troupe({
      adapter: check.fake({ scripts: [calls("echo"), says("I may not.")] }),
      tools: [echo],
      permissions: { mode: "plan" }
    })
    const result = await (await troupe.chat("c")).send("go").result()
    expect(roles(result.thread.messages)).toEqual(["user", "assistant", "tool denied", "assistant"])
    expect(result.thread.messages[2]?.content).toBe("echo may not run while planning: it may change something")
    expect(result.haltedReason).toBe("completed")
  })

  test("the thread keeps the call as the model wrote it, and its result says what ran", async () => {
    const { troupe } = await check.troupe({
      adapter: check.fake({ scripts: [calls(["echo", { x: 1 }]), says("ok")] }),
      tools: [echo],
      permissions: { ask: () => ({ type: "allow", arguments: { x: 2 } }) }
    })
    const { thread } = await (await troupe.chat("c")).send("go").result()
    expect(thread.messages[1]).toMatchObject({ toolCalls: [{ arguments: { x: 1 } }] })
    expect(thread.messages[2]).toMatchObject({ content: '{"x":2}', metadata: { arguments: { x: 2 } } })
  })

  test("a halt at the gate ends the turn with its reason, and every call is answered", async () => {
    const { troupe } = await check.troupe({
      adapter: check.fake({ scripts: [calls("echo", "echo"), says("later")] }),
      tools: [echo],
      hooks: { PreToolUse: [() => ({ type: "halt", reason: "out_of_hours" })] }
    })
    const chat = await troupe.chat("c")
    const result = await chat.send("go").result()
    expect(result.haltedReason).toBe("out_of_hours")
    expect(roles(result.thread.messages)).toEqual(["user", "assistant", "tool denied", "tool not_started"])
    expect((await chat.send("now?").result()).haltedReason).toBe("completed")
  })

  test("the snapshot says which call is being judged", async () => {
    const { ask, open } = asking()
    const { troupe } = await check.troupe({
      adapter: check.fake({ scripts: [calls("echo", "echo"), says("ok")] }),
      tools: [echo],
      permissions: { ask }
    })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    const statuses = () => chat.getSnapshot()?.context.toolCalls.map(({ status }) => status)
    await until(() => open.length === 1)
    expect(statuses()).toEqual(["gating", "queued"])
    open[0]?.answer("allow")
    await until(() => open.length === 2)
    expect(statuses()).toEqual(["queued", "gating"])
    open[1]?.answer("deny")
    const { thread } = await turn.result()
    expect(roles(thread.messages)).toEqual(["user", "assistant", "tool completed", "tool denied", "assistant"])
  })

  test("a cancel ends an open question at once, and the chat is usable again", async () => {
    const { ask, open, asked } = asking()
    const { troupe } = await check.troupe({
      adapter: check.fake({ scripts: [calls("echo", "echo"), says("ok")] }),
      tools: [echo],
      permissions: { ask }
    })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    await until(() => open.length === 1)
    void chat.cancel()
    const result = await turn.result()
    expect(open[0]?.signal.aborted).toBe(true)
    expect(result.haltedReason).toBe("cancelled")
    expect(roles(result.thread.messages)).toEqual(["user", "assistant", "tool cancelled", "tool cancelled"])
    open[0]?.answer("allow")
    expect((await chat.send("again").result()).haltedReason).toBe("completed")
    expect(asked).toEqual(["c0"])
  })

  test("a call that is cancelled alone is asked about no more, and the next question comes", async () => {
    const { ask, open, asked } = asking()
    const { troupe } = await check.troupe({
      adapter: check.fake({ scripts: [calls("echo", "echo", "echo"), says("ok")] }),
      tools: [echo],
      permissions: { ask }
    })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    await until(() => open.length === 1)
    await chat.cancelToolCall("c0")
    await chat.cancelToolCall("c1")
    expect(open[0]?.signal.aborted).toBe(true)
    await until(() => open.length === 2)
    open[1]?.answer("allow")
    const { thread } = await turn.result()
    expect(asked).toEqual(["c0", "c2"])
    expect(roles(thread.messages).slice(2)).toEqual(["tool cancelled", "tool cancelled", "tool completed", "assistant"])
  })

  test("when all calls are cancelled the signal of the open question is aborted, and the turn goes on", async () => {
    const { ask, open } = asking()
    const { troupe } = await check.troupe({
      adapter: check.fake({ scripts: [calls("echo", "echo"), says("ok")] }),
      tools: [echo],
      permissions: { ask }
    })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    await until(() => open.length === 1)
    await chat.cancelToolCalls()
    expect(open[0]?.signal.aborted).toBe(true)
    expect(roles((await turn.result()).thread.messages).slice(2)).toEqual([
      "tool cancelled",
      "tool cancelled",
      "assistant"
    ])
  })

  test("a call that is cancelled while a hook looks at its result keeps the result", async () => {
    const looking = Promise.withResolvers<AbortSignal>()
    const { troupe } = await check.troupe({
      adapter: check.fake({ scripts: [calls("echo"), says("ok")] }),
      tools: [echo],
      hooks: {
        PostToolUse: [
          (_, { signal }) => {
            looking.resolve(signal)
            return new Promise(() => undefined)
          }
        ]
      }
    })
    const chat = await troupe.chat("c")
    const turn = chat.send("go")
    const signal = await looking.promise
    await chat.cancelToolCall("c0")
    expect(signal.aborted).toBe(true)
    expect(roles((await turn.result()).thread.messages)).toEqual(["user", "assistant", "tool completed", "assistant"])
  })

  test("a chat that is stopped while a question is open aborts it", async () => {
    const { ask, open } = asking()
    const { troupe } = await check.troupe({
      adapter: check.fake({ scripts: [calls("echo")] }),
      tools: [echo],
      permissions: { ask }
    })
    const turn = (await troupe.chat("c")).send("go")
    await until(() => open.length === 1)
    const ending = turn.result().catch((thrown: unknown) => thrown)
    await troupe.stop()
    expect(open[0]?.signal.aborted).toBe(true)
    expect(await ending).toMatchObject({ reason: "chat_stopped" })
  })
})
