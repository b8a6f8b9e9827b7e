/**
 * The statechart of a chat: steps until a terminal condition, turn after turn.
 *
 * Owns: the thread, the inbox of waiting turns, the decision after each step, all as plain data. Does not own what is
 * live: `ChatEnv` has the options and outlets of turns, the store, the hooks and the clock.
 *
 * CHAT1. One turn runs at a time. Turns that arrive meanwhile wait in order, and each is run.
 * CHAT2. The inputs that begin a turn are committed before its first request, each step before the next, and its end before
 *        `chat_completed`. When the store fails, the turn ends with `error`, and the chat continues.
 * CHAT3. Every turn that began ends with exactly one `chat_completed`, also when cancelled, unless the process dies.
 * CHAT6. When the time budget of a turn is over, the turn is cancelled, and ends within the drain deadline after that.
 * CHAT15. A chat that is to leave ends between two turns, and begins none; its successor runs the waiting turns.
 *
 * @module
 * @source ALLM.Chat, "Multi-turn stream composition"
 */
import { StateMachine } from "@troupe/otp"
import type { Snapshot } from "xstate"
import { formatStatus, isRecord, ValidationError } from "../errors/index.ts"
import {
  type At,
  askOf,
  callEnds,
  callingUntil,
  compactsFirst,
  chatSetup,
  commitOf,
  discardOf,
  enqueue,
  diedOf,
  keeps,
  outputIn,
  receipts,
  stopsCompaction,
  summaryRefused,
  refusalIn,
  refusalOfNext,
  savingOf
} from "./chatSetup.ts"
import { waitOf } from "./suspensionExpiry.ts"
import { askedFormat } from "../options/index.ts"
import type { ChatContext, ChatInput } from "./chatContext.ts"
import type { Saving, StepFinish, StepOpening } from "./chatEnv.ts"
import { dueHooks } from "./lifecycleHooks.ts"
import { initialContext } from "./beginTurn.ts"
import type { OpenStep } from "../record/index.ts"
import { original } from "../values/index.ts"
import { outputOf } from "./endTurn.ts"

const begins = [
  { guard: "refusesTurn", actions: { type: "refuse", params: refusalIn } },
  { target: "running", actions: "beginTurn" }
] as const

const begin = { "turn.start": [{ guard: "isHeldBack", actions: enqueue }, ...begins] } as const

/** A timer may be late, so an event that arrives first compares the time itself (CHAT14). */
const tooLate = { guard: "comesTooLate", target: "settled", actions: ["noteTime", ...enqueue] } as const

/** How a wait ends without an answer. */
const endsWait = {
  "suspension.expired": "withdrawing",
  "wait.cancel": { guard: "isOfWait", target: "withdrawing" }
} as const

const suspended = {
  exit: ["forgetExpiry", "markAnswered"],
  on: {
    "turn.start": [tooLate, { guard: "wasAccepted", actions: enqueue }, ...begins],
    ...endsWait
  }
} as const

const enqueues = [{ guard: "interrupts", actions: [...enqueue, "cancelRunning"] }, { actions: enqueue }] as const

const endsTurn = [
  {
    type: "close",
    params: ({ context: { turn, result } }: At) => ({ turn: turn?.id ?? "", result })
  },
  "endTurn"
] as const

/** The running turn, and the agent that its next request is of. */
const turnOf = ({ turn, record }: ChatContext) => ({ turn: turn?.id ?? "", agent: record.agent?.name })

/** What somebody requested between the steps of a turn, or beside it. Decisions about tasks count at once, or are refused (TASKWAIT1). */
const keepsAsked = (saving: Parameters<typeof keeps>[1]) =>
  ({
    "agent.set": keeps("recordAgent", saving),
    "chain.end": keeps("endChain", saving),
    "children.began": keeps("recordChildren", saving),
    "task.changed": keeps("recordTask", saving),
    "tasks.decided": [
      { guard: "decidesTasks", ...keeps("decideTasks", saving) },
      { actions: { type: "keepAsked", params: ({ event }: At) => ({ ask: askOf(event), saving: "refused" as const }) } }
    ]
  }) as const

/** The record to save now; `undefined` if a commit is due. */
const savingUnlessDue = ({ context }: { readonly context: ChatContext }): Saving | undefined =>
  context.committed ? savingOf({ context }) : undefined

