/** Reads the children of a supervisor from outside, without a request. */
import type { Pid } from "../core/index.ts"
import { cellOf } from "../kernel/index.ts"
import type { ChildEntry } from "./children.ts"
import { Server } from "../server/index.ts"
import { Supervising } from "./childRestarts.ts"

const stateOf = (supervisor: Pid): Supervising => {
  const { behaviour } = cellOf(supervisor)
  if (behaviour instanceof Server && behaviour.state instanceof Supervising) return behaviour.state
  throw new TypeError(`${supervisor.label} ${supervisor} is no supervisor of children with ids: pass what start gave`)
}

const living = (entry: ChildEntry | undefined): Pid<unknown> | undefined =>
  entry?.cell?.dead === false ? entry.cell : undefined

/** The number of children, including stopped ones. */
export const childCount = (supervisor: Pid): number => stateOf(supervisor).children.size

/** The living child of an id; `undefined` if the supervisor is dead. */
export const childById = (supervisor: Pid, id: string): Pid<unknown> | undefined =>
  cellOf(supervisor).dead ? undefined : living(stateOf(supervisor).children.byId(id))
