/** The input, events, output and context of the chat's chart: plain data. */
import type { CallsEvent } from "../batch/index.ts"
import type { ToolCallView } from "../call/index.ts"
import type { Message, Outcome } from "../model/index.ts"
import type { PreflightError, SessionError } from "../errors/index.ts"
import type {
  AgentRef,
  BackgroundTask,
  Conversation,
  ChatResult,
  Mode,
  ModeStanding,
  OpenStep,
  StepResult
} from "../record/index.ts"
import type { Holding, InboxState, TurnData } from "../inbox/index.ts"
import type { Held } from "../values/index.ts"
import type { LifecycleEvent, RequestParams } from "../gate/index.ts"
import type {
  Compacting,
  CompactionStep,
  Decided,
  StepProgress,
  AnswerForm,
  Finalize,
  Terminal
} from "../step/index.ts"
import type * as Thread from "../model/Thread.ts"
import type * as Usage from "../model/Usage.ts"

/**
 * The input of a chat's chart: a chat as it starts, or one turn to run (CHAT5). `chatStart` makes it from a record.
 *
 * **Units and defaults**: `suspendedTtlMs` is how long the chat waits for the user or for tool results, in milliseconds;
 * by default without limit. `now` is the present time on the same clock. `answer` is `"user_message"`. `stores` is whether
 * there is a store before the first turn, whose environment says it then. `agent` is that of the next request, if there is one.
 * `until` is the end of the chart that runs one turn: by default that turn, or its first step.
 */
export interface ChatInput {
  readonly id: string
  readonly thread?: Thread.Thread | undefined
  readonly turn?: TurnData | undefined
  readonly start?: ChatStart | undefined
  readonly now?: number | undefined
  readonly stores?: boolean | undefined
  readonly suspendedTtlMs?: number | undefined
  readonly answer?: AnswerForm | undefined
  readonly agent?: AgentRef | undefined
  readonly until?: "step" | undefined
}

/** The state of a chat that continues from a record. */
export type ChatStart = Pick<ChatContext, "record" | "inbox" | "committed">

/** The time on the system's clock, and whether the signal of the turn is aborted. */
export interface Moment {
  readonly now: number
  readonly aborted?: boolean
}

/** The facts of a turn's options that the chart decides with; `adapter` is the name of the model's adapter. */
export interface TurnFacts {
  readonly adapter?: string | undefined
  /** Whether there is a store. */
  readonly stores?: boolean | undefined
  readonly drainMs: number
  readonly timeMs?: number | undefined
  /** When the turn began. */
  readonly beganAt?: number | undefined
  readonly maxChainRequests?: number | undefined
  /** The lifecycle events that have hooks. */
  readonly hooks: ReadonlyArray<LifecycleEvent>
  /** What the second pass has, if the options ask for two passes. */
  readonly finalize?: Finalize | undefined
  /** What is done about long requests; absent without the option `compaction`. */
  readonly compacting?: Compacting | undefined
}

/**
 * What the stop conditions decided about a step.
 *
 * - `terminal`: why the turn stops; `spent`: the budget that is used up
 * - `mayContinue`: whether the turn may have another step for an input that steers
 * - `handoff`: the agent that the calls of the step handed the conversation to, the time that it has for the turn, and its adapter
 */
export interface Judgement {
  readonly terminal?: Held<Terminal> | undefined
  readonly spent?: Held<Terminal> | undefined
  readonly mayContinue: boolean
  readonly handoff?: ({ readonly agent: AgentRef } & Pick<TurnFacts, "timeMs" | "adapter">) | undefined
  /** What sub-agents that ended spent for former chains. */
  readonly former?: Usage.Usage | undefined
}

/** The state of a chat whose open calls were closed without running. */
export type Closed = Pick<Conversation, "thread" | "open" | "pendingQuestion" | "pendingToolCalls">

/** The state of a chat whose wait has expired. */
export type Expired = Closed & Pick<Conversation, "expiresAt" | "lastHaltedReason">

/**
 * The events of a chat.
 *
 * - `turn.start`: run a turn, at once or as its `whenBusy` requires. `now` is the time, for a wait that is limited
 * - `turn.cancel`: cancel the running turn, or only the one with this id; waiting turns stay. `chain`: as
 *   `chain.end` too
 * - `turn.deadline`, from the chat itself: the time of the running turn is over
 * - `chat.leave`: end when no turn runs; the store has a newer record than the chat, or is about to
 * - `mode.set`: the host, or a client with `ask`, sets the permission mode of calls from the next batch on
 * - `agent.set`: the host hands the conversation over to an agent, which the next request is of
 * - `wait.cancel`: a person ends the wait of the chat that the last turn began; `of` is the input of that turn
 * - `input.withdraw`: remove this input, which waits
 * - `suspension.expired`, from its clock: no answer came in time
 * - `children.began`: these conversations of sub-agents have begun, and the chat forgets others
 * - `task.changed`: what the sub-agent of this background task waits for
 * - `tasks.decided`: a person decided what sub-agents of background tasks wait for
 * - `chain.end`: no input of the runtime begins a turn until the next input of a person or the host
 * - `input.held`: hold this input until its release, unless the chat has it: its turn could not begin, or the store gave no answer when it
 *   was accepted
 *
 * The others are from its environment: what its actors and effects found or did.
 */
