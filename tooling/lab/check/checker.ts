/** The checker: compares the history of a run with its store. Each fault begins with the number of its invariant. */
import { wrongCompactions } from "./compactions.ts"
import { wrongCalls, wrongLogs, wrongLost, wrongRecord } from "./conversations.ts"
import type { Line } from "./history.ts"
import type { Kept } from "./kept.ts"
import { wrongAnswers, wrongMail } from "./mail.ts"
import { wrongCluster } from "./nodes.ts"
import { wrongChildren, wrongLives } from "./trees.ts"

/** The world of a run: its lease if it is a cluster, and whether every chat must be at its end. */
export interface World {
  readonly leaseMs?: number
  readonly isOver?: boolean
}

/** The faults that a history and a store show. */
export const checked = (lines: ReadonlyArray<Line>, kept: Kept, { leaseMs, isOver = false }: World) => [
  ...wrongLost(lines, kept),
  ...Array.from(kept.records.values()).flatMap(wrongRecord),
  ...wrongLogs(kept, leaseMs !== undefined),
  ...wrongCalls(lines, kept),
  ...wrongCompactions(lines, kept),
  ...wrongChildren(kept),
  ...wrongLives(lines, kept, isOver),
  ...wrongMail(kept),
  ...(isOver ? wrongAnswers(kept) : []),
  ...(leaseMs === undefined ? [] : wrongCluster(lines, kept, leaseMs))
]
