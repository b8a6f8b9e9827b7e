import type { Framework } from "./framework.ts"
import type { Observation } from "./observe.ts"

/** One line of the table. */
export interface Probe {
  readonly id: string
  readonly title: string
  /** Only for frameworks that keep conversations. */
  readonly durable?: boolean
  readonly run: (framework: Framework) => Promise<Observation>
  /** What is wrong; nothing when all is as it must be. */
  readonly faults: (seen: Observation, framework: Framework) => ReadonlyArray<string>
}