export type ChatEvent =
  | {
      readonly type: "turn.start"
      readonly turn: Omit<TurnData, "id"> & { readonly id?: string }
      readonly now?: number
    }
  | { readonly type: "turn.cancel"; readonly turn?: string | undefined; readonly chain?: boolean | undefined }
  | { readonly type: "turn.deadline" }
  | { readonly type: "wait.cancel"; readonly of?: string | undefined }
  | { readonly type: "input.withdraw"; readonly input: string; readonly ask?: number | undefined }
  | { readonly type: "suspension.expired" }
  | { readonly type: "chat.leave" }
  | { readonly type: "input.held"; readonly turn: TurnData; readonly status: Holding }
  | { readonly type: "journal.due" }
  | { readonly type: "mode.set"; readonly mode: Mode; readonly ask?: number | undefined }
  | { readonly type: "agent.set"; readonly agent: AgentRef; readonly ask?: number | undefined }
  | {
      readonly type: "children.began"
      readonly children: ReadonlyArray<string>
      readonly forgets: ReadonlyArray<string>
      readonly ask?: number | undefined
    }
  | { readonly type: "task.changed"; readonly task: BackgroundTask; readonly ask?: number | undefined }
  | { readonly type: "tasks.decided"; readonly decisions: ReadonlyArray<Decided>; readonly ask?: number | undefined }
  | { readonly type: "chain.end"; readonly ask?: number | undefined }
  | { readonly type: "mode.changed"; readonly standing: ModeStanding | undefined }
  | ({ readonly type: "reply.grew" } & RunningReply)
  | ({ readonly type: "turn.begun"; readonly facts: TurnFacts; readonly spent?: Held<Terminal> | undefined } & Moment)
  | StepEnded
  | { readonly type: "step.failed"; readonly error: Held<unknown> }
  | CallsEvent
  | (CompactionStep & Moment)
  | ({ readonly type: "calls.closed"; readonly closed: Closed } & Moment)
  | ({ readonly type: "wait.closed"; readonly expired: Expired } & Moment)
  | ({ readonly type: "hooks.answered"; readonly verdict: Verdict } & Moment)
  | ({ readonly type: "commit.ended" } & Moment)
  | ({ readonly type: "commit.failed"; readonly error: unknown; readonly unanswered: boolean } & Moment)
  | ({ readonly type: "events.taken" } & Partial<Moment>)

/** A step is over, and its events are read: its result, its calls that are still open, and what the stop conditions decided. */
export interface StepEnded extends Judgement, Moment {
  readonly type: "step.ended"
  readonly result: Held<StepResult>
  readonly open: OpenStep | undefined
  readonly standing: ModeStanding | undefined
}

/** The output of a chat: the result or the refusal of its one turn, the result of its one step, or nothing if it left. */
export type ChatOutput =
  | { readonly type: "left" }
  | { readonly type: "stepped"; readonly result: Held<StepResult>; readonly open: OpenStep | undefined }
  | { readonly type: "completed"; readonly result: Held<ChatResult> }
  | { readonly type: "refused"; readonly error: Held<PreflightError> }

/** The results of hooks. */
export type Verdict =
  | {
      readonly type: "begin"
      readonly said: ReadonlyArray<ReadonlyArray<Message>>
      readonly terminal?: Held<Terminal> | undefined
    }
  | {
      readonly type: "announce"
      readonly injects: ReadonlyArray<Message>
      readonly aside: ChatContext["aside"]
      readonly terminal?: Held<Terminal> | undefined
    }
  | {
      readonly type: "report"
      /** The metadata that the host has for the last message of the turn. */
      readonly metadata?: Readonly<Record<string, unknown>> | undefined
    }

/** Whether hooks ran for the process's first turn, the user messages, the next request, and the end of the turn. */
export interface Notified {
  readonly started: boolean
  readonly prompted: boolean
  readonly announced: boolean
  readonly reported: boolean
}

/** The running step as a page shows it. A call of a reply that streams, and one of a client's tool, is `queued`. */
export interface RunningReply {
  readonly text: string
  readonly calls: ReadonlyArray<Pick<ToolCallView, "id" | "name" | "status"> & { readonly outcome?: Outcome }>
}

/** The context in a chat's snapshot. */
export interface ChatContext extends InboxState {
  /** The facts of the running turn's options. */
  readonly facts: TurnFacts
  readonly steps: ReadonlyArray<Held<StepResult>>
  /** The step that runs, from the end of its request. */
  readonly step: StepProgress | undefined
  /** Why the turn is to stop, if it is. */
  readonly stopped: "cancelled" | "budget_time" | undefined
  /** Whether the time of the turn is counted, and whether the end of a wait is. */
  readonly timed: boolean
  readonly awaits: boolean
  /** The hook events that have run, and the changes of hooks to the next request only. */
  readonly notified: Notified
  readonly aside: { readonly params: RequestParams | undefined; readonly messages: ReadonlyArray<Message> } | undefined
  /** The result of the first pass, while the second runs. */
  readonly firstPass: Held<ChatResult> | undefined
  /** Whether the context is stored. */
  readonly committed: boolean
  readonly result: Held<ChatResult> | undefined
  /** The error that kept a step from beginning. */
  readonly refusal: Held<PreflightError> | undefined
  /** The error of the store. */
  readonly failure: Held<SessionError> | undefined
  /** The running step under a bare actor: the text of its reply, and its calls. */
  readonly partial: RunningReply
  /** The time of the last event that has one. */
  readonly now: number
  /** What the chart runs before it ends: one turn, or one step. A living chat has no end. */
  readonly until: "turn" | "step" | undefined
  /** Whether the chat ends when the running turn has ended. */
  readonly leaving: boolean
  readonly suspendedTtlMs: number | undefined
  readonly answer: AnswerForm
}
