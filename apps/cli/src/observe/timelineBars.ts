/**
 * Draws the spans of a turn as bars.
 *
 * @module
 */
import type { Observation } from "@troupe/chat/observe"
import { duration, type Paint, shortened } from "../output/index.ts"

const fill: { readonly [Kind in Observation.Span["kind"]]: readonly [mark: string, paint: keyof Paint] } = {
  turn: ["━", "strong"],
  stream: ["▓", "accent"],
  delay: ["~", "warn"],
  queue: ["·", "quiet"],
  call: ["█", "good"],
  drain: ["▒", "warn"],
  zombie: ["░", "bad"]
}

const nameWidth = 26
const tookWidth = 11
const narrowest = 8

/**
 * The newest turn, and zombies of an earlier one: a line for each span; only the newest lines when there are too many.
 */
export const timelineBars = (
  { spans, at }: Observation.Timeline,
  columns: number,
  most: number,
  paint: Paint
): ReadonlyArray<string> => {
  const turn = spans.findLast(({ kind }) => kind === "turn")
  if (turn === undefined) return [paint.quiet("no turn was seen yet")]
  const shown = spans.filter(({ from, to }) => from >= turn.from || (to ?? at) > turn.from)
  const start = Math.min(turn.from, ...shown.filter(({ kind }) => kind !== "zombie").map(({ from }) => from))
  const end = Math.max(start + 1, ...shown.map(({ to }) => to ?? at))
  const width = Math.max(narrowest, columns - nameWidth - tookWidth - 2)
  const column = (time: number): number => Math.round(((Math.max(start, time) - start) / (end - start)) * width)
  const [first, ...rest] = shown.map((span) => {
    const until = span.to ?? at
    const begins = Math.min(column(span.from), width - 1)
    const length = Math.max(1, column(until) - begins)
    const [mark, look] = fill[span.kind]
    const bar = `${" ".repeat(begins)}${mark.repeat(length)}`.padEnd(width)
    const depth = span.under === undefined ? 0 : span.under.split("/").length
    const name = shortened(`${"  ".repeat(depth)}${span.kind} ${span.label}`, nameWidth - 1).padEnd(nameWidth)
    const took = `${span.to === undefined ? "…" : " "}${duration(until - span.from)}`.padStart(tookWidth)
    return `${name}${paint[look](bar)}${paint.quiet(took)}`
  })
  return [...(first === undefined ? [] : [first]), ...rest.slice(-Math.max(0, most - 1))]
}
