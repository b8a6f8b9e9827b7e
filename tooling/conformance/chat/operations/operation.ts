/** The runner of one kind of chat cases. */
import type { Fields } from "../../runner/fields.ts"
import type { Observations } from "../behaviours.ts"
import type { Outcome } from "../outcome.ts"

/** A call of a case. */
export type Operation = (given: Fields, seen: Observations) => Promise<Outcome> | Outcome