/** The data of the step that runs. */
const stepOf = ({
  context: { turn, record, aside, step, firstPass, facts }
}: {
  readonly context: ChatContext
}): StepOpening => {
  const { thread, open, agent, permissionMode, pendingQuestion, tasks, children } = record
  return {
    turn: turn?.id ?? "",
    agent: open?.agent ?? agent?.name,
    isSecond: firstPass !== undefined,
    asked: askedFormat(thread),
    params: aside?.params,
    standing: permissionMode,
    thread,
    aside: aside?.messages,
    tasks,
    children,
    open,
    step,
    question: pendingQuestion?.toolCallId,
    compacting: facts.compacting
  }
}

const finishOf = ({ context }: { readonly context: ChatContext }): StepFinish => {
  const { record, steps, firstPass, stopped, until } = context
  const firstSteps = firstPass === undefined ? undefined : original(firstPass).steps.length
  return { ...stepOf({ context }), next: record.agent?.name, chain: record.chain, steps, firstSteps, stopped, until }
}

/** How a turn that is to stop ends the step in each of its phases. */
const stops = <Then extends object, Stop extends string>(then: Then, stop: Stop) =>
  ({
    "turn.cancel": { ...then, guard: "isOfTurn", actions: ["markCancelled", stop] },
    "turn.deadline": { ...then, actions: ["markOutOfTime", stop] }
  }) as const

