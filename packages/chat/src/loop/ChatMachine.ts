/**
 * The statechart of a chat: steps until a terminal condition, turn after turn.
 *
 * Owns: the thread, the mailbox of waiting turns, the decision after each step. Does not own the events of a turn, which
 * its outlet emits, nor where records are stored.
 *
 * CHAT1. One turn runs at a time. Turns that arrive meanwhile wait in order, and each is run.
 * CHAT2. The inputs that begin a turn are committed before its first request, each step before the next, and its end before
 *        `chat_completed`. When the store fails, the turn ends with `error`, and the chat continues.
 * CHAT3. Every turn that began ends with exactly one `chat_completed`, also when cancelled, unless the process dies.
 * CHAT4. A question stays pending until a later turn ends other than by cancel.
 * CHAT5. When started with a turn of its own, the machine runs that turn and ends with its result.
 * CHAT6. When the time budget of a turn is over, the turn is cancelled, and ends within the drain deadline after that.
 * CHAT7. An input that steers joins the running turn before its next request, after the results of the step before. A turn
 *        that has its final answer continues with the input, within `maxTurns` and its budget. If the turn ends otherwise,
 *        or is in its second pass, the input is queued.
 * CHAT8. An interrupt cancels the running turn and runs next. An interrupt that waits behind another one cancels that one
 *        as it begins.
 * CHAT9. An input that is accepted while a turn runs is stored in the record's inbox. The record that has the input in its
 *        thread no longer has it in its inbox.
 * CHAT10. A chat that waits for the user or for tool results has no fiber, and a timer only if the wait is limited. When
 *         the time is over, every call in the thread gets a result, and the chat is at rest.
 * CHAT11. Hooks are called for a user message before it is stored, for a request before it is sent, and for the end of a
 *         turn after it is stored and before `chat_completed`. A fiber of the process calls them, never the chart; a cancel
 *         does not wait for them. Without hooks there is no transition and no fiber for them.
 * CHAT12. When there is a store, the intent of a call that writes is stored before its handler starts. Each record saved
 *         while tools run lists the calls that may have run. A chat that starts from such a record never runs one of them
 *         again without a decision (`recovery.ts`).
 * CHAT13. A chat whose calls wait for decisions sends no request and runs no tool. Each decision is stored. After the last
 *         one the turn continues with those calls, without a new request for them.
 * CHAT14. A wait that expired while the chat was not loaded has expired before the chat handles its first event. An event
 *         after the expiry time is handled after the expiry, however late the timer fires. The start and the end of a wait
 *         are stored as soon as they are known, and no restart changes them.
 *
 * CHAT15. A chat that is to leave ends between two turns, and begins none; its successor runs the waiting turns.
 *
 * @module
 * @source ALLM.Chat, "Multi-turn stream composition"
 */
import { StateMachine } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { assign, cancel, type DoneActorEvent, enqueueActions, raise, sendTo, setup } from "xstate"
import { chart } from "../chart/index.ts"
import type { ChatContext, ChatEvent, ChatInput, ChatOutput } from "./chatContext.ts"
import { guards } from "./guards.ts"
import { isPromiseLike } from "../async/index.ts"
import { afterHooks, type Verdict } from "./lifecycleHooks.ts"
import {
  afterStep,
  beginTurn,
  closingEvents,
  commitFailed,
  commitGivenUp,
  committed,
  initialContext,
  outputOf,
  recordOf,
  steer,
  stepInput,
  stopped,
  turnOf
} from "./transitions.ts"
import { emit } from "../events/index.ts"
import {
  Journal,
  resumedStepMachine,
  stepEnv,
  type StepLive,
  stepMachine,
  type StepOutput,
  type StepStart
} from "../step/index.ts"
import { original } from "../values/index.ts"
import { setMode } from "./setMode.ts"
import { expired, keepUnasked } from "./suspensionExpiry.ts"
import { notifyHooks } from "./runLifecycleHooks.ts"
import { accepted, dropDoubted, dropUnsaved, keepDoubted, refusalOf } from "../inbox/index.ts"

export type { ChatContext, ChatEvent, ChatInput, ChatOutput } from "./chatContext.ts"
export { turn } from "./standaloneTurn.ts"

