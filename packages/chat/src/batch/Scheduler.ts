/**
 * Decides when the calls of one message start, which of them never start, and which halt counts.
 *
 * Owns: the phase of each call, the free places, the order of halts. Does not own the calls: the owner starts, cancels
 * and restarts them when the scheduler calls it, and notifies the scheduler of their ends. SCHED1 to SCHED5
 * (`startOrder`) state the order of starts.
 *
 * SCHED6.  Each queued call is started once, refused once or skipped once. No call starts before `begin`. `over` is called
 *          once: when every call has ended, was skipped, or is suspended.
 * SCHED7.  At most `limit` calls have a place. With slots, each of them also has a slot. A call gets both before it is
 *          started, and releases both when it has ended. A refused call needs neither. A restarted call keeps its place.
 *          Only running calls that are not cancelled are restarted. A call that is started and has not begun can be
 *          skipped. It is over at once, and keeps its place until its end.
 * SCHED8.  A halt cancels no running call. Under `effects` it skips the later calls that have not begun, under `reference`
 *          all calls that have not begun, under `concurrent` none. A question skips no call. Of several halts the first in
 *          call order counts, or under `observed` the first that was notified.
 * SCHED9.  After a cancel no call starts: calls that have not begun are skipped, and each running call is cancelled once.
 *          A cancel of some calls affects only those. A call that waited only for a skipped call starts at once.
 * SCHED15. The state is plain JSON data. A scheduler that is made from it, and begins, decides as the first would have.
 */
import type { SlotLine } from "../async/index.ts"
import type { HaltOrder, Schedule } from "../options/index.ts"
import { type Access, type Plan, planOf } from "./startOrder.ts"

/**
 * The phase of a call.
 *
 * - `queued`: it waits for its start
 * - `starting`: it has its place, and its owner has not begun it
 * - `running`, `cancelling`: it has begun; in the second phase it was cancelled
 * - `suspended`: it waits for a later answer, and no other call waits for it
 * - `asking`: it has begun, and waits for a later answer without a place; no halt skips it
 * - `releasing`: it was skipped while it was starting, and still has its place
 * - `over`: it has ended, or was skipped
 */
export type CallPhase = "queued" | "starting" | "running" | "cancelling" | "suspended" | "asking" | "releasing" | "over"

/** The state of a scheduler, as plain data; `halts` are the positions of halting calls in the order of their halts. */
export interface SchedulerState {
  readonly phases: ReadonlyArray<CallPhase>
  readonly halts: ReadonlyArray<number>
  readonly isCancelled: boolean
}

/** How many calls have a place at once, unless an option sets it: 4 as in the reference, else two for each processor. */
export const defaultLimit = (schedule: Schedule): number =>
  schedule === "reference" ? 4 : 2 * (globalThis.navigator?.hardwareConcurrency ?? 4)

/** The rules of a batch. */
export interface SchedulerRules {
  readonly schedule: Schedule
  /** Default `"call"`. */
  readonly haltOrder?: HaltOrder | undefined
  /** How many calls have a place at once. */
  readonly limit: number
}

/** The place of a batch in a queue for slots. */
export type Slots = Pick<SlotLine, "take" | "release" | "rest">

/** The end of a call: whether it halts the batch, and whether by a question. */
export interface CallEnd {
  readonly halt?: "halt" | "question" | undefined
}

/**
 * The owner of the calls.
 *
 * **Contract**: each function can notify the scheduler of other calls before it returns.
 */
export interface CallOwner {
  /** Starts a call. The owner notifies `begun` when the call can no longer be skipped. */
  readonly run: (index: number) => void
  /** The call never begins. */
  readonly skip: (index: number, reason: "cancelled" | "not_started") => void
  /** Every call is over or suspended. */
  readonly over: () => void
  /** Called at a call's turn, before it gets a slot: the end of a call that must not start. */
  readonly refuse?: (index: number) => CallEnd | undefined
  readonly cancel?: (index: number) => void
  readonly restart?: (index: number) => void
}