/** The chart of a chat, or of its first step: then the chart ends with that step. */
const chartOf = (id: "chat" | "step") =>
  chatSetup.createMachine({
    id,
    context: ({ input }) => initialContext({ input: id === "step" ? oneStep(input) : input }),
    initial: "settled",
    on: {
      ...callEnds,
      "journal.due": { actions: { type: "saveJournal", params: savingOf } },
      "mode.set": {
        actions: {
          type: "setMode",
          params: ({ context, event: { mode, ask } }) => ({
            mode,
            ask,
            standing: context.record.permissionMode,
            saving: context.turn === undefined ? savingOf({ context }) : undefined
          })
        }
      },
      "mode.changed": { actions: "recordMode" },
      ...keepsAsked(savingUnlessDue),
      "chat.leave": { target: ".settled", actions: "markLeaving" },
      "input.held": { actions: "hold" },
      "input.withdraw": [
        {
          guard: "canDiscard",
          actions: ["withdraw", { type: "discard", params: discardOf }, "dropDiscarded"]
        },
        { guard: "isWaitingInput", actions: "withdraw" }
      ]
    },
    states: {
      settled: {
        id: "settled",
        always: [
          /** Stores what the start computed: since when its calls wait, and waits that expired meanwhile. */
          {
            guard: "mustKeep",
            target: "settled",
            reenter: true,
            actions: [{ type: "keep", params: savingOf }, "markKept"]
          },
          { guard: "isLeaving", target: "ended" },
          { guard: "isDone", target: "ended" },
          { guard: "hasExpired", target: "withdrawing" },
          {
            guard: "mustRefuse",
            target: "settled",
            reenter: true,
            actions: [{ type: "refuse", params: refusalOfNext }, "refuseNext"]
          },
          { guard: "canBegin", target: "running", actions: "beginNext" },
          { guard: "mustAwait", target: "settled", reenter: true, actions: ["awaitExpiry", "markAwaiting"] },
          { guard: "hasApprovals", target: "awaitingApproval" },
          { guard: "hasPendingCalls", target: "awaitingTools" },
          { guard: "isInterrupted", target: "interrupted" },
          { guard: "hasQuestion", target: "awaitingUser" },
          { target: "idle" }
        ]
      },
      idle: { on: begin },
      interrupted: { on: begin },
      awaitingUser: {
        exit: ["forgetExpiry", "markAnswered"],
        on: {
          "turn.start": [tooLate, ...begin["turn.start"]],
          ...endsWait
        }
      },
      awaitingTools: suspended,
      awaitingApproval: suspended,
      /** The calls or the question that the chat waited with get their results. */
      withdrawing: {
        on: { "turn.start": enqueues, "wait.closed": { target: "expiring", actions: "recordExpiry" } },
        invoke: { src: "expire", input: waitOf }
      },
      expiring: {
        on: {
          "turn.start": enqueues,
          "commit.ended": { target: "settled", actions: "recordCommit" },
          /** The stored deadline is unchanged, so the next start of the chat finds it again. */
          "commit.failed": { target: "settled", actions: "recordUnkept" }
        },
        invoke: { src: "commit", input: commitOf }
      },
      running: {
        on: {
          "turn.start": enqueues,
          "turn.cancel": { guard: "isOfTurn", actions: "markCancelled" },
          "turn.deadline": { actions: "markOutOfTime" },
          "chat.leave": { actions: "markLeaving" }
        },
        initial: "beginning",
        states: {
          beginning: {
            invoke: {
              src: "begin",
              input: ({ context }) => ({ ...turnOf(context), chain: context.record.chain, until: context.until })
            },
            on: { "turn.begun": { target: "deciding", actions: "recordBegun" } }
          },
          deciding: {
            id: "deciding",
            always: [
              /** Removes the rows of the inputs that were withdrawn during a commit (CHAT18). */
              {
                guard: "mustDiscard",
                target: "deciding",
                reenter: true,
                actions: [{ type: "discard", params: discardOf }, "dropDiscarded"]
              },
              { guard: "mustTime", target: "deciding", reenter: true, actions: ["startTime", "markTimed"] },
              { guard: "renewsTime", target: "deciding", reenter: true, actions: ["stopTime", "steer"] },
              { guard: "canSteer", target: "deciding", reenter: true, actions: "steer" },
              { guard: "mustBegin", target: "hooking" },
              { guard: "mustCommit", target: "committing" },
              { guard: "mustReport", target: "hooking" },
              { guard: "hasResult", target: "completing" },
              { guard: "isRefused", target: "#settled", actions: "dropTurn" },
              { guard: "mustClose", target: "closing" },
              { guard: "isStopped", target: "deciding", reenter: true, actions: "recordStop" },
              { guard: "compactsThread", target: "planning" },
              { guard: "hasOpenCalls", target: "phaseB" },
              { guard: "mustAnnounce", target: "hooking" },
              { target: "phaseA" }
            ]
          },
          hooking: {
            invoke: { src: "hooks", input: ({ context }) => dueHooks(context) },
            on: {
              "hooks.answered": { target: "deciding", actions: "recordHooks" },
              "turn.cancel": { guard: "isOfTurn", target: "deciding", actions: ["skipHooks", "markCancelled"] },
              "turn.deadline": { target: "deciding", actions: ["skipHooks", "markOutOfTime"] }
            }
          },
          committing: {
            invoke: { src: "commit", input: commitOf },
            on: {
              "commit.ended": { target: "deciding", actions: receipts.kept },
              "commit.failed": { target: "deciding", actions: [...receipts.lost, "recordCommitFailure"] },
              /** The commit under way has the state before. */
              ...keepsAsked(savingOf)
            },
            initial: "saving",
            states: {
              saving: {
                always: { guard: "isStopped", target: "draining" },
                on: {
                  "turn.cancel": { guard: "isOfTurn", target: "draining", actions: "markCancelled" },
                  "turn.deadline": { target: "draining", actions: "markOutOfTime" }
                }
              },
              /** When the turn is to stop, the chat waits for the store no longer than the drain deadline. */
              draining: {
                after: { drain: { target: "#deciding", actions: [...receipts.lost, "giveUpCommit"] } }
              }
            }
          },
          /** A model request. Its reply says which phase comes next. */
          phaseA: {
            invoke: [
              { id: "step", src: "step", input: stepOf },
              {
                id: "adapterStream",
                src: "adapterStream",
                input: ({ context: { facts } }) => ({ adapter: facts.adapter ?? "" }),
                onDone: [
                  compactsFirst,
                  {
                    guard: { type: "wasRefused", params: outputIn },
                    target: "deciding",
                    actions: [
                      { type: "refuseStep", params: outputIn<"refused"> },
                      { type: "recordRefusal", params: outputIn<"refused"> }
                    ]
                  },
                  {
                    guard: { type: "requestsTools", params: outputIn },
                    target: "phaseB",
                    actions: { type: "recordReply", params: outputIn<"exhausted"> }
                  },
                  { target: "phaseC", actions: { type: "recordReply", params: outputIn<"exhausted"> } }
                ],
                onError: { target: "phaseC", actions: { type: "endWith", params: diedOf } }
              }
            ],
            on: { ...stops({ target: "phaseC" }, "endCancelled"), "reply.grew": { actions: "showReply" } }
          },
          /** The request is too long: a compaction makes it shorter. */
          planning: {
            invoke: { id: "compaction", src: "compaction", input: stepOf },
            on: {
              ...stopsCompaction,
              "compaction.asks": "compacting",
              "compaction.ended": { target: "deciding", actions: "recordCompaction" }
            }
          },
          /** The request for a summary. */
          compacting: {
            invoke: [
              { id: "compaction", src: "compaction", input: (at) => ({ ...stepOf(at), asks: true }) },
              {
                id: "adapterStream",
                src: "adapterStream",
                input: ({ context: { facts } }) => ({ adapter: facts.adapter ?? "" }),
                onDone: [
                  summaryRefused,
                  { target: "planning", actions: { type: "recordReply", params: outputIn<"exhausted"> } }
                ],
                onError: { target: "planning", actions: { type: "endWith", params: diedOf } }
              }
            ],
            on: stopsCompaction
          },
          /** The tool calls of the reply, or the open calls of the last step, without a request (CHAT13). */
          phaseB: {
            invoke: [
              { id: "step", src: "step", input: stepOf },
              { id: "calls", src: "calls" }
            ],
            on: { ...stops({}, "cancelCalls"), ...callingUntil("phaseC"), "reply.grew": { actions: "showReply" } }
          },
          /** The end of the step, until its events are read. */
          phaseC: {
            invoke: { id: "finish", src: "finish", input: finishOf },
            on: {
              ...stops({}, "stopFinish"),
              "step.failed": { actions: { type: "crash", params: ({ event }) => event } },
              "step.ended": [
                { guard: "endsWithStep", target: "#ended", actions: "recordOnlyStep" },
                { guard: "handsOver", target: "deciding", actions: ["stopTime", "recordStep"] },
                { target: "deciding", actions: "recordStep" }
              ]
            }
          },
          /** The turn is to stop, and its open calls do not run. */
          closing: {
            invoke: {
              src: "close",
              input: ({ context: { turn, record } }) => {
                const { thread, open, pendingQuestion, pendingToolCalls } = record
                return { turn: turn?.id ?? "", thread, open: open as OpenStep, pendingQuestion, pendingToolCalls }
              }
            },
            on: { "calls.closed": { target: "deciding", actions: "recordClosed" } }
          },
          completing: {
            invoke: {
              src: "complete",
              input: ({ context: { turn, result, failure, refusal } }) => ({
                turn: turn?.id ?? "",
                result,
                failure,
                refusal
              })
            },
            on: {
              "events.taken": [
                { guard: "isTimed", target: "#settled", actions: ["stopTime", ...endsTurn] },
                { target: "#settled", actions: endsTurn }
              ]
            }
          }
        }
      },
      ended: { id: "ended", type: "final" }
    },
    output: ({ context }) => outputOf(context)
  })

