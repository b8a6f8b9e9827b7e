import { describe, expect, test } from "vitest"
import { ValidationError } from "../../src/errors/ChatError.ts"
import type { LocalChatRef } from "../../src/troupe/LocalChatRef.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"
import { text } from "../../src/model/Message.ts"
import type { Message } from "../../src/model/messageShapes.ts"
import type { Decision } from "../../src/record/Approval.ts"
import { make } from "../../src/tool/Tool.ts"
import { askUser, halt, ok } from "../../src/values/HandlerResult.ts"
import { memory } from "../../src/store/Store.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { calls, says } from "../double/scripts.ts"

const check = leakCheck()

const allow: Decision = { type: "allow" }

const permissions: TroupeOptions["permissions"] = {
  ask: ({ toolCall: { name } }) => (name === "pay" || name === "stop" ? "suspend" : "allow")
}

/** A chat whose reply has called these tools. `pay` and `stop` wait for a decision, `hand` is the caller's. */
const waiting = async (names: ReadonlyArray<string>, more: Partial<TroupeOptions> = {}) => {
  const ran: Array<string> = []
  const tools = [
    make({ name: "pay", handler: () => (ran.push("pay"), ok("paid")) }),
    make({ name: "stop", handler: () => (ran.push("stop"), halt("enough", "stopped")) }),
    make({ name: "hand", manual: true }),
    make({ name: "look", effect: "read", handler: () => ok("seen") }),
    make({ name: "ask", handler: () => askUser("which?") })
  ]
  const store = memory()
  const adapter = check.fake({ scripts: [calls(...names), says("done"), says("more")] })
  const { troupe } = await check.troupe({ adapter, tools, store, permissions, ...more })
  const chat = await troupe.chat("c")
  await chat.send("go").result()
  const entries = async () => (await troupe.history("c")).length
  /** The same chat after a restart of the program. */
  const restarted = async () => {
    await troupe.stop()
    const again = await check.troupe({ adapter, tools, store, permissions, ...more })
    return again.troupe.chat("c")
  }
  return { chat, troupe, adapter, ran, entries, restarted, requests: () => adapter.requests.length }
}

const shortOf = (message: Message): string =>
  message.role === "tool" ? `${message.toolCallId}=${text(message)}` : `${message.role}: ${text(message)}`

const shown = ({ thread }: Pick<LocalChatRef, "thread">): ReadonlyArray<string> => thread.messages.slice(2).map(shortOf)

const failureOf = async (turn: { readonly result: () => Promise<unknown> }): Promise<unknown> => {
  const error: unknown = await turn.result().catch((cause: unknown) => cause)
  return error instanceof Error && "reason" in error ? error.reason : error
}

