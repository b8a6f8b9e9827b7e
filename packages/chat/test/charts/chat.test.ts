import type { TurnData } from "../../src/inbox/index.ts"
import { StateMachine } from "@troupe/otp"
import type { AnyEventObject } from "xstate"
import { AdapterError } from "../../src/errors/ChatError.ts"
import { chatMachine } from "../../src/loop/ChatMachine.ts"
import { chatStart } from "../../src/loop/chatStart.ts"
import type { ChatContext, ChatInput, TurnFacts, Verdict } from "../../src/loop/chatContext.ts"
import type { Conversation, OpenStep } from "../../src/record/Conversation.ts"
import { dueHooks } from "../../src/loop/lifecycleHooks.ts"
import { type Message } from "../../src/model/messageShapes.ts"
import { assistant, user } from "../../src/model/Message.ts"
import type { FinishReason, Response } from "../../src/model/Response.ts"
import * as Inbox from "../../src/inbox/Inbox.ts"
import { waitOfTask } from "../../src/record/BackgroundTask.ts"
import { held, original } from "../../src/values/held.ts"
import type { StepResult } from "../../src/record/StepResult.ts"
import type { ToolCall } from "../../src/model/ToolCall.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { hi } from "../double/scripts.ts"
import { engineParts } from "../double/stepping.ts"
import type { Walk } from "./paths.ts"
import { testPaths, testPurity } from "./walking.ts"
import type { Terminal } from "../../src/step/chainLimits.ts"

const check = leakCheck()

/** An environment that does nothing: its answers are events of the walk. */
const machine = StateMachine.bind(chatMachine, {
  fail: () => {},
  refused: () => {},
  settle: () => {},
  acceptAgain: () => {},
  deliver: () => {},
  discard: () => {},
  saveJournal: () => {},
  keep: () => {},
  keepAsked: () => {},
  setMode: () => {},
  end: () => {}
})

const call: ToolCall = { id: "c0", name: "t", arguments: {} }
const answer: Message = { role: "tool", toolCallId: "c0", content: "r" }

/** The end of a step, as it is judged by itself. */
const step = (finishReason: FinishReason, more: Partial<StepResult> = {}, open?: OpenStep): AnyEventObject => {
  const toolCalls = finishReason === "tool_calls" ? [call] : []
  const result: StepResult = {
    thread: { messages: hi },
    response: { outputText: "", toolCalls, finishReason, usage: {}, metadata: {} },
    toolResults: [],
    done: finishReason !== "tool_calls",
    mode: "auto",
    manualToolCalls: [],
    truncatedToolCalls: [],
    ...more
  }
  const terminal = terminalOf(result)
  return {
    type: "step.ended",
    result: held(result),
    open,
    mayContinue: true,
    now: 1,
    ...(terminal === undefined ? {} : { terminal: held(terminal) })
  }
}

const terminalOf = ({ pendingApprovals, halt, manualToolCalls, done }: StepResult): Terminal | undefined => {
  if (pendingApprovals !== undefined) return { reason: "awaiting_approval", metadata: {} }
  if (halt?.type === "question") {
    const { type: _, ...pendingQuestion } = halt
    return { reason: "ask_user", metadata: {}, pendingQuestion }
  }
  if (manualToolCalls.length > 0) {
    return { reason: "manual_tool_calls", metadata: {}, pendingToolCalls: manualToolCalls }
  }
  return done ? { reason: "completed", metadata: {} } : undefined
}

const request = (count: number): AnyEventObject => ({
  type: "xstate.done.actor.adapterStream",
  output: {
    type: "exhausted",
    read: {
      id: "s1",
      reply: held<Response>({ outputText: "", toolCalls: [], finishReason: null, usage: {}, metadata: {} }),
      count,
      hasUnknownTool: false
    }
  },
  actorId: "adapterStream"
})

const billing = { name: "billing", version: "1" }

const halt: Terminal = { reason: "enough", metadata: { haltHook: "PreIteration" } }

const question: Partial<StepResult> = { halt: { type: "question", toolCallId: "c0", question: "which?", options: {} } }

/** The call of the reply waits for a decision; the thread has its message. */
const waits = (): AnyEventObject => {
  const pending = { kind: "permission", reason: "asked", askedAt: 0 } as const
  const thread = { messages: [...hi, assistant("", [call])] }
  const pendingApprovals = [{ toolCall: call, ...pending }]
  return step("tool_calls", { thread, pendingApprovals }, { at: 1, calls: [{ state: "waiting", ...pending }] })
}

