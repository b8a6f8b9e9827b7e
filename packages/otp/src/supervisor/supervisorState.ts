/** Reads the children of a supervisor from outside, without a request. */
import { CallExit, type MessageOf, type Name, NotASupervisor, type Pid } from "../core/index.ts"
import type { ChildEntry } from "./children.ts"
import { cellOf } from "../kernel/index.ts"
import { Server } from "../server/index.ts"
import { Supervising } from "./childRestarts.ts"
import { supervisorAt } from "./supervisorRequest.ts"

/** The children of a living supervisor; `undefined` when it is dead. */
const stateOf = (supervisor: Pid | Name): Supervising | undefined => {
  const cell = supervisorAt(supervisor)
  if (cell === undefined || cell.dead) return undefined
  const { behaviour } = cell
  if (behaviour instanceof Server && behaviour.state instanceof Supervising) return behaviour.state
  throw new NotASupervisor({ pid: cell })
}

const living = (entry: ChildEntry | undefined): Pid<unknown> | undefined =>
  entry?.cell?.dead === false ? entry.cell : undefined

/** The number of children that a supervisor was started with. Throws `CallExit` when it is dead. */
export const firstCount = (supervisor: Pid | Name): number => {
  const state = stateOf(supervisor)
  if (state === undefined) throw new CallExit({ reason: "noproc", in: "PartitionSupervisor.partitions" })
  return state.firstCount
}

/** The living child of an id; `undefined` if the supervisor is dead. */
export const childById = (
  supervisor: Pid | Name,
  id: string | ((count: number) => string)
): Pid<unknown> | undefined => {
  const state = stateOf(supervisor)
  if (state === undefined) return undefined
  return living(state.children.byId(typeof id === "string" ? id : id(state.firstCount)))
}

/** The address of a child, resolved at each use. */
export const childAddress = <P extends Pid>(
  supervisor: Pid | Name,
  key: string,
  whereis: () => P | undefined
): Name<MessageOf<P>, P> => {
  const name = `${"whereis" in supervisor ? supervisor.name : supervisor.label}/${key}`
  const system = "whereis" in supervisor ? supervisor.system : cellOf(supervisor).kernel
  return { name, system, whereis, toString: () => name }
}
