/** The input, the events and the result of a batch of tool calls. */
import type * as Scope from "effect/Scope"
import type { SessionError } from "../errors/index.ts"
import type { Event, Outlet } from "../events/index.ts"
import type { ChildWait, StepHalt } from "../record/index.ts"
import type { ToolCall } from "../model/index.ts"
import type { CallEnv, RunnableCall, ToolCallWatcher, ToolOutcome } from "../call/index.ts"
import type { Channel } from "@troupe/otp"
import type { RunOptions } from "../options/index.ts"
import type { CallPlace, Tool } from "../tool/index.ts"

/**
 * The state of a batch so far: its outcomes by place (apart from them, the outcomes that hooks still process), the places
 * of halting calls in the order of their ends, and the unread events.
 */
export interface BatchLedger {
  readonly finished: Array<ToolOutcome | undefined>
  readonly following: Array<ToolOutcome | undefined>
  readonly halts: Array<number>
  readonly unread: Channel.Fifo<Event>
}

/**
 * Records the calls that write: `done` is called when the intent is stored, or with the failure. `given` are the arguments that a
 * person gave.
 */
export interface IntentJournal {
  readonly intend: (
    position: number,
    done: (failure: SessionError | undefined) => void,
    given?: CallPlace["edited"]
  ) => void
  readonly over: (position: number, outcome: ToolOutcome, goesOn: boolean) => void
}

export interface ToolBatchInput {
  readonly toolCalls: ReadonlyArray<ToolCall>
  /** The random id of the step or the batch; without one, idempotency keys contain `messageIndex` instead (KEY3). */
  readonly stepId?: string | undefined
  /** The place of the calls' message in the thread; default 0. */
  readonly messageIndex?: number | undefined
  readonly toolsByName: ReadonlyMap<string, Tool>
  readonly options: RunOptions & {
    /** A person decided about the calls: no question is asked, and the mode is ignored; the lists still apply. */
    readonly permitted?: boolean | undefined
  }
  readonly outlet: Outlet
  readonly watcher?: ToolCallWatcher | undefined
  /** The state of the batch, kept by an owner that outlives the batch. */
  readonly ledger?: BatchLedger | undefined
  /** The calls' places in their message, where they differ from their places here. */
  readonly positions?: ReadonlyArray<number> | undefined
  /** Outcomes known before the batch begins, by the calls' places here. These calls do not run. */
  readonly settled?: ReadonlyMap<number, ToolOutcome> | undefined
  /** The calls, by their places here, whose arguments were edited. */
  readonly edited?: ReadonlySet<number> | undefined
  /** The calls, by their places here, that may have run before. */
  readonly again?: ReadonlySet<number> | undefined
  /** Records the intents and outcomes of calls that write; without one no intents are stored. */
  readonly journal?: IntentJournal | undefined
}

/** Why a call is suspended (human in the loop): the gate, with its limit, or its sub-agent and what that waits for. */
export interface SuspendedCall {
  /** The milliseconds after which the call expires; never by default. */
  readonly expiresMs?: number | undefined
  readonly child?: ChildWait | undefined
}

/** Outcomes in call order, the halt that counts, and the suspended calls, which have no outcome yet. */
export interface ToolBatchResult {
  readonly outcomes: ReadonlyArray<ToolOutcome>
  readonly halt: StepHalt | undefined
  /** By their places in the batch, with the arguments that a person gave. */
  readonly suspended: ReadonlyArray<SuspendedCall & { readonly index: number; readonly given?: CallPlace["edited"] }>
  /** The error that prevented calls from starting; it ends the turn. */
  readonly error?: SessionError | undefined
}

/** The environment of a batch and its calls. */
export interface BatchEnv extends CallEnv {
  /** The batch that starts. */
  readonly batch: () => ToolBatchInput
  /** Sets the batch that runs, in which `call` finds calls. */
  readonly runs: (batch: Pick<CallEnv, "call">, scope: Scope.Scope) => void
}

/** The environment of batches that run one after another. */
export class BatchLife implements BatchEnv {
  readonly batch: () => ToolBatchInput
  #running: Pick<CallEnv, "call"> | undefined
  scope: Scope.Scope | undefined

  constructor(batch: () => ToolBatchInput) {
    this.batch = batch
  }

  runs(batch: Pick<CallEnv, "call">, scope: Scope.Scope): void {
    this.#running = batch
    this.scope = scope
  }

  call(index: number): RunnableCall {
    if (this.#running === undefined) throw new Error("a tool call runs without a batch")
    return this.#running.call(index)
  }
}
