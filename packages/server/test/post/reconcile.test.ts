/** The meaning of a post: a row is a situation, a post, and the action. No server, no chat. */
import { Message } from "@troupe/chat/messages"
import type { PendingApproval } from "@troupe/chat/tools"
import { describe, expect, it } from "vitest"
import type { PostPolicy } from "../../src/http/index.ts"
import { type Answers, type Here, noAnswers, type Posted } from "../../src/post/Posted.ts"
import { type Action, reconcile } from "../../src/post/reconcile.ts"
import { named as withId } from "../../src/wire/index.ts"

const user = (id: string, text: string) => withId(Message.user(text), id)
const two = [user("u1", "one"), Message.assistant("a1"), user("u2", "two"), Message.assistant("a2")]

const approval = (id: string, kind: PendingApproval["kind"] = "permission"): PendingApproval => ({
  toolCall: { id, name: "pay", arguments: {}, rawArguments: "{}" },
  reason: "",
  askedAt: 0,
  kind
})

const idle: Here = {
  messages: two,
  isRunning: false,
  hasLeft: false,
  inbox: 0,
  approvals: [],
  calls: [],
  question: undefined,
  isRead: () => false
}

const calling = (...ids: ReadonlyArray<string>) =>
  Message.assistant(
    "",
    ids.map((id) => ({ id, name: "where", arguments: {}, rawArguments: "{}" }))
  )

const resultOf = (id: string) => Message.toolResult(id, "Oslo")

const twoResults = [resultOf("w0"), resultOf("w1")]

const situations = {
  none: undefined,
  idle,
  read: { ...idle, isRead: () => true },
  running: { ...idle, isRunning: true },
  readRunning: { ...idle, isRunning: true, isRead: () => true },
  runningCall: { ...idle, isRunning: true, calls: [{ id: "w0" }] },
  twice: { ...idle, messages: [user("u2", "two"), ...two] },
  left: { ...idle, isRunning: true, hasLeft: true },
  queued: { ...idle, isRunning: true, hasLeft: true, inbox: 1 },
  waiting: { ...idle, inbox: 1 },
  waitingApproval: { ...idle, inbox: 1, approvals: [approval("p0")] },
  called: {
    ...idle,
    messages: [
      ...two.slice(0, 3),
      calling("w0", "w1"),
      ...twoResults,
      Message.assistant("a2"),
      calling("w0"),
      resultOf("w0")
    ],
    approvals: [approval("p0")],
    calls: [{ id: "w9" }],
    question: { toolCallId: "q0" }
  },
  question: { ...idle, question: { toolCallId: "q0" } },
  approval: { ...idle, approvals: [approval("p0")] },
  approvals: { ...idle, approvals: [approval("p0"), approval("p1")] },
  below: { ...idle, approvals: [approval("s0/~/q", "question")] },
  call: { ...idle, calls: [{ id: "w0" }] },
  readCall: { ...idle, calls: [{ id: "w0" }], isRead: () => true },
  readApproval: { ...idle, approvals: [approval("p0")], isRead: () => true },
  calls: { ...idle, calls: [{ id: "w0" }, { id: "w1" }] },
  both: { ...idle, approvals: [approval("p0")], calls: [{ id: "w0" }] },
  bothCalls: { ...idle, approvals: [approval("p0")], calls: [{ id: "w0" }, { id: "w1" }] },
  answered: { ...idle, messages: [...two, Message.toolResult("p0", "paid")] },
  askedBefore: {
    ...idle,
    messages: [...two, { ...Message.assistant("Which?"), metadata: { ask_user: true, tool_call_id: "q0" } }]
  }
} satisfies Record<string, Here | undefined>

const look: Posted = { messages: [], answers: noAnswers, options: () => undefined }

const say = (id: string, text: string, more: Partial<Posted> = {}, edits = false): Posted => ({
  ...look,
  messages: [{ id, read: () => user(id, text), edits }],
  ...more
})

const sayBoth = (...ids: ReadonlyArray<string>): Posted => ({
  ...look,
  messages: ids.map((id) => ({ id, read: () => user(id, id === "u2" ? "two" : `new ${id}`), edits: false })),
  history: ids
})

const history = (...ids: ReadonlyArray<string>): Partial<Posted> => ({ history: ids })

const results = (...ids: ReadonlyArray<string>): Answers => ({
  ...noAnswers,
  results: new Map(ids.map((id) => [id, { value: "x" }]))
})

