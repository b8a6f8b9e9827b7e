import { held } from "../../src/values/held.ts"
import { Clock } from "@troupe/otp"
import type { AnyEventObject } from "xstate"
import { AdapterError } from "../../src/errors/ChatError.ts"
import { chatMachine } from "../../src/loop/ChatMachine.ts"
import type { ChatContext, ChatInput } from "../../src/loop/chatContext.ts"
import type { ChatRecord } from "../../src/record/ChatRecord.ts"
import type { ChatOptions } from "../../src/options/ChatOptions.ts"
import type { Hooks } from "../../src/gate/Hooks.ts"
import { mustBegin, type Verdict } from "../../src/loop/lifecycleHooks.ts"
import { Delivery } from "../../src/inbox/delivery.ts"
import { type Message } from "../../src/model/messageShapes.ts"
import { assistant, user } from "../../src/model/Message.ts"
import type { FinishReason } from "../../src/model/Response.ts"
import type { StepResult } from "../../src/record/StepResult.ts"
import type { ToolCall } from "../../src/model/ToolCall.ts"
import { leakCheck } from "../double/leakCheck.ts"
import { hi } from "../double/scripts.ts"
import { engineParts, turnOf } from "../double/stepping.ts"
import type { Walk } from "./paths.ts"
import { testPaths } from "./walking.ts"
import type { OpenStep } from "../../src/record/OpenStep.ts"
import type { Terminal } from "../../src/stopConditions/terminal.ts"

const check = leakCheck()

const call: ToolCall = { id: "c0", name: "t", arguments: {} }
const answer: Message = { role: "tool", toolCallId: "c0", content: "r" }

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
  return { type: "xstate.done.actor.step", output: { type: "completed", result: held(result), open }, actorId: "step" }
}

const halt: Terminal = { reason: "enough", metadata: { haltHook: "PreIteration" } }

const question: Partial<StepResult> = { halt: { type: "question", toolCallId: "c0", question: "which?", options: {} } }

/** The call of the reply waits for a decision; the thread has its message. */
const waits = (): AnyEventObject => {
  const pending = { kind: "permission", reason: "asked", askedAt: 0 } as const
  const thread = { messages: [...hi, assistant("", [call])] }
  const pendingApprovals = [{ toolCall: call, ...pending }]
  return step("tool_calls", { thread, pendingApprovals }, { at: 1, calls: [{ state: "waiting", ...pending }] })
}

const committing = "0.chat.running.committing"
const expiring = "0.chat.expiring"
const hooking = "0.chat.running.hooking"

const answered = (output: Verdict): AnyEventObject => ({
  type: `xstate.done.actor.${hooking}`,
  output,
  actorId: hooking
})

/** Hooks answer what they were asked, and no more than that. */
const answersTo = (context: ChatContext): Verdict["type"] =>
  mustBegin(context) ? "begin" : (context.result ?? context.refusal) === undefined ? "announce" : "report"

/** A turn of one kind waits at most, and one step goes on at most: more of the same leads nowhere else. */
const allows = ({ context }: { readonly context: ChatContext }, { type, kind, output }: AnyEventObject): boolean => {
  const { mailbox, steps } = context
  if (kind === "steer") return !mailbox.steers
  if (kind === "interrupt") return !mailbox.interrupts
  if (type === "turn.start") return mailbox.next === undefined
  if (type === `xstate.done.actor.${hooking}`) {
    return context.turn !== undefined && (output as Verdict).type === answersTo(context)
  }
  return kind !== "goes on" || steps.length === 0
}

const apart = ({ context }: { readonly context: ChatContext }) => {
  const { cancelled, outOfTime, timed, committed, result, refusal, failure, mailbox, steps, notified, aside } = context
  return [
    [cancelled, outOfTime, timed, committed, steps.length, context.firstPass?.haltedReason],
    [notified, aside !== undefined, context.leaving],
    [result?.haltedReason, refusal !== undefined, failure !== undefined],
    [context.pendingQuestion !== undefined, context.pendingToolCalls.length, context.expiresAt !== undefined],
    [context.open?.calls.map(({ state }) => state), context.journal !== undefined],
    [mailbox.next?.messages.at(-1)?.role, mailbox.steers, mailbox.interrupts]
  ]
}

/** Everything a chat can hear, by what it is called here. */
const seen = (parts: Parameters<typeof turnOf>[0]): Readonly<Record<string, AnyEventObject>> => {
  const start = (messages: ReadonlyArray<Message>, delivery?: Delivery) => ({
    type: "turn.start",
    turn: turnOf(parts, messages, delivery === undefined ? {} : { delivery })
  })
  const refused = { type: "refused", error: held(new AdapterError("timeout")) }
  return {
    said: start([user("a")]),
    steer: start([user("s")], new Delivery("steer", "s", false)),
    interrupt: start([user("i")], new Delivery("interrupt", "i", false)),
    pending: start([user("p")], new Delivery("queue", "p", true, { status: "pending" })),
    results: start([answer]),
    cancel: { type: "turn.cancel" },
    deadline: { type: "turn.deadline" },
    decides: {
      type: "turn.start",
      turn: turnOf(parts, [], { decisions: [{ toolCallId: "c0", decision: { type: "allow" } }] })
    },
    "waits for a decision": waits(),
    due: { type: "journal.due" },
    "host plans": { type: "mode.set", mode: "plan", counts: () => {} },
    expired: { type: "suspension.expired" },
    leaves: { type: "chat.leave" },
    taken: { type: "events.taken" },
    saved: { type: "inbox.saved" },
    "not saved": { type: "inbox.failed", error: new Error("full") },
    answers: step("stop"),
    "goes on": step("tool_calls"),
    asks: step("tool_calls", question),
    "leaves calls": step("tool_calls", { manualToolCalls: [call] }),
    refused: { type: "xstate.done.actor.step", output: refused, actorId: "step" },
    committed: { type: `xstate.done.actor.${committing}`, output: undefined, actorId: committing },
    "not committed": { type: `xstate.error.actor.${committing}`, error: new Error("full"), actorId: committing },
    began: answered({ type: "begin", said: [], terminal: undefined }),
    "halts the prompt": answered({ type: "begin", said: [], terminal: halt }),
    announced: answered({ type: "announce", injects: [], aside: undefined, terminal: undefined }),
    injects: answered({ type: "announce", injects: [user("b")], aside: undefined, terminal: undefined }),
    "halts the request": answered({ type: "announce", injects: [], aside: undefined, terminal: halt }),
    reported: answered({ type: "report" }),
    drained: { type: "xstate.after.drain.chat.running.committing.draining" },
    withdrawn: { type: `xstate.done.actor.${expiring}`, output: undefined, actorId: expiring },
    "not withdrawn": { type: `xstate.error.actor.${expiring}`, error: new Error("full"), actorId: expiring }
  }
}

