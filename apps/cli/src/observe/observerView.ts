/**
 * Renders `observe` for a terminal.
 *
 * @module
 */
import type { Observation } from "@troupe/chat/observe"
import type { NodeStatus } from "@troupe/server/ChatLink"
import { nodeLines } from "./nodeLines.ts"
import type { ProcessRow } from "./observedRows.ts"
import { type Paint, shortened, visible } from "../output/index.ts"
import { timelineBars } from "./timelineBars.ts"

/** The observed data, and the user's selection. */
export interface ObserverScene {
  readonly url: string
  /** The nodes of the cluster, and the observed one. */
  readonly nodes: ReadonlyArray<NodeStatus>
  readonly node: string | undefined
  readonly observed: Observation.Observed | undefined
  readonly rows: ReadonlyArray<ProcessRow>
  /** The selected row. */
  readonly chosen: number
  readonly detail: Observation.ProcessDetail | undefined
  readonly timeline: Observation.Timeline | undefined
  /** The text at the bottom in place of the keys: a question or an error. */
  readonly notice: string | undefined
}

/** The lines of a screen, at most as many as fit. */
export const observerLines = (
  scene: ObserverScene,
  { rows, columns }: { readonly rows: number; readonly columns: number },
  paint: Paint
): ReadonlyArray<string> => {
  const head = headLine(scene, columns, paint)
  const isMany = scene.nodes.length > 1
  const foot = scene.notice === undefined ? keys(columns, isMany, paint) : paint.warn(shortened(scene.notice, columns))
  const space = Math.max(0, rows - 2)
  const size = { room: Math.min(mostNodes, Math.floor(space / 4)), columns }
  const nodes = isMany ? nodeLines(scene.nodes, scene.node, size, paint) : []
  const room = space - nodes.length
  const below = detailLines(scene, columns, Math.floor(room / 2), paint)
  const tree = treeLines(scene, columns, room - below.length, paint)
  const blank = Array.from({ length: Math.max(0, room - below.length - tree.length) }, () => "")
  return [head, ...nodes, ...tree, ...blank, ...below, foot].slice(0, rows)
}

/** The most lines of nodes. */
const mostNodes = 8

const keys = (columns: number, isMany: boolean, paint: Paint): string =>
  paint.quiet(shortened(`↑ ↓ choose · PgUp PgDn Home End ·${isMany ? " ← → node ·" : ""} k kill · q leave`, columns))

const headLine = ({ url, observed }: ObserverScene, columns: number, paint: Paint): string => {
  if (observed === undefined) return paint.quiet(shortened(`Troupe · ${url} · connecting …`, columns))
  const counts: ReadonlyArray<readonly [number, string, keyof Paint]> = [
    [observed.crashes, "crashes", "bad"],
    [observed.restarts, "restarts", "warn"],
    [observed.zombies, "zombies", "bad"],
    [observed.deadLetters, "dead letters", "warn"]
  ]
  const said = counts.map(([count, what, look]) => (count === 0 ? paint.quiet : paint[look])(`${count} ${what}`))
  return `${paint.strong("Troupe")} ${paint.quiet(shortened(url, Math.max(8, columns - 75)))} · ${observed.processes} processes · ${said.join(" · ")}`
}

const treeLines = (
  { rows, chosen }: ObserverScene,
  columns: number,
  room: number,
  paint: Paint
): ReadonlyArray<string> => {
  const from = Math.max(0, Math.min(chosen - Math.floor(room / 2), rows.length - room))
  return rows
    .slice(from, from + Math.max(0, room))
    .map((row, index) => processLine(row, from + index === chosen, columns, paint))
}

const looks: { readonly [Status in Observation.ProcessNode["status"]]: keyof Paint } = {
  idle: "quiet",
  queued: "accent",
  running: "good",
  busy: "good",
  suspended: "warn"
}

const factsWidth = 42

const processLine = ({ node, branch }: ProcessRow, isChosen: boolean, columns: number, paint: Paint): string => {
  const { label, id, status, queueLength, memory, restarts = 0, hidden = 0 } = node
  const width = Math.max(12, columns - factsWidth)
  const more = hidden === 0 ? "" : ` … ${hidden} more`
  const room = Math.max(4, width - branch.length - id.length - more.length - 3)
  const name = shortened(label, room)
  const isZombie = label.startsWith("Zombie ")
  const said = `${branch}${name} ${id}${more}`
  const painted = `${paint.quiet(branch)}${isZombie ? paint.bad(name) : isChosen ? paint.strong(name) : name} ${paint.quiet(`${id}${more}`)}`
  const gap = " ".repeat(Math.max(1, width - 2 - said.length))
  const facts = [
    paint[looks[status]](status.padEnd(9)),
    queueLength === 0 ? " ".repeat(9) : paint.warn(`${queueLength} queued`.padEnd(9)),
    restarts === 0 ? " ".repeat(11) : paint.warn(`${restarts} restarts`.padEnd(11)),
    paint.quiet(kilobytes(memory).padStart(9))
  ]
  return `${isChosen ? paint.accent("▸") : " "} ${painted}${gap}${facts.join(" ")}`.trimEnd()
}

const kilobytes = (bytes: number): string => `${(bytes / 1_000).toFixed(1)} kB`

const detailLines = (
  { detail, timeline }: ObserverScene,
  columns: number,
  room: number,
  paint: Paint
): ReadonlyArray<string> => {
  if (detail === undefined || room < 3) return []
  const lines = [
    paint.quiet("─".repeat(columns)),
    titleOf(detail, columns, paint),
    ...fact("state", detail.state, columns, paint),
    ...fact("links", detail.links.join(" "), columns, paint),
    ...fact("monitors", detail.monitors.join(" "), columns, paint),
    ...fact("mailbox", detail.mailbox.join(" │ "), columns, paint),
    ...detail.recent.slice(-3).flatMap(({ event, detail: said }) => fact(event, said, columns, paint))
  ]
  const left = room - lines.length - 1
  if (timeline === undefined || left < 2) return lines.slice(0, room)
  const title = paint.quiet(`${shortened(`─ ${timeline.chat}`, columns - 2)} `.padEnd(columns, "─"))
  return [...lines, title, ...timelineBars(timeline, columns, left, paint)].slice(0, room)
}

const titleOf = (
  { label, id, kind, alive, chart, handled, busyMs }: Observation.ProcessDetail,
  columns: number,
  paint: Paint
): string => {
  const state = chart === undefined ? "" : ` · ${chart.machine}: ${stateText(chart.value)}`
  const ended = alive ? "" : " · ended"
  const rest = `${id} ${kind}${ended}${state} · ${handled} handled, ${busyMs.toFixed(1)} ms`
  const name = shortened(label, Math.max(8, columns - rest.length - 1))
  return `${paint.strong(name)} ${shortened(rest, Math.max(0, columns - name.length - 1))}`
}

/** The name of a state with its active substates: `running.phaseA`. */
export const stateText = (value: unknown): string => {
  if (typeof value !== "object" || value === null) return visible(String(value))
  const parts = Object.entries(value).map(([name, inner]) => {
    const below = stateText(inner)
    return below === "" ? name : `${name}.${below}`
  })
  return parts.join(" & ")
}

const fact = (name: string, text: string, columns: number, paint: Paint): ReadonlyArray<string> =>
  text === "" ? [] : [`${paint.quiet(name.padEnd(9))} ${shortened(text, Math.max(1, columns - 10))}`]