const named = (id: string): Answers => ({ ...results(id), named: [{ id, kind: "result", field: ["messages", 1] }] })

const both: Answers = { ...results("w0", "w1"), named: [...named("w0").named, ...named("w1").named] }

const failure = (id: string): Answers => ({ ...noAnswers, results: new Map([[id, { error: "no GPS" }]]) })

const allow = (...ids: ReadonlyArray<string>): Answers => ({
  ...noAnswers,
  decisions: new Map(ids.map((id) => [id, { type: "allow" as const }]))
})

const resume = (id: string, kind: "decision" | "answer"): Answers => ({
  ...allow(id),
  named: [{ id, kind, field: ["resume", 0] }]
})

const text = (id: string, isNamed = true): Answers => ({
  ...noAnswers,
  texts: new Map([[id, "Blue"]]),
  named: isNamed ? [{ id, kind: "answer", field: ["resume", 0] }] : []
})

const other = (of: string | undefined, isNamed = false, ifRead = false): Partial<Posted> => ({
  regenerate: { of, isNamed, ifRead }
})

/** An action in a few words. */
const briefly = (action: Action): string => {
  switch (action.type) {
    case "refuse":
      return `refuse ${action.refusal.why}`
    case "send":
      return words("send", action.message.id, at(action.rewind), action.whenBusy)
    case "regenerate":
      return words("regenerate", at(action.rewind))
    case "answer":
      return words(
        "answer",
        ...action.decided.map(({ id, decision }) => `${decision.type} ${id}`),
        ...Array.from(action.results, ([id, result]) => ("error" in result ? `error ${id}` : id)),
        action.text,
        action.message && `then send ${action.message.id}`
      )
    case "fork":
      return `fork at ${action.place.from}-${action.place.to}, ${briefly(action.action)}`
    case "follow":
      return "follow"
  }
}

const words = (...all: ReadonlyArray<string | undefined>): string => all.filter((one) => one !== undefined).join(" ")

const at = (rewind: { readonly place: { readonly from: number; readonly to: number } } | undefined) =>
  rewind && `at ${rewind.place.from}-${rewind.place.to}`

/** A post behind the response that ends after so many messages. */
const after = (end: number, posted: Posted = say("u3", "three")): Posted => ({ ...posted, end: () => end })

const strict: PostPolicy = { stale: "refuse", calls: "refuse", approvals: "refuse", history: "replace" }
const lenient: PostPolicy = { stale: "follow", calls: "cancel", approvals: "deny", history: "add" }

type Row = readonly [where: keyof typeof situations, what: string, posted: Posted, action: string, policy?: PostPolicy]