const ask = {
  id: "c0",
  at: 1,
  kind: "permission",
  toolCall: call,
  reason: "",
  agent: "a",
  chat: "c/~/1",
  askedAt: 0
} as const

/** A background task whose sub-agent waits. */
const task = {
  id: "t",
  toolCallId: "c9",
  tool: "t",
  arguments: {},
  key: "k",
  startedAt: 0,
  child: { chat: "c/~/1", asks: [ask], counted: {} }
}

const answered = (verdict: Verdict): AnyEventObject => ({ type: "hooks.answered", verdict, now: 1 })

/** A turn of one kind waits at most, and one step goes on at most: more of the same leads nowhere else. */
const allows = (
  { context, value, children }: { readonly context: ChatContext; readonly value: unknown; readonly children: object },
  event: AnyEventObject
): boolean => {
  const { inbox, steps } = context
  const { type, kind, verdict } = event
  if (type.includes("call.")) return (type === "call.begin") === !("call.0" in children)
  const running = (value as { readonly running?: unknown }).running
  if (running === "beginning") return type === "turn.begun" || type === "turn.cancel"
  if (type === "turn.begun") return false
  if (type.startsWith("compaction.")) return running === "planning"
  if (kind === "too long") return context.facts.compacting?.at === undefined
  if (kind === "hands over") return context.record.agent === undefined
  if (kind === "steer") return !Inbox.hasSteers(inbox) && steps.length < 2
  if (kind === "interrupt") return !Inbox.hasInterrupts(inbox)
  if (type === "input.held") return !inbox.some(Inbox.isHeld)
  if (kind === "task") return running === undefined && value !== "settled" && inbox.length === 0
  if (type === "children.began") return context.record.children === undefined && context.turn !== undefined
  if (kind === "task waits") return context.record.tasks === undefined && context.turn !== undefined
  if (kind === "decides the task") return context.record.tasks?.some((one) => waitOfTask(one) !== undefined) === true
  if (type === "chain.end") return context.record.chain?.isOver !== true
  if (type === "turn.start" && inbox.some(({ status }) => status === "withdrawn")) return false
  if (type === "turn.start") return Inbox.next(inbox) === undefined
  if (type === "hooks.answered") {
    return context.turn !== undefined && (verdict as Verdict).type === dueHooks(context).due
  }
  return kind !== "goes on" || steps.length === 0
}

const apart = ({ context }: { readonly context: ChatContext }) => {
  const { stopped, timed, committed, result, refusal, failure, inbox, steps, notified, aside, record } = context
  const { open } = record
  const next = Inbox.next(inbox)
  return [
    [stopped, timed, committed, steps.length, context.firstPass !== undefined, context.awaits],
    [notified, aside !== undefined, context.leaving],
    [result === undefined ? undefined : original(result).haltedReason, refusal !== undefined, failure !== undefined],
    context.record.tasks?.map((one) => waitOfTask(one) !== undefined),
    [context.record.children?.length, context.record.chain?.isOver, context.record.chain !== undefined],
    [
      context.record.pendingQuestion !== undefined,
      context.record.pendingToolCalls.length,
      context.record.expiresAt !== undefined
    ],
    [context.step?.ending?.type, context.step?.count, context.step?.calls],
    [context.facts.compacting, context.record.thread.compaction !== undefined],
    [open?.calls.map(({ state }) => state), inbox.map(({ status }) => status)],
    [next?.messages.at(-1)?.role, Inbox.hasSteers(inbox), Inbox.hasInterrupts(inbox)]
  ]
}

