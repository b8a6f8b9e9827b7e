import type { Framework } from "./framework.ts"
import type { Observation } from "./observe.ts"

/** One line of the table. */
export interface Probe {
  readonly id: string
  readonly title: string
  /** Whether it applies only to frameworks that store conversations. */
  readonly durable?: boolean
  readonly run: (framework: Framework) => Promise<Observation>
  /** The faults; none when everything is as expected. */
  readonly faults: (seen: Observation, framework: Framework) => ReadonlyArray<string>
}
