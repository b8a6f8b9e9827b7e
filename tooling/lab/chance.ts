/** Random numbers from a seed. */
import { System } from "@troupe/otp"

/** Returns numbers from 0 up to 1. */
export type Chance = () => number

export const chanceOf = (seed: number): Chance => {
  const system = System.make({ name: "chance", seed })
  return () => System.random(system)
}

/** A random element of a list. */
export const pick = <A>(chance: Chance, list: readonly [A, ...ReadonlyArray<A>]): A =>
  list[Math.floor(chance() * list.length)] ?? list[0]
