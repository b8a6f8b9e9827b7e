/**
 * A session while one of its turns runs.
 *
 * Owns: the conversation as the turn last committed it, and the fold of the events that were read. Does not own the turn,
 * which is a run of the chat's machine (`ChatMachine.ts`): this takes the place of the machine's store.
 *
 * SPROG1. The session never has the end of a step or of the turn before its event was read.
 * SPROG2. A turn that is left keeps its input, its finished steps, the text of the reply that streamed, and the results of
 *        the calls that ended.
 * SPROG3. A call that was running when its turn was left waits for a decision, as after a crash: no operation runs it
 *        again without one. (A call of a tool that only reads has the result `cancelled`.)
 * SPROG4. A step that is left changes nothing, unless one of its calls that write had begun.
 */
import type { Clock } from "@troupe/otp"
import { type Event, StreamCollector } from "../events/index.ts"
import { type ChatEnv, recalledBy, started } from "../loop/index.ts"
import type { Thread } from "../model/index.ts"
import { type Conversation, type ChatResult, type OpenStep, statusOf, type StepResult } from "../record/index.ts"
import type { StepWatcher } from "../step/index.ts"
import type { Engine } from "../tool/index.ts"
import { afterResult, outcomeOf, resultOf, type SessionMode } from "./sessionOutcome.ts"
import { changed, type Session, sessionFrom } from "./sessionState.ts"

/** The parts that a turn runs with. */
interface TurnParts {
  readonly session: Session
  readonly mode: SessionMode
  readonly engine: Engine
  readonly clock: Clock.Clock
  /** The thread of the first request. */
  readonly thread: Thread
}

export class TurnProgress implements StepWatcher {
  readonly #parts: TurnParts
  readonly #collector: StreamCollector
  #env: ChatEnv | undefined
  /** The last commit while the turn ran, and the commit of its end. */
  #committed: Conversation
  #ended: Conversation | undefined
  #stepEnded: { readonly result: StepResult; readonly open: OpenStep | undefined } | undefined
  /** The step whose end was read, and that is not committed yet. */
  #read: { readonly result: StepResult; readonly open: OpenStep | undefined } | undefined

  constructor(parts: TurnParts) {
    this.#parts = parts
    this.#collector = new StreamCollector(parts.thread)
    this.#committed = { ...parts.session, thread: parts.thread, running: true }
  }

  /** The environment of the turn has the outcomes of calls before a commit has them. */
  runsIn(env: ChatEnv): void {
    this.#env = env
  }

  /** Called with each record of the turn. */
  readonly commit = (record: Conversation): void => {
    if (!record.running) this.#ended = record
    else {
      this.#committed = record
      this.#read = undefined
    }
  }

  stepStarted(): void {
    this.#stepEnded = undefined
  }

  stepEnded(result: StepResult, open: OpenStep | undefined): void {
    this.#stepEnded = { result, open }
  }

  toolCallsChanged(): void {
    // The states of running calls are no part of a session.
  }

  /** An event was read. */
  apply(event: Event): void {
    this.#collector.apply(event)
    if (event.type === "step_completed") this.#read = this.#stepEnded
  }

  /** The session after the events that were read. */
  get session(): Session {
    const { session, mode } = this.#parts
    const read = this.#read
    if (mode === "chat" && this.#collector.chatResult !== undefined && this.#ended !== undefined) {
      const ended = this.#own(this.#ended)
      return changed(ended, { lastOutcome: outcomeOf(this.#collector.chatResult) })
    }
    if (read !== undefined) {
      // A commit during the step has the usage of its request already.
      const before = { ...this.#own(this.#committed), usage: session.usage }
      return afterResult(before, mode === "step" ? read.result : resultOf(this.#collector), read.open)
    }
    return mode === "step" && this.#env?.journal?.journalled === undefined ? session : this.#cutShort
  }

  /** The result after the events that were read. */
  get result(): ChatResult | StepResult {
    const step = this.#parts.mode === "step" ? (this.#read?.result ?? this.#collector.steps[0]) : undefined
    return step ?? resultOf(this.#collector)
  }

  /** A record with the parts that belong to the caller. The caller runs each turn, so a session has no chain. */
  #own(record: Conversation): Conversation {
    const { id, version } = this.#parts.session
    const { chain: _, ...rest } = record
    return { ...rest, id, version }
  }

  /** The session of a turn that is not over: what the chat's machine would start from (SPROG2, SPROG3). */
  get #cutShort(): Session {
    const { engine, clock } = this.#parts
    const env = this.#env
    const committed = this.#own(this.#committed)
    const record = env === undefined ? committed : recalledBy(env, committed)
    const draft = this.#collector.text || undefined
    const left = started({ ...record, draft }, engine, clock)
    const lastOutcome = outcomeOf(resultOf(this.#collector))
    const status = lastOutcome.haltedReason === "error" ? "error" : "cancelled"
    const { status: _, ...rest } = this.#own(left)
    return sessionFrom({ ...rest, lastOutcome, status: statusOf({ ...rest, status }) })
  }
}