const rows: ReadonlyArray<Row> = [
  ["none", "a message", say("u1", "one"), "send u1"],
  ["none", "two messages", sayBoth("u8", "u9"), "send u9"],
  ["none", "a named answer", { ...look, answers: resume("p0", "decision") }, "refuse unknown_chat"],
  ["none", "a named answer and a message", say("u1", "one", { answers: named("w0") }), "refuse unknown_chat"],
  ["none", "an answer of the history", { ...look, answers: results("w0") }, "follow"],
  ["none", "a look", look, "follow"],

  ["idle", "a look", look, "follow"],
  ["idle", "a new message", say("u3", "three"), "send u3"],
  ["idle", "a new message behind the whole history", say("u3", "three", history("u1", "u2", "u3")), "send u3"],
  ["idle", "a new message behind a shorter history", say("u3", "three", history("u1", "u3")), "send u3 at 2-2"],
  ["idle", "a new message behind no history, which replaces", say("u3", "three", history("u3")), "send u3 at 0-0"],
  ["idle", "a new message behind no history, which adds", say("u3", "three", history("u3")), "send u3", lenient],
  ["idle", "behind an unknown history, which adds", say("u3", "three", history("x", "u3")), "send u3", lenient],
  [
    "idle",
    "behind a shorter history that is known",
    say("u3", "three", history("u1", "u3")),
    "send u3 at 2-2",
    lenient
  ],
  ["idle", "two new messages", sayBoth("u2", "u8", "u9"), "send u9"],
  ["idle", "the newest message again", say("u2", "two"), "follow"],
  ["idle", "an earlier message again", say("u1", "one"), "refuse delivered"],
  ["idle", "another text under the newest id", say("u2", "TWO"), "refuse delivered"],
  ["idle", "another text under the newest id, as an edit", say("u2", "TWO", {}, true), "send u2 at 2-2"],
  ["idle", "another text under an earlier id, as an edit", say("u1", "ONE", {}, true), "send u1 at 0-0"],
  ["idle", "another answer", { ...look, ...other(undefined) }, "regenerate"],
  ["idle", "another answer to the newest message", { ...look, ...other("u2") }, "regenerate"],
  ["idle", "another answer to an earlier message", { ...look, ...other("u1") }, "refuse not_last"],
  ["idle", "another answer to an earlier message, named", { ...look, ...other("u1", true) }, "regenerate at 1-1"],
  ["idle", "another answer to an unknown message", { ...look, ...other("zz", true) }, "refuse not_last"],
  ["idle", "the newest message, whose answer nobody read", say("u2", "two", other("u2", true, true)), "follow"],
  ["read", "the newest message, whose answer was read", say("u2", "two", other("u2", true, true)), "regenerate"],
  ["read", "an earlier one, whose answer was read", say("u1", "one", other("u1", true, true)), "regenerate at 1-1"],
  [
    "read",
    "an edit of a message whose answer was read",
    say("u2", "TWO", other("u2", true, true), true),
    "send u2 at 2-2"
  ],
  ["idle", "results that nothing waits for", { ...look, answers: results("w0") }, "refuse no_wait"],
  ["idle", "results that nothing waits for", { ...look, answers: results("w0") }, "follow", lenient],
  ["idle", "the answer of a question that is over", { ...look, answers: text("q0", false) }, "refuse no_wait"],
  ["idle", "stale results, then a message", say("u3", "three", { answers: results("w0") }), "send u3"],
  ["idle", "a named answer that never waited", { ...look, answers: resume("zz", "decision") }, "refuse not_waiting"],
  ["answered", "a named answer that was used", { ...look, answers: resume("p0", "decision") }, "follow", lenient],
  ["idle", "a named result that never waited", { ...look, answers: named("w0") }, "refuse not_waiting"],
  ["answered", "a named result that was used", { ...look, answers: named("p0") }, "follow", lenient],
  [
    "answered",
    "a named answer that never waited",
    { ...look, answers: resume("zz", "decision") },
    "refuse not_waiting"
  ],
  ["askedBefore", "a named answer that never waited", { ...look, answers: text("zz") }, "refuse not_waiting"],
  ["askedBefore", "a named answer to an earlier question", { ...look, answers: text("q0") }, "follow", lenient],

  ["idle", "another answer, not busy", { ...look, ...other(undefined), whenBusy: "reject" }, "regenerate"],
  ["twice", "a name that two messages have", say("u2", "two"), "follow"],

  ["running", "a look", look, "follow"],
  ["runningCall", "a new message", say("u3", "three"), "send u3"],
  ["running", "a new message", say("u3", "three"), "send u3"],
  ["running", "a new message with whenBusy", say("u3", "three", { whenBusy: "reject" }), "send u3 reject"],
  ["running", "behind a shorter history", say("u3", "three", history("u1", "u3")), "refuse busy"],
  [
    "running",
    "behind a shorter history, which interrupts",
    say("u3", "three", { ...history("u1", "u3"), whenBusy: "interrupt" }),
    "send u3 at 2-2 interrupt"
  ],
  ["running", "a second page without a history", say("u3", "three", history("u3")), "send u3", lenient],
  ["running", "the newest message again", say("u2", "two"), "follow"],
  ["running", "an edit", say("u2", "TWO", {}, true), "send u2 at 2-2"],
  ["running", "an edit that may not cancel", say("u2", "TWO", { whenBusy: "reject" }, true), "refuse busy"],
  ["running", "an answer", { ...look, answers: results("w0") }, "follow"],
  ["running", "a named answer", { ...look, answers: resume("zz", "decision") }, "follow"],
  ["running", "another answer", { ...look, ...other(undefined) }, "regenerate"],
  ["running", "another answer, not busy", { ...look, ...other(undefined), whenBusy: "reject" }, "refuse busy"],
  ["readRunning", "the newest message again", say("u2", "two", other("u2", true, true)), "follow"],
  ["left", "a new message", say("u3", "three"), "send u3 interrupt"],
  ["left", "a new message that queues", say("u3", "three", { whenBusy: "queue" }), "send u3 queue"],
  ["left", "behind a shorter history", say("u3", "three", history("u1", "u3")), "send u3 at 2-2 interrupt"],
  ["queued", "behind a shorter history", say("u3", "three", history("u1", "u3")), "refuse inbox"],

  ["question", "a new message", say("u3", "Blue"), "send u3"],
  ["question", "its answer", { ...look, answers: text("q0") }, "answer Blue"],
  ["question", "its answer, then a message", say("u3", "and", { answers: text("q0") }), "answer Blue then send u3"],
  ["question", "a decision under its id", { ...look, answers: resume("q0", "decision") }, "refuse not_waiting"],
  ["approval", "its decision", { ...look, answers: allow("p0") }, "answer allow p0"],
  ["approval", "an unknown decision", { ...look, answers: allow("zz") }, "refuse no_wait"],
  ["approvals", "one decision of two", { ...look, answers: allow("p0") }, "answer allow p0"],
  ["approval", "a new message", say("u3", "three"), "refuse awaiting_approval"],
  ["approval", "a new message, which denies", say("u3", "three"), "answer deny p0 then send u3", lenient],
  [
    "approval",
    "a decision, then a message",
    say("u3", "three", { answers: allow("p0") }),
    "answer allow p0 then send u3"
  ],
  ["approvals", "one of two, then a message", say("u3", "three", { answers: allow("p0") }), "refuse awaiting_approval"],
  [
    "approvals",
    "one of two, then a message, which denies",
    say("u3", "three", { answers: allow("p0") }),
    "answer allow p0 deny p1 then send u3",
    lenient
  ],
  ["approval", "behind a shorter history", say("u3", "three", history("u1", "u3")), "send u3 at 2-2"],
  ["approval", "the newest message again", say("u2", "two"), "follow"],
  ["approval", "an edit", say("u2", "TWO", {}, true), "send u2 at 2-2"],
  ["below", "the answer of its question", { ...look, answers: text("s0/~/q", false) }, "answer result s0/~/q"],
  ["below", "the answer of its question, named", { ...look, answers: text("s0/~/q") }, "answer result s0/~/q"],
  ["below", "its failure", { ...look, answers: failure("s0/~/q") }, "answer deny s0/~/q"],
  ["call", "its result", { ...look, answers: results("w0") }, "answer w0"],
  ["call", "its result, named", { ...look, answers: named("w0") }, "answer w0"],
  ["call", "a named result of another call", { ...look, answers: named("zz") }, "refuse not_waiting"],
  ["below", "the named result of a question", { ...look, answers: named("s0/~/q") }, "refuse not_waiting"],
  ["readCall", "the newest message, whose answer was read", say("u2", "two", other("u2", true, true)), "follow"],
  ["readCall", "an earlier one", say("u1", "one", other("u1", true, true)), "regenerate at 1-1"],
  ["readApproval", "the newest message, whose answer was read", say("u2", "two", other("u2", true, true)), "follow"],
  ["call", "its failure", { ...look, answers: failure("w0") }, "answer error w0"],
  ["call", "its result and an unknown one", { ...look, answers: results("w0", "zz") }, "answer w0"],
  ["calls", "one result of two", { ...look, answers: results("w0") }, "answer w0"],
  ["call", "a new message", say("u3", "three"), "refuse awaiting_tool_results"],
  ["call", "a new message, which cancels", say("u3", "three"), "answer error w0 then send u3", lenient],
  [
    "calls",
    "one of two, then a message",
    say("u3", "three", { answers: results("w0") }),
    "refuse awaiting_tool_results"
  ],
  [
    "calls",
    "one of two, then a message, which cancels",
    say("u3", "three", { answers: results("w0") }),
    "answer w0 error w1 then send u3",
    lenient
  ],
  [
    "calls",
    "one of two, behind a shorter history",
    say("u3", "three", { answers: results("w0"), ...history("u1", "u3") }),
    "refuse awaiting_tool_results"
  ],
  ["call", "its result, then a message", say("u3", "three", { answers: results("w0") }), "answer w0 then send u3"],
  [
    "both",
    "both answers, then a message",
    say("u3", "three", { answers: { ...results("w0"), decisions: allow("p0").decisions } }),
    "answer allow p0 w0 then send u3"
  ],
  [
    "bothCalls",
    "a decision and a part of the results",
    { ...look, answers: { ...results("w0"), decisions: allow("p0").decisions } },
    "answer allow p0"
  ],
  [
    "bothCalls",
    "a decision and all results",
    { ...look, answers: { ...results("w0", "w1"), decisions: allow("p0").decisions } },
    "answer allow p0 w0 w1"
  ],
  ["none", "nothing, with a thread to begin with", { ...look, thread: two, ...other(undefined) }, "regenerate"],
  ["none", "a message, with a thread to begin with", say("u3", "three", { thread: two }), "send u3"],
  ["idle", "a message behind the last response", after(4), "send u3"],
  ["idle", "a message behind an earlier response", after(2), "fork at 2-2, send u3"],
  ["idle", "a later message behind it", after(2, say("u2", "TWO")), "fork at 2-2, send u2"],
  ["idle", "an earlier message behind it", after(2, say("u1", "ONE")), "refuse delivered"],
  ["idle", "an unknown named result behind it", after(2, { ...look, answers: named("w0") }), "refuse not_waiting"],
  ["running", "a message behind the response that runs", after(4), "refuse busy"],
  [
    "running",
    "a named result behind the present end",
    after(Infinity, { ...look, answers: named("w0") }),
    "refuse busy"
  ],
  ["left", "a message behind an earlier response", after(2), "fork at 2-2, send u3"],
  ["waiting", "a message behind the last response", after(4), "fork at 4-4, send u3"],
  [
    "waiting",
    "a message behind the last response and a shorter history",
    after(4, say("u3", "three", history("u1", "u3"))),
    "fork at 4-4, send u3 at 2-2"
  ],
  ["waiting", "a message behind the present end", after(Infinity), "send u3"],
  ["queued", "a message behind an earlier response", after(2), "fork at 2-2, send u3"],
  ["waitingApproval", "a message behind the last response", after(4), "refuse awaiting_approval"],
  ["called", "both results again", after(4, { ...look, answers: both }), "fork at 4-4, answer w0 w1"],
  ["called", "the missing result", after(5, { ...look, answers: named("w1") }), "fork at 5-5, answer w1"],
  ["called", "a result that was there", after(5, { ...look, answers: named("w0") }), "refuse no_wait"],
  [
    "called",
    "the result of a later call with this id",
    after(8, { ...look, answers: named("w0") }),
    "fork at 8-8, answer w0"
  ],
  ["called", "a message in place of results", after(4), "refuse awaiting_tool_results"],
  ["called", "a message in place of one", after(5), "refuse awaiting_tool_results"],
  ["called", "a message behind the results", after(6), "fork at 6-6, send u3"],
  [
    "called",
    "the present wait behind an earlier response",
    after(6, { ...look, answers: text("q0") }),
    "refuse not_waiting"
  ],
  [
    "both",
    "a new message, which cancels calls only",
    say("u3", "three"),
    "refuse awaiting_approval",
    { ...lenient, approvals: "refuse" }
  ]
]