/** All events of a chat, by their names here. */
const seen = (facts: TurnFacts): Readonly<Record<string, AnyEventObject>> => {
  const start = (
    id: string,
    messages: ReadonlyArray<Message>,
    more: Partial<Omit<TurnData, "id"> & { readonly id?: string }> = {}
  ) => ({
    type: "turn.start",
    turn: { id, messages, ...more },
    now: 1
  })
  const refused = { type: "refused", error: held(new AdapterError("timeout")) }
  const tooLong = { type: "refused", error: held(new AdapterError("context_length_exceeded")) }
  const compaction = { upTo: 0, kept: [], tokens: { before: 2, after: 1 } }
  const closed = {
    thread: { messages: [...hi, assistant("", [call]), answer] },
    pendingToolCalls: []
  }
  return {
    said: start("said", [user("a")]),
    sent: start("sent", [user("a")], { followed: true }),
    late: { ...start("late", [user("a")]), now: 3 },
    steer: start("steer", [user("s")], { whenBusy: "steer", followed: true }),
    interrupt: start("interrupt", [user("i")], { whenBusy: "interrupt", followed: true }),
    task: {
      ...start("task/1", [{ ...user("t"), metadata: { task: { id: "1", tool: "t", status: "done" } } }], {
        whenBusy: "steer",
        followed: true
      })
    },
    pending: start("pending", [user("p")], { followed: true }),
    "takes back": { type: "input.withdraw", input: "pending" },
    "ends the wait": { type: "wait.cancel" },
    doubted: { type: "input.held", turn: { id: "doubted", messages: [user("d")], followed: true }, status: "doubted" },
    results: start("results", [answer]),
    "late results": { ...start("results", [answer]), now: 3 },
    cancel: { type: "turn.cancel" },
    deadline: { type: "turn.deadline" },
    decides: start("decides", [], { decisions: [{ toolCallId: "c0", decision: { type: "allow" } }] }),
    "late decision": {
      ...start("decides", [], { decisions: [{ toolCallId: "c0", decision: { type: "allow" } }] }),
      now: 3
    },
    begun: { type: "turn.begun", facts, now: 1 },
    "waits for a decision": waits(),
    due: { type: "journal.due" },
    "host hands over": { type: "agent.set", agent: billing },
    "hands over": { ...step("tool_calls"), handoff: { agent: billing, timeMs: undefined } },
    "reply with calls": request(1),
    "reply without calls": request(0),
    "condition throws": { type: "step.failed", error: held(new Error("boom")) },
    "request died": { type: "xstate.error.actor.adapterStream", error: "dead", actorId: "adapterStream" },
    "calls ended": { type: "calls.exhausted", result: held({ outcomes: [], halt: undefined, suspended: [] }) },
    ...callEvents,
    "child began": { type: "children.began", children: ["c/~/1"], forgets: [] },
    "task waits": { type: "task.changed", task },
    "decides the task": {
      type: "tasks.decided",
      decisions: [{ toolCallId: "c9/~/c0", decision: { type: "allow" } }]
    },
    "decides no task": {
      type: "tasks.decided",
      decisions: [{ toolCallId: "c9/~/c1", decision: { type: "allow" } }]
    },
    "end of chain": { type: "chain.end" },
    "host plans": { type: "mode.set", mode: "plan" },
    "the mode changed": { type: "mode.changed", standing: { mode: "plan", loosest: "plan" } },
    grew: { type: "reply.grew", text: "a" },
    expired: { type: "suspension.expired" },
    leaves: { type: "chat.leave" },
    taken: { type: "events.taken", now: 1 },
    answers: step("stop"),
    "goes on": step("tool_calls"),
    asks: step("tool_calls", question),
    "leaves calls": step("tool_calls", { manualToolCalls: [call] }),
    refused: { type: "xstate.done.actor.adapterStream", output: refused, actorId: "adapterStream" },
    "too long": { type: "xstate.done.actor.adapterStream", output: tooLong, actorId: "adapterStream" },
    "asks for a summary": { type: "compaction.asks", now: 1 },
    compacted: { type: "compaction.ended", compaction, now: 1 },
    "not compacted": { type: "compaction.ended", failed: true, now: 1 },
    closed: { type: "calls.closed", closed, now: 1 },
    committed: { type: "commit.ended", now: 1 },
    "not committed": { type: "commit.failed", error: new Error("full"), unanswered: false, now: 1 },
    began: answered({ type: "begin", said: [] }),
    "halts the prompt": answered({ type: "begin", said: [], terminal: held(halt) }),
    announced: answered({ type: "announce", injects: [], aside: undefined }),
    injects: answered({ type: "announce", injects: [user("b")], aside: undefined }),
    "halts the request": answered({ type: "announce", injects: [], aside: undefined, terminal: held(halt) }),
    reported: answered({ type: "report" }),
    drained: { type: "xstate.after.drain.chat.running.committing.draining" },
    withdrawn: { type: "wait.closed", expired: { ...closed, lastHaltedReason: "expired" }, now: 1 }
  }
}