/** A step, as a process of its own. */
const stepOf = (machine: typeof stepMachine | typeof resumedStepMachine) =>
  StateMachine.fromProcess<StepOutput, StepLive & StepStart>(({ input, parent }) => {
    const { thread, aside, open } = input
    const env = stepEnv(() => input)
    return StateMachine.startLink(parent, machine, { input: { thread, aside, open }, env, label: "step" })
  })

const committing = StateMachine.fromEffect<void, never, ChatContext>(({ input }) =>
  Effect.suspend(() => {
    const kept = input.commit?.(recordOf(input))
    return isPromiseLike(kept) ? Effect.promise(() => Promise.resolve(kept)) : Effect.void
  })
)

/** A fiber calls the hooks: the chart keeps handling events, and leaving the state aborts their signal (CHAT11). */
const notifying = StateMachine.fromEffect<Verdict, never, ChatContext>(({ input }) =>
  Effect.promise((signal) => notifyHooks(input, signal))
)

const begin = {
  "turn.start": [
    { guard: "refusesTurn", actions: "refuse" },
    { target: "running", actions: "beginTurn" }
  ]
} as const

const expires = { target: "expiring", actions: "expire" } as const

/** A timer may be late, so an event that arrives first compares the time itself (CHAT14). */
const tooLate = { guard: "hasExpired", target: "settled", actions: ["enqueue", "saveInbox"] } as const

const suspended = {
  entry: "awaitExpiry",
  exit: "forgetExpiry",
  on: {
    "turn.start": [tooLate, { guard: "wasAccepted", actions: "enqueue" }, ...begin["turn.start"]],
    "suspension.expired": expires
  }
} as const

const enqueues = [
  { guard: "interrupts", actions: ["enqueue", "saveInbox", "cancelRunning"] },
  { actions: ["enqueue", "saveInbox"] }
] as const

const stops = {
  "turn.cancel": { actions: ["markCancelled", "cancelStep"] },
  "turn.deadline": { actions: ["markOutOfTime", "cancelStep"] }
} as const

