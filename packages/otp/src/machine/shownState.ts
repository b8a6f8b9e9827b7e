/** The state a machine's process shows. */
import type { Snapshot } from "xstate"
import { ActorProcess } from "./actorProcess.ts"
import type { Cell } from "../kernel/index.ts"

/** Which machine, by the id in its definition, and the value of its state: a name, or names by those of regions around. */
export interface Chart {
  readonly machine: string
  readonly value: unknown
}

/** The chart of a process; none of one that is no chart. */
export const actorChart = ({ behaviour }: Cell): Chart | undefined => {
  if (!(behaviour instanceof ActorProcess)) return undefined
  const snapshot: Snapshot<unknown> & { readonly value?: unknown; readonly machine?: { readonly id: string } } =
    behaviour.node.getSnapshot()
  const { value, machine } = snapshot
  return value === undefined || machine === undefined ? undefined : { machine: machine.id, value }
}
