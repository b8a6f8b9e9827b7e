/**
 * Which call gets which fault.
 *
 * FPLAN1. What a call gets depends on the seed and on its place alone: what it is of, its name, and how often that was
 *         called before. It does not matter what other calls do, nor when.
 * FPLAN2. A planned fault wins over a drawn one.
 */
import { chanceOf } from "./seededNumber.ts"
import type { System } from "@troupe/otp"

/**
 * What goes wrong with a call.
 *
 * - `crash`: it throws `error`; with `dies` the process it runs in is killed instead
 * - `hang`: it never settles. Only one that is `aware` ends when it is told to stop
 * - `slow`: what it says comes `ms` milliseconds later, told to stop or not
 * - `late`: what it says comes `ms` milliseconds after it was told to stop. A store is told nothing: there `ms` counts from the
 *   call, and is more than anybody waits
 * - `duplicate`: an event comes twice; a tool, or an operation of a store, is run twice, and the second result counts
 *
 * **Units and defaults**: `after` is for adapters: the fault comes after so many events of the stream, 0 as it is opened;
 * a duplicate is of the event behind those. `ms` of a late one is 1, of a store's 6,000.
 */
export type Fault = { readonly after?: number | undefined } & (
  | { readonly type: "crash"; readonly dies?: boolean | undefined; readonly error?: unknown }
  | { readonly type: "hang"; readonly aware?: boolean | undefined }
  | { readonly type: "slow"; readonly ms: number }
  | { readonly type: "late"; readonly ms?: number | undefined }
  | { readonly type: "duplicate" }
)

/** What faults are put around. */
export type FaultTarget = "adapter" | "tool" | "store"

/**
 * A fault that is to happen.
 *
 * **Units and defaults**: `name` is the adapter's or the tool's, or `load`, `save` and so on of a store; any, if there is
 * none. `call` is the how-manieth call of that name, 1 the first; every one, if there is none.
 */
export interface PlannedFault {
  readonly on: FaultTarget
  readonly name?: string | undefined
  readonly call?: number | undefined
  readonly fault: Fault
}

/** How probable each fault is, from 0 to 1; together at most 1. */
export type FaultRates = { readonly [Type in Fault["type"]]?: number | undefined }

/** What is planned and what is drawn. */
export interface FaultPlan {
  readonly seed: number
  readonly plan: ReadonlyArray<PlannedFault>
  readonly rates: { readonly [Target in FaultTarget]?: FaultRates | undefined }
}

/** Everything that can go wrong, and everything it can go wrong with. */
export const types = ["crash", "hang", "slow", "late", "duplicate"] as const satisfies ReadonlyArray<Fault["type"]>
export const targets = ["adapter", "tool", "store"] as const satisfies ReadonlyArray<FaultTarget>

const mostEvents = 6
const slowestMs = 40

/** The fault of one call, if it gets one. */
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
 * What faults are made with.
 *
 * **Units and defaults**: `plan` names calls, `rates` draws, by `seed`, 0 by default; without either nothing goes wrong.
 * `system` is where the faults' processes live and their time is counted; without one it is the host's time, and nothing
 * can be made to die.
 */
export interface FaultOptions extends Partial<FaultPlan> {
  readonly system?: System.System | undefined
}
