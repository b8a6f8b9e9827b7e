import { describe, expect, test } from "vitest"
import { Process } from "@troupe/otp"
import { memory } from "../../src/store/Store.ts"
import { askUser } from "../../src/values/HandlerResult.ts"
import { make } from "../../src/tool/Tool.ts"
import { hop, until } from "../double/hop.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, handling, said, says } from "../double/scripts.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"

const check = leakCheck()

const cancelled = JSON.stringify({ error: "cancelled: the call was cancelled" })
const question = "Really send 900 euros?"

/** A chat whose tool asks once it is released. */
const asking = async (...more: ReadonlyArray<string>) => {
  const store: SessionStore = memory()
  const gate = Promise.withResolvers<void>()
  const pay = make({ name: "pay", handler: () => gate.promise.then(() => askUser(question)) })
  const again = make({ name: "again", handler: () => askUser("And the fee?") })
  const scripts = [calls("pay"), ...more.map((name) => calls(name)), says("one"), says("two"), says("three")]
  const adapter = check.fake({ scripts })
  const options = { adapter, store, tools: [pay, again] }
  const { troupe } = await check.troupe(options)
  const chat = await troupe.chat("c")
  const first = chat.send("Pay")
  await until(() => chat.getSnapshot()?.context.phase === "runningTools")
  return { chat, store, first, ask: () => gate.resolve(), options, troupe, adapter }
}

describe("MAIL6 a message that was accepted before a question", () => {
  test.each(["queue", "steer", "interrupt"] as const)("never answers it (%s)", async (whenBusy) => {
    const { chat, first, ask } = await asking()
    const early = chat.send("yes, and what is the weather?", { whenBusy })
    await early.receipt
    ask()
    await first.result()
    await hop()
    const asked = chat.getSnapshot()?.context.pendingQuestion?.question
    if (whenBusy === "interrupt" && asked === undefined) {
      // The interrupt ended the call before it asked.
      await early.result()
      expect(chat.thread.messages.map(said)).toEqual(["Pay", "", cancelled, "yes, and what is the weather?", "one"])
      return
    }
    expect(asked).toBe(question)
    expect([early.status, early.over]).toEqual(["pending", false])
    await chat.send("No").result()
    await early.result()
    expect(chat.thread.messages.map(said)).toEqual([
      "Pay",
      "",
      "<awaiting user response>",
      question,
      "No",
      "one",
      "yes, and what is the weather?",
      "two"
    ])
  })

  test("waits for the second of two questions in a row, too", async () => {
    const { chat, first, ask } = await asking("again")
    const early = chat.send("early")
    await early.receipt
    ask()
    await first.result()
    const answer = chat.send("No")
    const behind = chat.send("behind")
    expect((await answer.result()).pendingQuestion?.question).toBe("And the fee?")
    await hop()
    expect([early.over, behind.over]).toEqual([false, false])
    await chat.send("None").result()
    await Promise.all([early.result(), behind.result()])
    expect(chat.thread.messages.map(said).filter((text) => !text.startsWith("<") && text !== "")).toEqual([
      "Pay",
      question,
      "No",
      "And the fee?",
      "None",
      "one",
      "early",
      "two",
      "behind",
      "three"
    ])
  })

  test("waits also after a restart, and so does the input of a former program", async () => {
    const { chat, first, ask, options, troupe, store } = await asking()
    const early = chat.send("early", { id: "early" })
    await early.receipt
    ask()
    await first.result()
    await troupe.stop()
    await store.accept("c", { id: "former", whenBusy: "queue", message: { role: "user", content: "former" } })
    const next = await check.troupe(options)
    const again = await next.troupe.chat("c")
    const turns = again.resume()
    await hop()
    expect(turns.map(({ id, over }) => [id, over])).toEqual([
      ["early", false],
      ["former", false]
    ])
    expect((await again.view()).question?.question).toBe(question)
    await again.send("No").result()
    await Promise.all(turns.map((turn) => turn.result()))
    expect(again.thread.messages.map(said).slice(4)).toEqual(["No", "one", "early", "two", "former", "three"])
  })

  test("is withdrawn, or runs after a cancel of the question", async () => {
    const { chat, first, ask } = await asking()
    const one = chat.send("one of them")
    const other = chat.send("the other")
    ask()
    await first.result()
    await chat.withdraw(one)
    await chat.cancel()
    expect((await other.result()).haltedReason).toBe("completed")
    expect(chat.thread.messages[2]).toMatchObject({ role: "tool", outcome: "cancelled" })
  })
})

