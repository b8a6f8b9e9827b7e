/** The displayed state of a machine's process. */
import type { Snapshot } from "xstate"
import { ActorProcess } from "./actorProcess.ts"
import { ChartProcess } from "./host/index.ts"
import type { Cell } from "../kernel/index.ts"

/** The machine of a process, and its states. */
export interface Chart {
  /** The id in the definition of the machine. */
  readonly machine: string
  /** The state value: a name, or names nested by region. */
  readonly value: unknown
}

/** The chart of a process; `undefined` if it runs no chart. */
export const actorChart = ({ behaviour }: Cell): Chart | undefined => {
  if (behaviour instanceof ChartProcess) {
    const { value, table } = behaviour.root.chart
    return { machine: table.machine.id, value }
  }
  if (!(behaviour instanceof ActorProcess)) return undefined
  const snapshot: Snapshot<unknown> & { readonly value?: unknown; readonly machine?: { readonly id: string } } =
    behaviour.actor.ref.getSnapshot()
  const { value, machine } = snapshot
  return value === undefined || machine === undefined ? undefined : { machine: machine.id, value }
}
