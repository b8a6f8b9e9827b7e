import { Process } from "@troupe/otp"
import { describe, expect, test } from "vitest"
import { askUser, ok } from "../../src/values/HandlerResult.ts"
import type { Hooks } from "../../src/gate/Hooks.ts"
import { type Message } from "../../src/model/messageShapes.ts"
import { system, text, user } from "../../src/model/Message.ts"
import { moodyStore } from "../double/heldModel.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, handling, says } from "../double/scripts.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

const check = leakCheck()

const linesOf = (messages: ReadonlyArray<Message> = []) => messages.map((message) => `${message.role}:${text(message)}`)

const living = async (options: Omit<TroupeOptions, "adapter"> & { readonly scripts: ReadonlyArray<Script> }) => {
  const { scripts, ...more } = options
  const adapter = check.fake({ scripts })
  const { troupe, clock } = await check.troupe({ adapter, ...more })
  return { adapter, clock, troupe, chat: await troupe.chat("a") }
}

/** Says what was said, louder. */
const louder: Hooks = {
  UserPromptSubmit: [({ prompt }) => ({ type: "transform", prompt: `${prompt}!` })]
}

describe("HOOK1 UserPromptSubmit", () => {
  test("changes what is said before it is stored, and only once", async () => {
    const store = moodyStore()
    const { chat } = await living({ scripts: [says("A"), says("B")], hooks: louder, store })
    await chat.send("a").result()
    await chat.send("b").result()
    expect(linesOf(chat.thread.messages)).toEqual(["user:a!", "assistant:A", "user:b!", "assistant:B"])
    const stored = store.saved
      .flatMap(({ thread }) => linesOf(thread.messages))
      .filter((line) => line.startsWith("user:"))
    expect(new Set(stored)).toEqual(new Set(["user:a!", "user:b!"]))
  })

  test("gets the inputs that steer a turn, and changes only these", async () => {
    const seen: Array<string> = []
    const hooks: Hooks = {
      UserPromptSubmit: [
        ({ prompt }) => {
          seen.push(prompt)
          return { type: "transform", prompt: `${prompt}!` }
        }
      ]
    }
    const gate = Promise.withResolvers<void>()
    const waits = handling("waits", () => gate.promise.then(() => ok(1)))
    const { chat } = await living({ scripts: [calls("waits"), says("done")], hooks, tools: [waits] })
    const turn = chat.send("a")
    await until(() => chat.getSnapshot()?.context.phase === "runningTools")
    const steers = [chat.send("b", { whenBusy: "steer" }), chat.send("c", { whenBusy: "steer" })]
    await hop()
    gate.resolve()
    await turn.result()
    await Promise.all(steers.map((steer) => steer.result()))
    expect(seen).toEqual(["a", "b", "c"])
    expect(linesOf(chat.thread.messages)).toEqual([
      "user:a!",
      "assistant:",
      "tool:1",
      "user:b!",
      "user:c!",
      "assistant:done"
    ])
  })

  test("gets an input that could not be stored again, as it was sent", async () => {
    const store = moodyStore()
    const { chat } = await living({ scripts: [says("A")], hooks: louder, store })
    store.failing = true
    await chat
      .send("a")
      .result()
      .catch(() => undefined)
    expect(linesOf(chat.thread.messages)).toEqual([])
    store.failing = false
    await chat.retry().result()
    expect(linesOf(chat.thread.messages)).toEqual(["user:a!", "assistant:A"])
  })

  test("gets an answer to a tool's question, wherever it goes", async () => {
    const ask = handling("ask", () => askUser("which?"))
    for (const answer of ["user_message", "tool_result"] as const) {
      const hooks: Hooks = {
        UserPromptSubmit: [...(louder.UserPromptSubmit ?? []), () => ({ type: "inject", messages: system("note") })]
      }
      const { chat } = await living({ scripts: [calls("ask"), says("done")], hooks, tools: [ask], answer })
      await chat.send("a").result()
      await chat.send("red").result()
      const notified = linesOf(chat.thread.messages)
      expect(notified).toContain(answer === "tool_result" ? "tool:red!" : "user:red!")
      expect(notified.filter((line) => line === "system:note")).toHaveLength(2)
    }
  })

  test("is not asked again by a retry, which keeps what it said", async () => {
    let asked = 0
    const hooks: Hooks = {
      UserPromptSubmit: [() => ({ type: "inject", messages: system(`note ${++asked}`) })],
      PreIteration: [() => ({ type: "inject", messages: user("PI") })]
    }
    const { chat } = await living({ scripts: [says("A"), says("B")], hooks })
    await chat.send("a").result()
    await chat.retry().result()
    expect(linesOf(chat.thread.messages)).toEqual(["user:a", "system:note 1", "user:PI", "assistant:B"])
  })

  test("HOOK4 a halt leaves the chat usable, with what was said", async () => {
    const store = moodyStore()
    const hooks: Hooks = {
      UserPromptSubmit: [({ prompt }) => (prompt === "bad" ? { type: "halt", reason: "refused" } : undefined)]
    }
    const { adapter, chat } = await living({ scripts: [says("A")], hooks, store })
    const refused = chat.send("bad")
    expect((await refused.result()).haltedReason).toBe("refused")
    expect(await refused.receipt).toEqual({ status: "delivered" })
    expect(store.saved.at(-1)).toMatchObject({ running: false, lastHaltedReason: "refused" })
    await chat.send("good").result()
    expect(linesOf(adapter.requests[0]?.messages)).toEqual(["user:bad", "user:good"])
  })
})