describe("reconcile", () => {
  for (const [where, what, posted, action, policy = strict] of rows)
    it(`POST1 ${where}: ${what}: ${action}`, () => {
      expect(briefly(reconcile(situations[where], posted, policy))).toBe(action)
    })

  it("POST3 messages that the chat does not have are one message, without those that it has", () => {
    const action = reconcile(idle, sayBoth("u1", "u2", "u8", "u9"), strict)
    const content = action.type === "send" ? action.message.read().content : undefined
    expect(content).toEqual([
      { type: "text", text: "new u8" },
      { type: "text", text: "new u9" }
    ])
  })

  it("POST3 of messages without ids, those up to the newest of the chat are known", () => {
    const posted = (...texts: ReadonlyArray<string>): Posted => ({
      ...look,
      messages: texts.map((one) => ({ id: undefined, read: () => Message.user(one), edits: false }))
    })
    const textOf = (action: Action) => (action.type === "send" ? Message.text(action.message.read()) : action.type)
    expect(textOf(reconcile(idle, posted("one", "two", "three"), strict))).toBe("three")
    expect(textOf(reconcile(idle, posted("three", "four"), strict))).toBe("threefour")
    expect(textOf(reconcile(idle, posted("two"), strict))).toBe("two")
  })

  it("POST2 the order of keys makes no other message", () => {
    const image = (first: boolean) => Message.user([first ? { type: "text", text: "a" } : { text: "a", type: "text" }])
    const here = { ...idle, messages: [withId(image(true), "u1")] }
    expect(
      briefly(reconcile(here, { ...look, messages: [{ id: "u1", read: () => image(false), edits: false }] }, strict))
    ).toBe("follow")
  })
})