const oneStep = ({ turn = { id: "", messages: [] }, ...input }: ChatInput): ChatInput => ({
  ...input,
  turn,
  until: "step"
})

/** Why a snapshot of a chart of an earlier version is refused: its record goes on, in the form that the present version reads. */
const refusalOfEarlier = (snapshot: Snapshot<unknown>): ValidationError | undefined => {
  const context: unknown = Reflect.get(snapshot, "context")
  if (!isRecord(context) || "record" in context) return undefined
  const reason =
    "is_of_an_earlier_version; continue from the record of the chat: the input environment(engine).restore(record)"
  return new ValidationError("undecodable", [{ field: ["snapshot"], reason }])
}

/** What a process that runs one of these machines reports. */
export const reported = { refuses: refusalOfEarlier, formatStatus }

/**
 * Runs turns. Between turns it is idle, interrupted, awaitingUser, awaitingApproval or awaitingTools; within a turn
 * hooking, committing, completing, or in phase A (a model request), B (its tool calls) or C (the end of the step); expiring after a wait
 * that took too long. In beginning, closing and withdrawing its environment, a `ChatEnv`, answers at once.
 */
export const chatMachine = StateMachine.hosted(StateMachine.published(chartOf("chat")), reported)

/** The machine of a chat for one step. */
export const stepChart = () => StateMachine.published(chartOf("step"))

/** The calls of a message without a chat. */
const toolCalls = chatSetup.createMachine({
  id: "toolCalls",
  context: ({ input }) => initialContext({ input }),
  initial: "running",
  on: { ...callEnds, ...stops({}, "cancelCalls") },
  states: {
    running: {
      invoke: { id: "calls", src: "calls" },
      on: callingUntil("done")
    },
    done: { type: "final" }
  }
})

/** Runs the calls of a message; then `step.ending` in its context has their outcomes. */
export const toolCallsMachine = StateMachine.hosted(StateMachine.published(toolCalls), {
  formatStatus,
  label: () => "ToolCalls"
})