test("HOOK2 what PreIteration injects is stored before the request is made", async () => {
  const store = moodyStore()
  let before: ReadonlyArray<string> = []
  const hooks: Hooks = {
    PreIteration: [() => ({ type: "inject", messages: system("PI") })],
    ChatParams: [() => void (before = linesOf(store.saved.at(-1)?.thread.messages))]
  }
  const { adapter, chat } = await living({ scripts: [says("A")], hooks, store })
  await chat.send("a").result()
  expect(before).toEqual(["user:a"])
  expect(linesOf(store.saved[1]?.thread.messages)).toEqual(["user:a", "system:PI"])
  expect(linesOf(adapter.requests[0]?.messages)).toEqual(["user:a", "system:PI"])
})

describe("HOOK3 a living chat's session", () => {
  const sessions = () => {
    const seen: Array<string> = []
    const hooks: Hooks = {
      SessionStart: [({ source, messages }) => void seen.push(`start ${source} ${messages.length}`)],
      Stop: [() => void seen.push("stop")],
      SessionEnd: [({ haltedReason, messages }) => void seen.push(`end ${haltedReason} ${messages.length}`)]
    }
    return { seen, hooks }
  }

  test("starts with the first turn of its process, and ends when the chat is stopped, once", async () => {
    const { seen, hooks } = sessions()
    const store = moodyStore()
    const { chat, troupe } = await living({ scripts: [says("A"), says("B"), says("C")], hooks, store })
    await chat.send("a").result()
    await chat.send("b").result()
    await chat.stop()
    await chat.stop()
    expect(seen).toEqual(["start new 0", "stop", "stop", "end completed 4"])
    const again = await troupe.chat("a")
    await again.send("c").result()
    await troupe.stop()
    expect(seen.slice(4)).toEqual(["start revived 4", "stop", "end completed 6"])
  })

  test("starts again with a process that is started again, and ends once all the same", async () => {
    const { seen, hooks } = sessions()
    const { chat } = await living({ scripts: [says("A"), says("B")], hooks })
    await chat.send("a").result()
    const { pid } = chat
    if (pid !== undefined) Process.kill(pid)
    await until(() => chat.pid !== undefined && chat.pid !== pid)
    await chat.send("b").result()
    await chat.stop()
    expect(seen).toEqual(["start new 0", "stop", "start revived 2", "stop", "end completed 4"])
  })

  test("is none for a chat that nobody spoke to", async () => {
    const { seen, hooks } = sessions()
    const { chat } = await living({ scripts: [], hooks })
    await chat.stop()
    expect(seen).toEqual([])
  })

  test("HOOK5 its end takes no longer than the chat drains", async () => {
    const hooks: Hooks = { SessionEnd: [() => new Promise(() => {})] }
    const { chat, clock } = await living({ scripts: [says("A")], hooks, drainMs: 20 })
    await chat.send("a").result()
    let stopped = false
    const stopping = chat.stop().then(() => (stopped = true))
    await clock.advance(19)
    expect(stopped).toBe(false)
    await clock.advance(1)
    await stopping
    expect(clock.pending).toBe(0)
  })
})

describe("CHAT11 while a hook is asked", () => {
  const holding = () => {
    const gate = Promise.withResolvers<undefined>()
    const hooks: Hooks = { PreIteration: [() => gate.promise] }
    return { gate, hooks }
  }

  test("the chat goes on hearing: its phase says so, what arrives waits, and a cancel is at once", async () => {
    const { hooks } = holding()
    const { chat } = await living({ scripts: [says("B")], hooks })
    const turn = chat.send("a")
    await until(() => chat.getSnapshot()?.context.phase === "runningHooks")
    const next = chat.send("b")
    await hop()
    expect(chat.getSnapshot()?.context.inbox).toHaveLength(1)
    await chat.cancel()
    expect((await turn.result()).haltedReason).toBe("cancelled")
    await chat.cancel()
    expect((await next.result()).haltedReason).toBe("cancelled")
  })

  test("an interrupt ends the wait, and is next", async () => {
    const { gate, hooks } = holding()
    const { chat } = await living({ scripts: [says("B")], hooks })
    const turn = chat.send("a")
    await until(() => chat.getSnapshot()?.context.phase === "runningHooks")
    const next = chat.send("b", { whenBusy: "interrupt" })
    expect((await turn.result()).haltedReason).toBe("cancelled")
    gate.resolve(undefined)
    expect((await next.result()).haltedReason).toBe("completed")
  })
})
