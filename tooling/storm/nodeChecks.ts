/**
 * The checks of the nodes in the history of a storm.
 *
 * STORM7. A node ends only by a signal, and ends by itself after SIGTERM. It is refused only while PostgreSQL is restarted.
 * STORM8. A node with another protocol is refused with `protocol_mismatch`, and is never ready.
 * STORM9. A node that is cut from PostgreSQL for longer than the lease begins no call that writes until it is reached again.
 */
import { type Line, type NodeEvent, ofType } from "./history.ts"
import type { Call } from "./ledger.ts"
import { database } from "./network.ts"

/** The faults of the nodes. */
export const wrongNodes = (
  lines: ReadonlyArray<Line>,
  journal: ReadonlyArray<Call>,
  leaseMs: number
): ReadonlyArray<string> => [...wrongEnds(lines), ...wrongRefusals(lines), ...wrongActs(lines, journal, leaseMs)]

/** STORM7 */
const wrongEnds = (lines: ReadonlyArray<Line>): ReadonlyArray<string> =>
  ofType(lines, "node").flatMap(({ node, event, detail }) =>
    event === "ended" ? [`STORM7: ${node} ended: ${detail ?? ""}`] : []
  )

/** The times from one event of a node to another of its events. */
const spans = (
  lines: ReadonlyArray<Line>,
  first: NodeEvent,
  last: NodeEvent
): ReadonlyArray<{
  readonly node: string
  readonly other: string | undefined
  readonly from: number
  readonly to: number
}> =>
  ofType(lines, "node").flatMap(({ at, node, event, other }, index, all) => {
    if (event !== first) return []
    const end = all.slice(index).find((line) => line.event === last && line.node === node && line.other === other)
    return [{ node, other, from: at, to: end?.at ?? Infinity }]
  })

/** STORM7, STORM8 */
const wrongRefusals = (lines: ReadonlyArray<Line>): ReadonlyArray<string> => {
  const restarts = spans(lines, "restart", "restarted")
  return ofType(lines, "node").flatMap(({ at, node, event, detail }, index, all) => {
    if (event !== "ready" && event !== "refused") return []
    const start = all.slice(0, index).findLast((line) => line.node === node && line.event === "started")
    const isRestarted = restarts.some(({ from, to }) => from <= at && to >= (start?.at ?? 0))
    if (event === "refused" && detail === "database_failed" && isRestarted) return []
    const isOther = start?.detail === "other"
    const seen = event === "ready" ? event : `${event}: ${detail ?? ""}`
    const expected = isOther ? "refused: protocol_mismatch" : "ready"
    return seen === expected ? [] : [`${isOther ? "STORM8" : "STORM7"}: ${node} is ${seen}`]
  })
}

/** STORM9 */
const wrongActs = (
  lines: ReadonlyArray<Line>,
  journal: ReadonlyArray<Call>,
  leaseMs: number
): ReadonlyArray<string> => {
  const cuts = spans(lines, "cut", "healed").filter(({ other }) => other === database)
  return journal.flatMap(({ call, node, at }) =>
    cuts.some((cut) => cut.node === node && at > cut.from + leaseMs && at < cut.to)
      ? [`STORM9: "${call}" began on ${node}, which was cut from PostgreSQL`]
      : []
  )
}