/** The events of a call. */
const callEvents = {
  "calls ready": { type: "calls.ready" },
  "call begins": { type: "call.begin", index: 0, drainMs: 5, startAtOnce: true, name: "t" },
  "call is cancelled": { type: "call.command", index: 0, command: "call.cancel", state: { cancelled: true } },
  "call restarts": { type: "call.command", index: 0, command: "call.restart" },
  "call asks": { type: "call.changed", index: 0, state: { child: { chat: "c", asks: [], counted: {} } } },
  "call ends": {
    type: "xstate.done.actor.call.0",
    output: { type: "cancelled", began: true },
    actorId: "call.0"
  },
  "call dies": { type: "xstate.error.actor.call.0", error: "dead", actorId: "call.0" }
}

const always = ["begun", "reply with calls", "reply without calls", "calls ended"]

/** How a walk begins, beside its chart's input. */
interface Begin extends Partial<ChatInput> {
  readonly facts?: Partial<TurnFacts>
  readonly record?: Conversation
}

const walk = (name: string, { facts, record, ...input }: Begin, ...kinds: ReadonlyArray<string>): Walk => {
  const { engine } = engineParts({ adapter: check.fake({ script: [] }) })
  const clock = { ...check.system().clock, now: () => 0 }
  const all = seen({ drainMs: 1_000, hooks: [], ...facts })
  const events = [...always, ...kinds].map((kind) => ({ type: "none", ...all[kind], kind }))
  return {
    name,
    machine,
    input: { ...chatStart({ id: "c", engine, clock, record, ...input }), ...input },
    events: () => events,
    apart: apart as Walk["apart"],
    allows: allows as NonNullable<Walk["allows"]>
  }
}

const stores = true

/** A turn of the chart's own. */
const turn = { id: "own", messages: hi }

const overChain = { requests: 1, usage: {}, timeMs: 5, isOver: true }

const idle: Conversation = { id: "c", thread: { messages: hi }, usage: {}, running: false, pendingToolCalls: [] }

/** A chat that is started from a record of what waits; its time is over soon, and its timer is late. */
const late = (name: string, waiting: Partial<Conversation>, ...kinds: ReadonlyArray<string>): Walk => {
  const thread = { messages: [...hi, assistant("", [call])] }
  const record = { id: "c", thread, usage: {}, running: false, pendingToolCalls: [], expiresAt: 2, ...waiting }
  return walk(name, { stores, record }, ...kinds)
}

const hooks: TurnFacts["hooks"] = [
  "SessionStart",
  "UserPromptSubmit",
  "PreIteration",
  "Stop",
  "StopFailure",
  "SessionEnd"
]

const steps = ["answers", "goes on", "asks", "leaves calls", "refused"]
const notified = ["began", "halts the prompt", "announced", "injects", "halts the request", "reported"]
const stored = ["committed", "not committed", "drained"]

