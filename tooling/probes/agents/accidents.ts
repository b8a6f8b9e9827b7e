/**
 * The accidents of trees of agents, the same for every framework.
 *
 * @module
 */
import type { Accident } from "./accident.ts"
import { decisions } from "./decisions.ts"
import { endings } from "./endings.ts"
import { recoveries } from "./recoveries.ts"

/** All accidents, in the order of the table. */
export const accidents: ReadonlyArray<Accident> = [...endings, ...recoveries, ...decisions]
