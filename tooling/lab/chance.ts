/** Random numbers from a seed. */
import { System } from "@troupe/otp"

export { anyOf, pick, type Some } from "../../packages/chat/test/double/randomParts.ts"

/** Returns numbers from 0 up to 1. */
export type Chance = () => number

export const chanceOf = (seed: number): Chance => {
  const system = System.make({ name: "chance", seed })
  return () => System.random(system)
}