describe("ANSWERING1 answers are one turn", () => {
  test("the next request has the results of decided calls, the given results, and the input behind them", async () => {
    const { chat, adapter, requests } = await waiting(["pay", "hand"])
    const turn = chat.answer({ decisions: { c0: allow }, results: { c1: "signed" }, input: "and then?" })
    expect((await turn.result()).haltedReason).toBe("completed")
    expect(requests()).toBe(2)
    expect(adapter.requests[1]?.messages.slice(2).map(shortOf)).toEqual(["c0=paid", "c1=signed", "user: and then?"])
    expect(shown(chat)).toEqual(["c0=paid", "c1=signed", "user: and then?", "assistant: done"])
  })

  test("one commit has the decisions, the results and the input", async () => {
    const { chat, troupe, entries } = await waiting(["pay", "hand"])
    const before = await entries()
    const turn = chat.answer({ decisions: { c0: { type: "deny" } }, results: { c1: "signed" }, input: "so?" })
    expect((await turn.receipt).status).toBe("delivered")
    await turn.result()
    const [begun] = await troupe.history("c", { after: before })
    expect(begun?.messages.map(shortOf)).toEqual(["c1=signed", "user: so?"])
    expect(begun?.state.open?.calls.map(({ state }) => state)).toEqual(["decided", "done"])
    expect(begun?.state.inputs).toEqual([turn.id])
  })

  test("several decisions are one turn", async () => {
    const { chat, ran, requests } = await waiting(["pay", "pay", "pay"])
    await chat.answer({ decisions: { c0: allow, c1: { type: "deny", reason: "no" }, c2: allow } }).result()
    expect([ran.length, requests()]).toEqual([2, 2])
    expect(shown(chat)[1]).toContain("no")
  })

  test("results are stored while another call still waits for its decision", async () => {
    const { chat, restarted } = await waiting(["pay", "pay", "hand"])
    const first = await chat.answer({ decisions: { c0: allow }, results: { c2: "signed" } }).result()
    expect([first.haltedReason, first.pendingToolCalls]).toEqual(["awaiting_approval", []])
    const again = await restarted()
    expect(again.getSnapshot()?.context.pendingToolCalls).toEqual([])
    await again.answer({ decisions: { c1: allow } }).result()
    expect(shown(again)).toEqual(["c0=paid", "c1=paid", "c2=signed", "assistant: done"])
  })

  test("hooks change the input, and the results stay in the order of the calls", async () => {
    const { chat } = await waiting(["hand", "look", "pay"], {
      hooks: { UserPromptSubmit: [({ prompt }) => ({ type: "transform", prompt: `${prompt}!` })] }
    })
    await chat.answer({ decisions: { c2: allow }, results: { c0: "signed" }, input: "so?" }).result()
    expect(shown(chat)).toEqual(["c0=signed", "c1=seen", "c2=paid", "user: so?!", "assistant: done"])
  })

  test("an input alone answers the question that the chat asks", async () => {
    const { chat } = await waiting(["ask"])
    await chat.answer({ input: "the red one" }).result()
    expect(shown(chat).slice(-2)).toEqual(["user: the red one", "assistant: done"])
  })

  test("an input beside results answers the question of the same step", async () => {
    const { chat } = await waiting(["ask", "hand"])
    const { haltedReason, pendingQuestion } = await chat.answer({ results: { c1: "signed" }, input: "red" }).result()
    expect([haltedReason, pendingQuestion]).toEqual(["completed", undefined])
  })

  test("an interrupted turn of answers goes on with the input", async () => {
    const { chat, restarted, adapter } = await waiting(["pay", "hand"])
    const turn = chat.answer({ decisions: { c0: { type: "deny" } }, results: { c1: "signed" }, input: "so?" })
    await turn.receipt
    const again = await restarted()
    void turn.result().catch(() => undefined)
    if (again.getSnapshot()?.context.phase === "interrupted") await again.retry().result()
    expect(adapter.requests.at(-1)?.messages.at(-1)).toMatchObject({ role: "user", content: "so?" })
  })
})

describe("REFUSE2 answers are refused together", () => {
  const change = async (names: ReadonlyArray<string>, answers: Parameters<LocalChatRef["answer"]>[0]) => {
    const { chat, ran, entries, requests } = await waiting(names)
    const state = async () => [await entries(), chat.getSnapshot()?.context.phase, chat.thread.messages.length]
    const before = await state()
    const reason = await failureOf({ result: async () => chat.answer(answers).result() })
    expect([await state(), ran, requests(), chat.getSnapshot()?.context.inbox]).toEqual([before, [], 1, []])
    return reason
  }

  test.each([
    [
      "a decision about a call that does not wait",
      ["pay", "hand"],
      { decisions: { c0: allow, other: allow }, results: { c1: 1 }, input: "so?" },
      "unknown_tool_call_id"
    ],
    [
      "a decision that cannot work",
      ["pay", "hand"],
      { decisions: { c0: { type: "allow", arguments: { when: 1n } } }, results: { c1: 1 } },
      "invalid_options"
    ],
    [
      "a result of a call that the chat does not wait for",
      ["pay", "hand"],
      { decisions: { c0: allow }, results: { c1: 1, c7: 2 } },
      "unknown_tool_call_id"
    ],
    [
      "a part of the results",
      ["pay", "hand", "hand"],
      { decisions: { c0: allow }, results: { c1: 1 } },
      "awaiting_tool_results"
    ],
    [
      "an input while a call waits that no decision is about",
      ["pay", "pay"],
      { decisions: { c0: allow }, input: "so?" },
      "awaiting_approval"
    ],
    [
      "an input while a call waits for its result",
      ["pay", "hand"],
      { decisions: { c0: allow }, input: "so?" },
      "awaiting_tool_results"
    ],
    ["an input that is no message", ["pay"], { decisions: { c0: allow }, input: " " }, "invalid_message"],
    ["an input alone that answers no question", ["pay"], { input: "so?" }, "awaiting_approval"],
    ["no answer at all", ["hand"], {}, "awaiting_tool_results"]
  ] as const)("%s refuses all, and nothing changes", async (_, names, answers, reason) => {
    expect(await change(names, answers)).toBe(reason)
  })

  test("an input alone is refused without a question", async () => {
    const { chat } = await waiting([])
    expect(await failureOf(chat.answer({ input: "so?" }))).toBe("no_question")
    expect(await failureOf(chat.answer({}))).toBe("invalid_status_for_operation")
  })

  test("two people answer one call: one answer is used, and the error of the other has it", async () => {
    const { chat, ran } = await waiting(["pay", "pay"])
    const first = chat.answer({ decisions: { c0: allow, c1: allow } })
    const second = chat.answer({ decisions: { c1: { type: "deny" } } })
    await first.result()
    const error = (await second.result().catch((cause: unknown) => cause)) as { readonly metadata: object }
    expect(error.metadata).toMatchObject({ toolCallId: "c1", decision: allow })
    expect(ran).toEqual(["pay", "pay"])
  })
})