const machine = setup({
  types: {
    context: {} as ChatContext,
    input: {} as ChatInput,
    events: {} as ChatEvent,
    output: {} as ChatOutput
  },
  actors: { step: stepOf(stepMachine), resumedStep: stepOf(resumedStepMachine), commit: committing, hooks: notifying },
  delays: {
    drain: ({ context }) => turnOf(context).options.drainMs,
    deadline: ({ context }) => turnOf(context).options.budget?.timeMs ?? 0
  },
  guards,
  actions: {
    beginTurn: assign(({ context, event }) => beginTurn(context, event.type === "turn.start" ? event.turn : undefined)),
    enqueue: assign(({ context, event }) => (event.type === "turn.start" ? accepted(context, event.turn) : {})),
    /** Not while inputs in the thread are uncommitted: this save would store them with the inbox. */
    saveInbox: ({ context, self }) => {
      if (context.keeper?.isDue !== true || context.arriving.length > 0) return
      context.keeper.save(recordOf(context), (settled) => self.send(settled))
    },
    /** When there is a store, the step notes its intents; the journal notifies the chat when they must be stored. */
    openJournal: assign(({ context, self }) =>
      context.commit === undefined ? {} : { journal: new Journal(() => self.send({ type: "journal.due" })) }
    ),
    saveJournal: ({ context }) => {
      const { commit, journal } = context
      if (commit !== undefined && journal?.isDue === true) journal.save(() => commit(recordOf(context)))
    },
    setMode: ({ context, event }) => {
      if (event.type === "mode.set") setMode(context, event)
    },
    recordInbox: ({ context }) => context.keeper?.settled().forEach(({ delivery }) => delivery?.pend()),
    carryInbox: ({ context: { keeper, mailbox } }) => keeper?.carry(mailbox),
    keepDoubted: ({ context }) => keepDoubted(context),
    dropDoubted: assign(({ context, event }) => dropDoubted(context, event)),
    dropUnsaved: assign(({ context, event }) => dropUnsaved(context, event)),
    steer: assign(({ context }) => steer(context)),
    refuse: ({ context, event }) => {
      if (event.type === "turn.start") {
        event.turn.outlet.fail(refusalOf(context, event.turn))
      }
    },
    refuseNext: assign(({ context }) => {
      const { mailbox } = context
      const { next } = mailbox
      next?.outlet.fail(refusalOf(context, next))
      return { mailbox: mailbox.withoutNext() }
    }),
    cancelRunning: raise({ type: "turn.cancel" }),
    markCancelled: assign({ cancelled: true }),
    markLeaving: assign({ leaving: true }),
    startTime: raise({ type: "turn.deadline" }, { id: "deadline", delay: "deadline" }),
    markTimed: assign({ timed: true }),
    stopTime: cancel("deadline"),
    markOutOfTime: assign({ outOfTime: true }),
    recordCommit: assign(({ context }) => committed(context)),
    giveUpCommit: assign(({ context }) => commitGivenUp(context)),
    /** The turn ends with the store's error; its messages stay in memory, and are committed with the next turn. */
    recordCommitFailure: assign(({ context, event }) => commitFailed(context, event)),
    recordStep: assign(({ context }, output: StepOutput) => {
      context.journal?.close()
      return afterStep(context, output)
    }),
    recordRefusal: assign((_, output: StepOutput) => ({
      refusal: output.type === "refused" ? original(output.error) : undefined
    })),
    dropTurn: assign({ turn: undefined }),
    recordHooks: assign(({ context }, verdict: Verdict | undefined) => afterHooks(context, verdict)),
    cancelStep: sendTo("step", { type: "step.cancel" }),
    emitResult: ({ context, self }) => emit(turnOf(context).outlet, closingEvents(context), self),
    recordStop: assign(({ context }) => stopped(context)),
    endTurn: assign(({ context }) => {
      if (context.result !== undefined) context.turn?.options.trace?.chatEnded(context.result)
      context.turn?.outlet.close()
      return { turn: undefined, mailbox: context.mailbox.turnEnded() }
    }),
    awaitExpiry: enqueueActions(({ context: { expiresAt, clock }, enqueue }) => {
      if (expiresAt === undefined) return
      enqueue.raise({ type: "suspension.expired" }, { id: "expiry", delay: Math.max(0, expiresAt - clock.now()) })
    }),
    forgetExpiry: enqueueActions(({ context, enqueue }) => {
      if (context.expiresAt !== undefined) enqueue.cancel("expiry")
    }),
    expire: assign(({ context }) => expired(context)),
    /** Stores what the start computed: since when its calls wait, and waits that expired meanwhile. */
    keepFound: enqueueActions(({ context, enqueue }) => {
      const { commit, committed: isKept } = context
      if (isKept || commit === undefined) return
      enqueue(() => keepUnasked(commit, recordOf(context)))
      enqueue.assign({ committed: true })
    }),
    giveUpKeeping: assign({ committed: true })
  }
}).createMachine({
  id: "chat",
  context: ({ input }) => initialContext(input),
  initial: "settled",
  on: {
    "journal.due": { actions: "saveJournal" },
    "mode.set": { actions: "setMode" },
    "chat.leave": { target: ".settled", actions: "markLeaving" },
    "inbox.saved": { actions: ["recordInbox", "saveInbox"] },
    "inbox.failed": { actions: ["dropUnsaved", "saveInbox"] }
  },
  states: {
    settled: {
      entry: "keepFound",
      always: [
        { guard: "isLeaving", target: "ended" },
        { guard: "isDone", target: "ended" },
        { guard: "hasExpired", ...expires },
        { guard: "mustRefuse", target: "settled", reenter: true, actions: "refuseNext" },
        { guard: "canBegin", target: "running", actions: "beginTurn" },
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
      entry: "awaitExpiry",
      exit: "forgetExpiry",
      on: { "turn.start": [tooLate, ...begin["turn.start"]], "suspension.expired": expires }
    },
    awaitingTools: suspended,
    awaitingApproval: suspended,
    expiring: {
      on: { "turn.start": enqueues },
      invoke: {
        src: "commit",
        input: ({ context }) => context,
        onDone: { target: "settled", actions: "recordCommit" },
        /** The stored deadline is unchanged, so the next start of the chat finds it again. */
        onError: { target: "settled", actions: "giveUpKeeping" }
      }
    },
    running: {
      on: {
        "turn.start": enqueues,
        "turn.cancel": { actions: "markCancelled" },
        "turn.deadline": { actions: "markOutOfTime" },
        "chat.leave": { actions: "markLeaving" }
      },
      initial: "deciding",
      states: {
        deciding: {
          always: [
            { guard: "mustTime", target: "deciding", reenter: true, actions: ["startTime", "markTimed"] },
            { guard: "canSteer", target: "deciding", reenter: true, actions: "steer" },
            { guard: "mustBegin", target: "hooking" },
            { guard: "mustCommit", target: "committing" },
            { guard: "mustReport", target: "hooking" },
            { guard: "hasResult", target: "completing" },
            { guard: "isRefused", target: "#chat.settled", actions: "dropTurn" },
            { guard: "isStopped", target: "deciding", reenter: true, actions: "recordStop" },
            { guard: "hasOpenCalls", target: "resuming", actions: "openJournal" },
            { guard: "mustAnnounce", target: "hooking" },
            { target: "stepping", actions: "openJournal" }
          ]
        },
        hooking: {
          invoke: {
            src: "hooks",
            input: ({ context }) => context,
            onDone: {
              target: "deciding",
              actions: {
                type: "recordHooks",
                params: ({ event }: { readonly event: DoneActorEvent<Verdict> }) => event.output
              }
            }
          },
          on: {
            "turn.cancel": {
              target: "deciding",
              actions: [{ type: "recordHooks", params: undefined }, "markCancelled"]
            },
            "turn.deadline": {
              target: "deciding",
              actions: [{ type: "recordHooks", params: undefined }, "markOutOfTime"]
            }
          }
        },
        committing: {
          entry: "carryInbox",
          invoke: {
            src: "commit",
            input: ({ context }) => context,
            onDone: { target: "deciding", actions: ["keepDoubted", "recordCommit", "saveInbox"] },
            onError: { target: "deciding", actions: ["dropDoubted", "recordCommitFailure", "saveInbox"] }
          },
          initial: "saving",
          states: {
            saving: {
              always: { guard: "isStopped", target: "draining" },
              on: {
                "turn.cancel": { target: "draining", actions: "markCancelled" },
                "turn.deadline": { target: "draining", actions: "markOutOfTime" }
              }
            },
            /** When the turn is to stop, the chat waits for the store no longer than the drain deadline. */
            draining: {
              after: {
                drain: { target: "#chat.running.deciding", actions: ["dropDoubted", "giveUpCommit", "saveInbox"] }
              }
            }
          }
        },
        stepping: {
          invoke: {
            id: "step",
            src: "step",
            input: ({ context }) => stepInput(context),
            onDone: [
              {
                guard: { type: "wasRefusedAtOnce", params: ({ event }) => event.output },
                target: "deciding",
                actions: { type: "recordRefusal", params: ({ event }) => event.output }
              },
              { target: "deciding", actions: { type: "recordStep", params: ({ event }) => event.output } }
            ]
          },
          on: stops
        },
        /** A step without a request: runs the open calls of the last step (CHAT13). */
        resuming: {
          invoke: {
            id: "step",
            src: "resumedStep",
            input: ({ context }) => ({ ...stepInput(context), open: context.open }),
            onDone: { target: "deciding", actions: { type: "recordStep", params: ({ event }) => event.output } }
          },
          on: stops
        },
        completing: {
          entry: "emitResult",
          on: {
            "events.taken": [
              { guard: "isTimed", target: "#chat.settled", actions: ["stopTime", "endTurn"] },
              { target: "#chat.settled", actions: "endTurn" }
            ]
          }
        }
      }
    },
    ended: { type: "final" }
  },
  output: ({ context }) => outputOf(context)
})

/**
 * Runs turns. Between turns it is idle, interrupted, awaitingUser, awaitingApproval or awaitingTools; within a turn
 * committing, stepping or completing; expiring after a wait that took too long.
 */
export const chatMachine = chart(machine)