describe("MAIL5 what a sender could have seen", () => {
  test("a message that is sent when the events have shown the question answers it", async () => {
    const { chat, first, ask } = await asking()
    ask()
    for await (const event of first) if (event.type === "ask_user_requested") break
    const answer = chat.send("No")
    expect((await answer.result()).haltedReason).toBe("completed")
    expect(chat.thread.messages.map(said)[4]).toBe("No")
  })

  test("an answer that was accepted before a crash answers after it", async () => {
    const { first, ask, store, options, troupe } = await asking()
    ask()
    await first.result()
    const { inputs } = (await store.load("c")) ?? {}
    await troupe.stop()
    const answers = `${inputs?.[0]} c0`
    await store.accept("c", { id: "answer", whenBusy: "queue", message: { role: "user", content: "No" }, answers })
    const next = await check.troupe(options)
    const again = await next.troupe.chat("c")
    const [turn] = again.resume()
    await turn?.result()
    expect(again.thread.messages.map(said).slice(3)).toEqual([question, "No", "one"])
  })

  test("an input of an earlier program, whose row came late and is sent again, answers no later question", async () => {
    const { chat, first, ask, store } = await asking()
    const message = { role: "user", content: "What is the weather?" } as const
    await store.accept("c", { id: "early", whenBusy: "queue", named: true, message })
    ask()
    await first.result()
    const again = chat.send(message, { id: "early" })
    await again.receipt
    await hop()
    expect(chat.getSnapshot()?.context.pendingQuestion?.question).toBe(question)
    await chat.send("No").result()
    await again.result()
    expect(chat.thread.messages.map(said).slice(3)).toEqual([question, "No", "one", message.content, "two"])
  })

  test("a note of a tool's handler is no answer", async () => {
    const store = memory()
    const note = handling("note", async (_, { chat }) => {
      await chat?.send("a note")
      return askUser(question)
    })
    const adapter = check.fake({ scripts: [calls("note"), says("one"), says("two")] })
    const { troupe } = await check.troupe({ adapter, store, tools: [note] })
    const chat = await troupe.chat("c")
    await chat.send("Pay").result()
    await hop()
    expect((await chat.view()).question?.question).toBe(question)
    await chat.send("No").result()
    expect(chat.thread.messages.map(said)[4]).toBe("No")
  })
})

test("INT1 a question whose answer a crash cut short is asked no more, and the next message is no answer", async () => {
  const store = memory()
  const pay = make({ name: "pay", handler: () => askUser(question) })
  const adapter = check.fake({ scripts: [calls("pay"), [{ text: "So" }, { hang: true }], says("two")] })
  const { troupe } = await check.troupe({ adapter, store, tools: [pay], answer: "tool_result" })
  const chat = await troupe.chat("c")
  await chat.send("Pay").result()
  const answer = chat.send("No")
  await until(() => chat.getSnapshot()?.context.partial.text === "So")
  if (chat.pid !== undefined) Process.kill(chat.pid)
  await until(() => answer.over && chat.getSnapshot()?.value === "interrupted")
  await chat.send("And the weather?").result()
  expect(chat.thread.messages.map(said)).toEqual(["Pay", "", "No", "So", "And the weather?", "two"])
})

describe("MAIL7 results without an answer", () => {
  const manual = make({ name: "manual", manual: true })
  const ask = make({ name: "ask", handler: () => askUser("Which one?") })

  const waiting = async (answer: "user_message" | "tool_result") => {
    const store = memory()
    const adapter = check.fake({ scripts: [calls("ask", "manual"), says("one"), says("two")] })
    const options = { adapter, store, tools: [manual, ask], answer }
    const { troupe } = await check.troupe(options)
    const chat = await troupe.chat("c")
    await chat.send("go").result()
    return { chat, adapter, troupe, options }
  }

  test.each(["user_message", "tool_result"] as const)(
    "leave the question open, and the next message answers it (%s)",
    async (answer) => {
      const { chat, adapter } = await waiting(answer)
      const submitted = await chat.submitToolResults({ c1: "given" }).result()
      expect([submitted.haltedReason, submitted.pendingQuestion?.toolCallId]).toEqual(["ask_user", "c0"])
      expect(chat.getSnapshot()?.value).toBe("awaitingUser")
      expect(adapter.requests).toHaveLength(1)
      await chat.send("this one").result()
      const shown =
        answer === "user_message"
          ? ["<awaiting user response>", "given", "Which one?", "this one"]
          : ["this one", "given"]
      expect(chat.thread.messages.map(said)).toEqual(["go", "", ...shown, "one"])
    }
  )

  test.each(["user_message", "tool_result"] as const)(
    "and the answer may come in one turn: the thread is as after two (%s)",
    async (answer) => {
      const { chat, adapter } = await waiting(answer)
      await chat.submitToolResults({ c1: "given" }, { input: "this one" }).result()
      const shown =
        answer === "user_message"
          ? ["<awaiting user response>", "given", "Which one?", "this one"]
          : ["this one", "given"]
      expect(chat.thread.messages.map(said)).toEqual(["go", "", ...shown, "one"])
      expect(adapter.requests).toHaveLength(2)
    }
  )

  test("keep the name of the question, so that a message that was sent beside them is its answer", async () => {
    const { chat } = await waiting("user_message")
    const submitted = chat.submitToolResults({ c1: "given" })
    const beside = chat.send("this one")
    expect((await submitted.result()).haltedReason).toBe("ask_user")
    expect((await beside.result()).finalResponse?.outputText).toBe("one")
    expect(chat.getSnapshot()?.value).toBe("idle")
  })

  test("leave it open after a restart", async () => {
    const { chat, troupe, options } = await waiting("user_message")
    await chat.submitToolResults({ c1: "given" }).result()
    await troupe.stop()
    const again = await check.troupe(options)
    const next = await again.troupe.chat("c")
    expect(next.getSnapshot()?.value).toBe("awaitingUser")
    expect((await next.send("this one").result()).finalResponse?.outputText).toBe("one")
    expect(next.thread.messages.map(said).slice(2)).toEqual([
      "<awaiting user response>",
      "given",
      "Which one?",
      "this one",
      "one"
    ])
  })
})
