/**
 * Doubles a number.
 *
 * ```ts import.meta.vitest
 * import { double } from "./Documented.ts"
 *
 * double(2) // => 4
 * ```
 */
export const double = (value: number): number => value * 2
