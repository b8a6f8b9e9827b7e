/**
 * Decides which call gets which fault.
 *
 * FPLAN1. The fault of a call depends only on the seed and on the place of the call: its target, its name, and how often
 *         that was called before. Other calls, and their timing, do not matter.
 * FPLAN2. A planned fault takes precedence over a drawn one.
 */
import { chanceOf } from "./seededNumber.ts"
import type { System } from "@troupe/otp"

/**
 * The fault of a call.
 *
 * - `crash`: it throws `error`; with `dies` its process is killed instead
 * - `hang`: it never settles. Only an `aware` hang ends when its signal is aborted
 * - `slow`: its answer comes `ms` milliseconds later, aborted or not
 * - `late`: its answer comes `ms` milliseconds after its signal was aborted. A store has no signal: there `ms` counts from
 *   the call, and is longer than any caller waits
 * - `duplicate`: an event comes twice; a tool, or an operation of a store, runs twice, and the second result counts
 *
 * **Units and defaults**: `after` is for adapters: the fault comes after `after` events of the stream, 0 when it is opened;
 * a duplicate repeats the event after those. `ms` of a late fault is 1, of a store's 6,000.
 */
export type Fault = { readonly after?: number | undefined } & (
  | { readonly type: "crash"; readonly dies?: boolean | undefined; readonly error?: unknown }
  | { readonly type: "hang"; readonly aware?: boolean | undefined }
  | { readonly type: "slow"; readonly ms: number }
  | { readonly type: "late"; readonly ms?: number | undefined }
  | { readonly type: "duplicate" }
)

/** What fails: the adapter, the handler of a tool, or an operation of the store. */
export type FaultTarget = "adapter" | "tool" | "store"

/**
 * A planned fault.
 *
 * **Units and defaults**: `name` is the adapter's or the tool's, or `load`, `save` and so on for a store; without it any
 * name matches. `call` is the number of the call with that name, from 1; without it every call matches.
 */
export interface PlannedFault {
  readonly on: FaultTarget
  readonly name?: string | undefined
  readonly call?: number | undefined
  readonly fault: Fault
}

/** The probability of each fault, from 0 to 1; together at most 1. */
type FaultRates = { readonly [Type in Fault["type"]]?: number | undefined }

/** The planned faults, and the rates of drawn faults. */
export interface FaultPlan {
  readonly seed: number
  readonly plan: ReadonlyArray<PlannedFault>
  readonly rates: { readonly [Target in FaultTarget]?: FaultRates | undefined }
}

/** All faults, and all targets. */
export const types = ["crash", "hang", "slow", "late", "duplicate"] as const satisfies ReadonlyArray<Fault["type"]>
export const targets = ["adapter", "tool", "store"] as const satisfies ReadonlyArray<FaultTarget>

const mostEvents = 6
const slowestMs = 40

/** The fault of one call, if any. */
export const faultOf = (
  { seed, plan, rates }: FaultPlan,
  on: FaultTarget,
  name: string,
  call: number
): Fault | undefined => {
  const planned = plan.find(
    (entry) => entry.on === on && (entry.name ?? name) === name && (entry.call ?? call) === call
  )
  if (planned !== undefined) return planned.fault
  const ofTarget = rates[on]
  if (ofTarget === undefined) return undefined
  const chance = (what: string): number => chanceOf(seed, on, name, call, what)
  let left = chance("type")
  const type = types.find((one) => (left -= ofTarget[one] ?? 0) < 0)
  return type === undefined ? undefined : drawn(type, on, chance)
}

const drawn = (type: Fault["type"], on: FaultTarget, chance: (what: string) => number): Fault => {
  const place = on === "adapter" ? { after: Math.floor(chance("after") * mostEvents) } : {}
  switch (type) {
    case "crash":
      return { ...place, type, dies: chance("dies") < 0.5 }
    case "hang":
      return { ...place, type, aware: chance("aware") < 0.5 }
    case "slow":
      return { ...place, type, ms: 1 + Math.floor(chance("ms") * slowestMs) }
    case "late":
      return on === "store" ? { ...place, type } : { ...place, type, ms: 1 + Math.floor(chance("ms") * slowestMs) }
    case "duplicate":
      return { ...place, type }
  }
}

/**
 * The options of injected faults.
 *
 * **Units and defaults**: `plan` names calls, `rates` draws them, by `seed`, 0 by default; without either there are no faults.
 */
export interface FaultOptions extends Partial<FaultPlan> {
  /** Has the processes and the clock of the faults. Default: the time is the host's, and no process can be killed. */
  readonly system?: System.System | undefined
}