const walks = (): ReadonlyArray<Walk> => [
  walk("one turn", { turn }, "cancel", "taken", "grew", "request died", ...steps),
  walk(
    "a request that is too long",
    { turn, facts: { compacting: {} } },
    "too long",
    "asks for a summary",
    "compacted",
    "not compacted",
    "cancel",
    "deadline",
    "refused",
    "request died",
    "answers",
    "taken"
  ),
  walk(
    "a turn that compacts by hand",
    { turn: { id: "own", messages: [], compacts: true }, facts: { compacting: {} } },
    "asks for a summary",
    "compacted",
    "not compacted",
    "cancel",
    "answers",
    "taken"
  ),
  walk("a reply with calls", { turn }, "cancel", "deadline", "answers", "taken", ...Object.keys(callEvents)),
  walk("one step", { turn, until: "step" }, "answers", "refused", "cancel", "condition throws"),
  late("a start that is late", { pendingToolCalls: [call], expiresAt: 0 }, "said"),
  late(
    "a turn that begins with open calls",
    { open: { at: 1, calls: [{ state: "decided", kind: "permission", decision: { type: "allow" } }] } },
    "said",
    "interrupt",
    "grew",
    "cancel",
    "closed",
    "answers",
    "refused",
    "committed",
    "taken"
  ),
  walk(
    "a chat that keeps nothing",
    {},
    "host plans",
    "the mode changed",
    "said",
    "results",
    "cancel",
    "taken",
    ...steps
  ),
  walk("a chat that leaves", { stores }, "said", "leaves", "cancel", "taken", "answers", "committed"),
  walk(
    "a chat that is handed over",
    { stores },
    "said",
    "goes on",
    "answers",
    "taken",
    "committed",
    "host hands over",
    "hands over"
  ),
  walk(
    "a background task that waits",
    { stores },
    "said",
    "task waits",
    "decides the task",
    "decides no task",
    "answers",
    "taken",
    "committed"
  ),
  walk("a chat with a store", { stores }, "said", "results", "cancel", "taken", "answers", "leaves calls", ...stored),
  walk("inputs in the middle of a turn", { stores }, "said", "steer", "interrupt", "taken", "answers", "committed"),
  walk(
    "inputs that are stored",
    { stores },
    "said",
    "pending",
    "results",
    "doubted",
    "leaves calls",
    "taken",
    "committed",
    "not committed"
  ),
  walk("inputs that are withdrawn", { stores }, "pending", "sent", "takes back", "answers", "taken", "committed"),
  ...["asks", "leaves calls", "waits for a decision"].map((wait) =>
    walk("a wait that a person ends", {}, "said", "ends the wait", wait, "withdrawn", "taken", "committed")
  ),
  walk("a turn with a time", { stores, facts: { timeMs: 1e6 } }, "said", "deadline", "taken", "answers", ...stored),
  walk("a chat with hooks", { facts: { hooks } }, "said", "cancel", "taken", "answers", ...notified),
  walk(
    "a chat with hooks and a store",
    { stores, facts: { hooks: ["PreIteration"] } },
    "said",
    "taken",
    "answers",
    "committed",
    "announced",
    "injects"
  ),
  walk(
    "a turn with hooks and a time",
    { turn, facts: { hooks, timeMs: 1e6 } },
    "deadline",
    "cancel",
    "taken",
    "answers",
    "refused",
    "began",
    "announced",
    "reported"
  ),
  walk(
    "calls that wait for a decision",
    { stores },
    "said",
    "pending",
    "decides",
    "waits for a decision",
    "answers",
    "cancel",
    "deadline",
    "due",
    "taken",
    "committed"
  ),
  walk(
    "calls that wait so long and no longer",
    { stores, suspendedTtlMs: 1e6 },
    "said",
    "decides",
    "waits for a decision",
    "expired",
    "withdrawn",
    "taken",
    "committed"
  ),
  walk(
    "a chat that waits so long and no longer",
    { stores, suspendedTtlMs: 1e6 },
    "said",
    "interrupt",
    "results",
    "expired",
    "withdrawn",
    "not committed",
    "asks",
    "leaves calls",
    "taken",
    "committed"
  ),
  walk("the end of a task while a question is open", {}, "said", "asks", "task", "taken"),
  walk("a chat whose child begins", { stores }, "said", "child began", "goes on", "answers", "committed", "taken"),
  walk("a chain that ends", { stores }, "said", "end of chain", "task", "taken", "answers", "committed"),
  late(
    "a chain that is over",
    { expiresAt: undefined, chain: overChain, running: true },
    "task",
    "said",
    "taken",
    "answers"
  ),
  walk(
    "an input of a person in a turn of the runtime",
    { stores, facts: { timeMs: 1e6 }, record: { ...idle, chain: { ...overChain, isOver: false } } },
    "task",
    "committed",
    "steer",
    "taken",
    "answers"
  ),
  walk("a chat that waits no time", { stores, suspendedTtlMs: 0 }, "said", "asks", "withdrawn", "taken", "committed"),
  walk(
    "a chat that was interrupted",
    { record: { id: "c", thread: { messages: hi }, usage: {}, running: true, draft: "Once", pendingToolCalls: [] } },
    "said",
    "results",
    "taken",
    "answers"
  ),
  late(
    "an answer that is late",
    { pendingQuestion: { question: "which?", toolCallId: "c0", options: {} } },
    "late",
    "withdrawn",
    "committed"
  ),
  late("results that are late", { pendingToolCalls: [call] }, "late results", "withdrawn", "committed"),
  late(
    "a decision that is late",
    {
      open: {
        at: 1,
        calls: [{ state: "waiting", kind: "permission", reason: "asked", askedAt: 0, expiresAt: 2 }]
      }
    },
    "late decision",
    "withdrawn",
    "committed"
  )
]

testPaths(machine, walks)
testPurity(chatMachine, walks)
