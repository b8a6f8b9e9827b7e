/**
 * What can be seen of a running chat between its transitions: the text so far and the states of its tool calls.
 *
 * Owns: the observers, and the timer that tells them. Text passes no chart: it is read off the collector when somebody
 * looks, and told at most once in an interval.
 *
 * VIEW1. A snapshot is the same object until something changed.
 * VIEW2. Without observers there is no timer.
 * VIEW3. An observer that throws is told to nobody and stops nobody.
 */
import type { Clock } from "@troupe/otp"
import type { SnapshotFrom } from "xstate"
import type { ChatContext, chatMachine } from "../ChatMachine.ts"
import type { StepWatcher } from "../StepMachine.ts"
import type { StreamCollector } from "../StreamCollector.ts"
import type { ToolCallView } from "./toolBatch.ts"

type MachineSnapshot = SnapshotFrom<typeof chatMachine>

/** What a chat's snapshot holds beside the machine's own context. */
export interface LiveContext extends ChatContext {
  /** The answer as far as it has come; empty between turns. */
  readonly partial: { readonly text: string }
  /** The calls of the running step. */
  readonly toolCalls: ReadonlyArray<ToolCallView>
}

/** A chat's snapshot: the machine's, with what is under way. */
export type ChatSnapshot = Omit<MachineSnapshot, "context"> & { readonly context: LiveContext }

/** Told about snapshots. */
export interface SnapshotObserver {
  readonly next?: ((snapshot: ChatSnapshot) => void) | undefined
  readonly error?: ((error: unknown) => void) | undefined
  readonly complete?: (() => void) | undefined
}

/** How long text gathers before observers hear of it, in milliseconds. */
const flushMs = 32

const nothing: ReadonlyArray<ToolCallView> = []
const none = (): ReadonlyArray<ToolCallView> => nothing

export class LiveView implements StepWatcher {
  readonly #clock: Clock.Clock
  readonly #observers = new Set<SnapshotObserver>()
  #machine: MachineSnapshot | undefined
  #collector: StreamCollector | undefined
  #toolCalls: () => ReadonlyArray<ToolCallView> = none
  #snapshot: ChatSnapshot | undefined
  #seenLength = -1
  #seenRewritten = 0
  #timer: unknown

  constructor(clock: Clock.Clock) {
    this.#clock = clock
  }

  stepStarted(collector: StreamCollector): void {
    this.#collector = collector
    this.#toolCalls = none
    this.#snapshot = undefined
  }

  toolCallsChanged(view: () => ReadonlyArray<ToolCallView>): void {
    this.#toolCalls = view
    this.#snapshot = undefined
    this.changed()
  }

  /** The machine took a transition. */
  transitioned(machine: MachineSnapshot): void {
    this.#machine = machine
    if (machine.context.turn === undefined) {
      this.#collector = undefined
      this.#toolCalls = none
    }
    this.#snapshot = undefined
    this.#tell()
  }

  /** Something is worth telling, soon. */
  changed(): void {
    if (this.#observers.size === 0 || this.#timer !== undefined) return
    this.#timer = this.#clock.setTimeout(() => {
      this.#timer = undefined
      this.#tell()
    }, flushMs)
  }

  /** The present snapshot (VIEW1). */
  snapshot(): ChatSnapshot | undefined {
    const machine = this.#machine
    const text = this.#collector?.text ?? ""
    if (machine === undefined) return undefined
    const rewritten = this.#collector?.rewritten ?? 0
    if (this.#snapshot === undefined || text.length !== this.#seenLength || rewritten !== this.#seenRewritten) {
      this.#seenLength = text.length
      this.#seenRewritten = rewritten
      this.#snapshot = { ...machine, context: { ...machine.context, partial: { text }, toolCalls: this.#toolCalls() } }
    }
    return this.#snapshot
  }

  subscribe(observer: SnapshotObserver): { readonly unsubscribe: () => void } {
    this.#observers.add(observer)
    return { unsubscribe: () => this.#forget(observer) }
  }

  /** No more snapshots will come. */
  complete(): void {
    for (const observer of Array.from(this.#observers)) {
      this.#forget(observer)
      attempt(() => observer.complete?.())
    }
  }

  #forget(observer: SnapshotObserver): void {
    this.#observers.delete(observer)
    if (this.#observers.size > 0 || this.#timer === undefined) return
    this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
  }

  #tell(): void {
    if (this.#observers.size === 0) return
    const snapshot = this.snapshot()
    if (snapshot === undefined) return
    for (const observer of Array.from(this.#observers)) attempt(() => observer.next?.(snapshot))
  }
}

const attempt = (tell: () => void): void => {
  try {
    tell()
  } catch {
    // An observer's fault is its own (VIEW3).
  }
}
