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

const partitionsOf = ({ partitions, self }: Supervising): number => {
  if (partitions !== undefined) return partitions
  throw new NotASupervisor({ pid: self, kind: "Supervisor", required: "PartitionSupervisor" })
}

/** The number of partitions. Throws `CallExit` when the supervisor is dead, `NotASupervisor` when it has no partitions. */
export const partitionCount = (supervisor: Pid | Name): number => {
  const state = stateOf(supervisor)
  if (state === undefined) throw new CallExit({ reason: "noproc", in: "PartitionSupervisor.partitions" })
  return partitionsOf(state)
}

/** The living process of a partition, chosen from their number; `undefined` if the supervisor is dead. */
export const partitionIn = (supervisor: Pid | Name, choose: (count: number) => string): Pid<unknown> | undefined => {
  const state = stateOf(supervisor)
  return state === undefined ? undefined : living(state.children.byId(choose(partitionsOf(state))))
}

/** The living child of an id; `undefined` if the supervisor is dead. */
export const childById = (supervisor: Pid | Name, id: string): Pid<unknown> | undefined => {
  const state = stateOf(supervisor)
  return state === undefined ? undefined : living(state.children.byId(id))
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
