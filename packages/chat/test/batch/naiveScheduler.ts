/** A scheduler that compares each pair of calls, as a model for `Scheduler`. */
import type { HaltOrder, Schedule } from "../../src/options/ChatOptions.ts"
import type { CallEnd, CallPhase } from "../../src/batch/Scheduler.ts"
import type { Access } from "../../src/batch/startOrder.ts"

/** Calls in short: `r` and `w` without a key, `ra` and `wb` with one. */
export const accessOf = (word: string): Access => ({
  effect: word.startsWith("r") ? "read" : "write",
  ...(word.length > 1 ? { key: word.slice(1) } : {})
})

/** Whether a call waits for the end of another call (SCHED1 to SCHED3). */
export const blocks = (accesses: ReadonlyArray<Access>, schedule: Schedule, other: number, call: number): boolean => {
  const [one, next] = [accesses[other], accesses[call]]
  if (one === undefined || next === undefined || other === call || schedule === "concurrent") return false
  if (schedule === "reference") return one.effect === "write" && (next.effect === "read" || other < call)
  if (other > call || (one.effect === "read" && next.effect === "read")) return false
  return one.key === undefined || next.key === undefined || one.key === next.key
}

/** The rules of a batch, and the ends of the calls that its owner refuses. */
export interface NaiveRules {
  readonly schedule: Schedule
  readonly haltOrder: HaltOrder
  readonly limit: number
  readonly refused: ReadonlyMap<number, CallEnd>
}

const waiting: ReadonlySet<CallPhase> = new Set<CallPhase>(["queued", "starting", "suspended"])
const placed: ReadonlySet<CallPhase> = new Set<CallPhase>(["starting", "running", "cancelling", "releasing"])
const active: ReadonlySet<CallPhase> = new Set<CallPhase>(["queued", "starting", "running", "cancelling"])

/** The model. `log` has the calls of the owner's functions, in their order. */
export class NaiveScheduler {
  readonly log: Array<string> = []
  readonly phases: Array<CallPhase>
  readonly #accesses: ReadonlyArray<Access>
  readonly #rules: NaiveRules
  readonly #halts: Array<number> = []
  #free: number
  #isOver = false

  constructor(accesses: ReadonlyArray<Access>, rules: NaiveRules, free: number) {
    this.phases = accesses.map(() => "queued")
    this.#accesses = accesses
    this.#rules = rules
    this.#free = free
  }

  /** The position of the halt that counts. */
  get halt(): number | undefined {
    return this.#rules.haltOrder === "observed" ? this.#halts[0] : this.#halts.toSorted((one, two) => one - two)[0]
  }

  of(phase: CallPhase): ReadonlyArray<number> {
    return this.phases.flatMap((one, index) => (one === phase ? [index] : []))
  }

  suspend(index: number): void {
    this.phases[index] = "suspended"
  }

  begun(index: number): void {
    this.phases[index] = "running"
  }

  granted(): void {
    this.#free++
    this.proceed()
  }

  ended(index: number, end: CallEnd): void {
    this.phases[index] = "over"
    this.#free++
    this.#halted(index, end)
    this.proceed()
  }

  cancelCalls(indexes: ReadonlyArray<number>): void {
    for (const index of indexes) {
      this.#cancel(index)
      if (this.phases[index] !== "suspended") this.#skip(index, "cancelled")
    }
    this.proceed()
  }

  cancel(): void {
    for (const index of this.phases.keys()) this.#skip(index, "cancelled")
    for (const index of this.phases.keys()) this.#cancel(index)
    this.proceed()
  }

  proceed(): void {
    for (let index = this.#next(); index !== undefined; index = this.#next()) {
      const end = this.#rules.refused.get(index)
      if (end !== undefined) {
        this.phases[index] = "over"
        this.#halted(index, end)
        continue
      }
      if (this.#free === 0) break
      this.#free--
      this.phases[index] = "starting"
      this.log.push(`run ${index}`)
    }
    if (this.#isOver || this.phases.some((phase) => active.has(phase))) return
    this.#isOver = true
    this.log.push("over")
  }

  #next(): number | undefined {
    if (this.phases.filter((phase) => placed.has(phase)).length >= this.#rules.limit) return undefined
    return this.of("queued").find((call) =>
      this.phases.every(
        (phase, other) => !active.has(phase) || !blocks(this.#accesses, this.#rules.schedule, other, call)
      )
    )
  }

  #halted(index: number, { halt }: CallEnd): void {
    if (halt === undefined) return
    this.#halts.push(index)
    const { schedule } = this.#rules
    if (halt === "question" || schedule === "concurrent") return
    this.phases.forEach((_, other) => {
      if (schedule === "reference" || other > index) this.#skip(other, "not_started")
    })
  }

  #cancel(index: number): void {
    if (this.phases[index] !== "running") return
    this.phases[index] = "cancelling"
    this.log.push(`cancel ${index}`)
  }

  #skip(index: number, reason: string): void {
    const phase = this.phases[index]
    if (phase === undefined || !waiting.has(phase)) return
    this.phases[index] = phase === "starting" ? "releasing" : "over"
    this.log.push(`skip ${index} ${reason}`)
  }
}