describe("ANSWERING2 one id is one answer", () => {
  const answers = { decisions: { c0: allow }, results: { c1: "signed" }, input: "so?" } as const
  const named = { id: "a1" }

  test("the same answers while their turn runs are the same turn", async () => {
    const { chat, ran, requests } = await waiting(["pay", "hand"])
    const turn = chat.answer(answers, named)
    expect(chat.answer({ input: "so?", results: { c1: "signed" }, decisions: { c0: allow } }, named)).toBe(turn)
    await turn.result()
    expect([ran, requests()]).toEqual([["pay"], 2])
  })

  test("the same answers after their turn are refused as delivered, also after a restart", async () => {
    const { chat, restarted, requests } = await waiting(["pay", "hand"])
    await chat.answer(answers, named).result()
    expect(await failureOf(chat.answer(answers, named))).toBe("already_delivered")
    expect(await failureOf((await restarted()).answer(answers, named))).toBe("already_delivered")
    expect(requests()).toBe(2)
  })

  test.each([
    ["another decision", { ...answers, decisions: { c0: { type: "deny" } } }],
    ["another result", { ...answers, results: { c1: "torn" } }],
    ["another input", { ...answers, input: "and?" }],
    ["no input", { decisions: answers.decisions, results: answers.results }]
  ] as const)("%s under the id is refused before, while and after the turn runs", async (_, other) => {
    const { chat, restarted } = await waiting(["pay", "hand"])
    const turn = chat.answer(answers, named)
    expect(() => chat.answer(other, named)).toThrow(ValidationError)
    await turn.result()
    expect(() => chat.answer(other, named)).toThrow(ValidationError)
    const again = await restarted()
    expect(() => again.answer(other, named)).toThrow(ValidationError)
  })

  test.each([
    ["decisions", ["pay"], { decisions: { c0: allow } }, { decisions: { c0: { type: "deny" } } }],
    ["results", ["hand"], { results: { c0: 1 } }, { results: { c0: 2 } }]
  ] as const)("%s without an input have their digest too", async (_, names, own, other) => {
    const { chat, restarted } = await waiting(names)
    await chat.answer(own, named).result()
    const again = await restarted()
    expect(await failureOf(again.answer(own, named))).toBe("already_delivered")
    expect(() => again.answer(other, named)).toThrow(ValidationError)
    expect(() => again.send("so?", named)).toThrow(ValidationError)
  })

  test("the id of an input is not that of answers", async () => {
    const { chat } = await waiting(["pay"])
    await chat.answer({ decisions: { c0: allow } }, named).result()
    expect(() => chat.send("so?", named)).toThrow(ValidationError)
    await chat.send("so?", { id: "i1" }).result()
    expect(() => chat.answer({ decisions: { c0: allow } }, { id: "i1" })).toThrow(ValidationError)
  })

  test("the same answer to a question is one input", async () => {
    const { chat, requests } = await waiting(["ask"])
    const turn = chat.answer({ input: "red" }, named)
    expect(chat.answer({ input: "red" }, named)).toBe(turn)
    await turn.result()
    expect(await failureOf(chat.answer({ input: "red" }, named))).toBe("already_delivered")
    expect(() => chat.answer({ input: "blue" }, named)).toThrow(ValidationError)
    expect(requests()).toBe(2)
  })
})

describe("ANSWERING3 a halt of a decided call", () => {
  test("ends the turn without an input", async () => {
    const { chat, requests } = await waiting(["stop"])
    expect((await chat.answer({ decisions: { c0: allow } }).result()).haltedReason).toBe("enough")
    expect(requests()).toBe(1)
  })

  test("does not end the turn when an input is behind the answers", async () => {
    const { chat, requests } = await waiting(["stop"])
    expect((await chat.answer({ decisions: { c0: allow }, input: "so?" }).result()).haltedReason).toBe("completed")
    expect(requests()).toBe(2)
    expect(shown(chat)).toEqual(["c0=stopped", "user: so?", "assistant: done"])
  })

  test("a decision to halt ends the other calls, and the input follows", async () => {
    const { chat, ran } = await waiting(["pay", "pay"])
    await chat.answer({ decisions: { c0: allow, c1: { type: "halt" } }, input: "so?" }).result()
    expect(ran).toEqual([])
    expect(shown(chat).at(-1)).toBe("assistant: done")
  })
})