/** Schedules the calls of one batch. */
export class Scheduler {
  readonly #rules: SchedulerRules
  readonly #owner: CallOwner
  readonly #phases: Array<CallPhase>
  readonly #halts: Array<number>
  #accesses: ReadonlyArray<Access | undefined> = []
  #slots: Slots | undefined
  #plan: Plan | undefined
  /** The number of calls with a place. */
  #placed: number
  /** The number of calls that are not over and not suspended. */
  #left: number
  /** All calls from this position on have begun or are over. */
  #mayStart: number
  #isCancelled: boolean
  #isFilling = false
  #isOver = false

  /** `state` is the number of calls of a new batch, or the state of another scheduler (SCHED15). */
  constructor(state: number | SchedulerState, rules: SchedulerRules, owner: CallOwner) {
    const { phases, halts, isCancelled } = typeof state === "number" ? newState(state) : state
    this.#rules = rules
    this.#owner = owner
    this.#phases = [...phases]
    this.#halts = [...halts]
    this.#isCancelled = isCancelled
    this.#mayStart = phases.length
    this.#placed = phases.filter((phase) => placed.has(phase)).length
    this.#left = phases.filter((phase) => !over.has(phase)).length
  }

  /** The state, for another scheduler (SCHED15). */
  get state(): SchedulerState {
    return { phases: [...this.#phases], halts: [...this.#halts], isCancelled: this.#isCancelled }
  }

  /** The positions of the halting calls; the first of them counts (SCHED8). */
  get halts(): ReadonlyArray<number> {
    return this.#rules.haltOrder === "observed" ? [...this.#halts] : this.#halts.toSorted((one, other) => one - other)
  }

  get isCancelled(): boolean {
    return this.#isCancelled
  }

  /** Whether a call is over or suspended. */
  readonly isOver = (index: number): boolean => {
    const phase = this.#phases[index]
    return phase === undefined || over.has(phase)
  }

  /**
   * Starts the first calls. `accesses` are those of the calls by position; a call without one conflicts with no other.
   * Without `slots` the slots are unlimited.
   */
  begin(accesses: ReadonlyArray<Access | undefined>, slots?: Slots): void {
    this.#accesses = accesses
    this.#slots = slots
    this.#makePlan()
    this.#proceed()
  }

  /** A started call has begun: it can no longer be skipped. Returns `false` if it was skipped (SCHED7). */
  begun(index: number): boolean {
    if (this.#phases[index] !== "starting") return false
    this.#phases[index] = "running"
    return true
  }

  /** A call that was started has ended, or the owner ended a queued call before `begin`. */
  ended(index: number, { halt }: CallEnd = {}): void {
    const phase = this.#phases[index]
    if (phase === undefined || phase === "over") return
    this.#phases[index] = "over"
    if (!over.has(phase)) this.#left--
    this.#halted(index, halt)
    if (placed.has(phase)) this.#free(index)
    this.#proceed()
  }

  #free(index: number): void {
    this.#placed--
    this.#slots?.release()
    this.#plan?.ended(index)
  }

  /** A call that runs waits for a later answer, and releases its place. A call that is being cancelled does not wait. */
  asks(index: number): void {
    if (!this.isRunning(index)) return
    this.#phases[index] = "asking"
    this.#left--
    this.#free(index)
    this.#proceed()
  }

  /** Whether a call runs, and is not being cancelled. */
  isRunning(index: number): boolean {
    return this.#phases[index] === "running"
  }

  /** A queued call waits for a later answer; until `begin` only. */
  suspend(index: number): void {
    if (this.#phases[index] !== "queued") return
    this.#phases[index] = "suspended"
    this.#left--
  }

  /** Uses a granted slot; no call may need it now. */
  slotGranted(): void {
    this.#proceed()
  }

  /** Skips every call that has not begun. */
  skipAll(): void {
    this.#skipFrom(0, "not_started")
    this.#proceed()
  }

  /** Ends the batch early (SCHED9). */
  cancel(): void {
    if (this.#isCancelled) return
    this.#isCancelled = true
    this.#skipFrom(0, "cancelled")
    for (const [index, phase] of this.#phases.entries()) {
      this.#cancel(index)
      if (phase === "asking") this.#skipped(index, "cancelled")
    }
    this.#proceed()
  }

  /** Cancels these calls only (SCHED9). */
  cancelCalls(indexes: ReadonlyArray<number>): void {
    let skipped = false
    for (const index of indexes) {
      this.#cancel(index)
      if (this.#phases[index] !== "suspended") skipped = this.#skip(index, "cancelled") || skipped
    }
    if (skipped && this.#plan !== undefined) this.#makePlan()
    this.#proceed()
  }

  /** Restarts those of these calls that run (SCHED7). */
  restart(indexes: ReadonlyArray<number>): void {
    for (const index of indexes) if (this.#phases[index] === "running") this.#owner.restart?.(index)
  }

  #cancel(index: number): void {
    if (this.#phases[index] !== "running") return
    this.#phases[index] = "cancelling"
    this.#owner.cancel?.(index)
  }

  #halted(index: number, halt: CallEnd["halt"]): void {
    if (halt === undefined) return
    this.#halts.push(index)
    const { schedule } = this.#rules
    if (halt === "question" || schedule === "concurrent") return
    this.#skipFrom(schedule === "reference" ? 0 : index + 1, "not_started")
  }

  /** Skips the calls from this position on that have not begun. Each call is visited once (SCHED5). */
  #skipFrom(from: number, reason: "cancelled" | "not_started"): void {
    const end = this.#mayStart
    if (from >= end) return
    this.#mayStart = from
    for (let index = from; index < end; index++) this.#skip(index, reason)
  }

  #skip(index: number, reason: "cancelled" | "not_started"): boolean {
    const phase = this.#phases[index]
    if (phase !== "queued" && phase !== "starting" && phase !== "suspended") return false
    if (phase !== "suspended") this.#left--
    this.#skipped(index, reason)
    return true
  }

  #skipped(index: number, reason: "cancelled" | "not_started"): void {
    this.#phases[index] = this.#phases[index] === "starting" ? "releasing" : "over"
    this.#owner.skip(index, reason)
  }

  /**
   * Plans the calls that are not over. A skipped call has its place in the former plan, where later calls wait for it. The
   * new plan also returns the calls that run; they are not queued, and do not start again.
   */
  #makePlan(): void {
    const accesses = this.#phases.map((phase, index) => (over.has(phase) ? undefined : this.#accesses[index]))
    this.#plan = planOf(accesses, this.#rules.schedule)
  }

  #proceed(): void {
    this.#fill()
    if (this.#left > 0 || this.#isOver) return
    this.#isOver = true
    this.#owner.over()
  }

  /** Starts the calls that may start, while there are places and slots (SCHED7). */
  #fill(): void {
    if (this.#isFilling) return
    this.#isFilling = true
    while (this.#placed < this.#rules.limit) {
      const plan = this.#plan
      if (plan === undefined) break
      const index = plan.take()
      if (index === undefined) {
        this.#slots?.rest()
        break
      }
      if (this.#phases[index] !== "queued" || this.#isRefused(index, plan)) continue
      if (this.#slots?.take() === false) {
        plan.putBack(index)
        break
      }
      this.#phases[index] = "starting"
      this.#placed++
      this.#owner.run(index)
    }
    this.#isFilling = false
  }

  /** Whether a call does not start at its turn: its owner refuses it, or cancels it meanwhile. */
  #isRefused(index: number, plan: Plan): boolean {
    const end = this.#owner.refuse?.(index)
    if (this.#phases[index] !== "queued") return true
    if (end === undefined) return false
    this.#phases[index] = "over"
    this.#left--
    this.#halted(index, end.halt)
    plan.ended(index)
    return true
  }
}

const placed: ReadonlySet<CallPhase> = new Set<CallPhase>(["starting", "running", "cancelling", "releasing"])

/** The phases of calls that no other call waits for. */
const over: ReadonlySet<CallPhase> = new Set<CallPhase>(["suspended", "asking", "releasing", "over"])

const newState = (count: number): SchedulerState => ({
  phases: Array.from({ length: count }, (): CallPhase => "queued"),
  halts: [],
  isCancelled: false
})
