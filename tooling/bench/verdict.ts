/** The limits of figures, and the verdict about a measured one. */

/**
 * The limits of one figure.
 *
 * `pnpm bench` fails when a figure is beyond its bound by more than the tolerance. An aim is a target, and no condition.
 */
export interface Limit {
  readonly bound: number
  readonly aim: number
  /** Whether the figure is to be at least these numbers. By default it is to be at most them. */
  readonly isLeast?: boolean
}

/** The part of a bound by which a figure may exceed it. */
export const tolerance = 0.15

/**
 * What a measured figure is, compared with its limits.
 *
 * - `"over"`: beyond the bound, within the tolerance
 * - `"FAILS"`: beyond the bound and the tolerance, or not a number
 */
export type Verdict = "in aim" | "in bound" | "over" | "FAILS"

/** Compares a figure with its limits. `allowed` is the part of the bound by which the figure may exceed it. */
export const verdictOf = (measured: number, { bound, aim, isLeast = false }: Limit, allowed = tolerance): Verdict => {
  const isWithin = (limit: number): boolean => (isLeast ? measured >= limit : measured <= limit)
  if (isWithin(aim)) return "in aim"
  if (isWithin(bound)) return "in bound"
  return isWithin(bound * (isLeast ? 1 - allowed : 1 + allowed)) ? "over" : "FAILS"
}
