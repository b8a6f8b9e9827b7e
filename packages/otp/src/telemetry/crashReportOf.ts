/**
 * Records the properties of a process before it ends.
 *
 * CRASH1. It never throws, whatever the reason, the message and the state are; a value that cannot be shown is marked.
 * CRASH2. What `formatStatus` of a server or a machine leaves out is in no crash report, no status and no view of the observer.
 */
import { attempt, type CrashReport, type ExitReason, format, summary } from "../core/index.ts"
import type { Cell } from "../kernel/index.ts"
import { contentOf, messageSummary } from "./messageSummary.ts"
import { isSensitive, withheld } from "../process/index.ts"

const mostLinks = 20

const handlingOf = (cell: Cell): string | undefined => {
  if (cell.handling === undefined) return undefined
  if (isSensitive(cell)) return withheld
  return attempt(() => {
    const shown = cell.behaviour.shown?.(contentOf(cell.handling))
    if (shown === undefined) return messageSummary(cell.handling)
    return shown.message === undefined ? undefined : summary(shown.message)
  })
}

/** The state in one line; `undefined` if the process has none yet. */
export const shownState = (cell: Cell): string | undefined => {
  if (isSensitive(cell)) return withheld
  const { behaviour } = cell
  return attempt(() => {
    const shown = behaviour.shown?.(contentOf(cell.handling))
    if (shown !== undefined) return shown.state === undefined ? undefined : summary(shown.state)
    const state = behaviour.outline === undefined ? behaviour.inspect?.() : behaviour.outline()
    return state === undefined ? undefined : summary(state)
  })
}

/** Makes the report of a process that is about to end with this reason, or that survives a fault. */
export const crashReport = (cell: Cell, reason: ExitReason, ended: boolean): CrashReport => ({
  pid: cell,
  label: cell.label,
  name: cell.name,
  kind: cell.behaviour.kind,
  ended,
  reason,
  message: `${cell.label} ${cell} ${ended ? "ended" : "reports"}: ${format(reason)}`,
  handling: handlingOf(cell),
  state: shownState(cell),
  queueLength: cell.mailbox?.size ?? 0,
  parent: cell.parent,
  links: cell.links.slice(0, mostLinks),
  at: cell.kernel.clock.now()
})