const walk = (
  name: string,
  { options = {}, begun = false, ...more }: Partial<ChatInput> & { options?: ChatOptions; begun?: boolean },
  ...kinds: ReadonlyArray<string>
): Walk => {
  const parts = { adapter: check.fake({ script: [] }), options }
  return {
    name,
    machine: chatMachine,
    input: {
      id: "c",
      engine: engineParts(parts).engine,
      ...(begun ? { turn: turnOf(parts, hi) } : {}),
      ...more
    },
    events: () => {
      const all = seen(parts)
      return kinds.map((kind) => ({ type: "none", ...all[kind], kind }))
    },
    apart: apart as Walk["apart"],
    allows: allows as NonNullable<Walk["allows"]>
  }
}

/** A store that answers nothing of its own: what becomes of a commit is an event of the walk. */
const commit = () => new Promise<void>(() => {})

/** A chat that is started from a record of what waits; its time is over as soon as it is there, and its timer is late. */
const late = (name: string, waiting: Partial<ChatRecord>, ...kinds: ReadonlyArray<string>): Walk => {
  const made = walk(name, { commit }, ...kinds)
  const thread = { messages: [...hi, assistant("", [call])] }
  const record = { id: "c", thread, usage: {}, running: false, pendingToolCalls: [], expiresAt: 1, ...waiting }
  const input = {
    ...(made.input as ChatInput),
    record,
    /** Read by each start, and by its clock until it waits. */
    get clock() {
      let readings = 0
      return { ...Clock.live, now: () => (readings++ < 4 ? 0 : 2) }
    }
  }
  return { ...made, input }
}

const noted = [() => undefined]
const hooks: Hooks = {
  SessionStart: noted,
  UserPromptSubmit: noted,
  PreIteration: noted,
  Stop: noted,
  StopFailure: noted,
  SessionEnd: noted
}

const steps = ["answers", "goes on", "asks", "leaves calls", "refused"]
const notified = ["began", "halts the prompt", "announced", "injects", "halts the request", "reported"]
const stored = ["committed", "not committed", "drained"]

testPaths(chatMachine, () => [
  walk("one turn", { begun: true }, "cancel", "taken", ...steps),
  walk("a chat that keeps nothing", {}, "host plans", "said", "results", "cancel", "taken", ...steps),
  walk("a chat that leaves", { commit }, "said", "leaves", "cancel", "taken", "answers", "committed"),
  walk("a chat with a store", { commit }, "said", "results", "cancel", "taken", "answers", "leaves calls", ...stored),
  walk("inputs in the middle of a turn", { commit }, "said", "steer", "interrupt", "taken", "answers", "committed"),
  walk(
    "inputs that are stored",
    { commit },
    "said",
    "pending",
    "results",
    "saved",
    "not saved",
    "leaves calls",
    "taken",
    "committed"
  ),
  walk(
    "a turn with a time",
    { commit, options: { budget: { timeMs: 1e6 } } },
    "said",
    "deadline",
    "taken",
    "answers",
    ...stored
  ),
  walk("a chat with hooks", { options: { hooks } }, "said", "cancel", "taken", "answers", ...notified),
  walk(
    "a chat with hooks and a store",
    { commit, options: { hooks: { PreIteration: noted } } },
    "said",
    "taken",
    "answers",
    "committed",
    "announced",
    "injects"
  ),
  walk(
    "a turn with hooks and a time",
    { begun: true, options: { hooks, budget: { timeMs: 1e6 } } },
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
    { commit },
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
    { commit, suspendedTtlMs: 1e6 },
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
    { commit, suspendedTtlMs: 1e6 },
    "said",
    "interrupt",
    "expired",
    "withdrawn",
    "not withdrawn",
    "asks",
    "leaves calls",
    "taken",
    "committed"
  ),
  walk("a chat that waits no time", { commit, suspendedTtlMs: 0 }, "said", "asks", "withdrawn", "taken", "committed"),
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
    "said",
    "withdrawn"
  ),
  late("results that are late", { pendingToolCalls: [call] }, "results", "withdrawn"),
  late(
    "a decision that is late",
    {
      open: {
        at: 1,
        calls: [{ state: "waiting", kind: "permission", reason: "asked", askedAt: 0, expiresAt: 1 }]
      }
    },
    "decides",
    "withdrawn"
  )
])
