/** The spans of a chat's turns as rows of bars. */
import type { Observation } from "@troupe/chat/observe"

/**
 * The spans of one row: those of one tool call, of one request, or of the turn. `above` are the labels of the calls that the row's
 * chat works for, the outermost first.
 */
interface TimelineRow {
  readonly id: string
  readonly label: string
  /** The main argument of the row's call. */
  readonly about: string | undefined
  readonly above: ReadonlyArray<string>
  readonly spans: ReadonlyArray<Observation.Span>
}

/** A turn: its rows, and its time range, with its zombies' time after it. */
export interface TimelineTurn {
  readonly turn: Observation.Span
  readonly rows: ReadonlyArray<TimelineRow>
  readonly from: number
  readonly to: number
  readonly isLive: boolean
}

/** The spans of one call have the same id up to the word for their kind. */
const rowIdOf = ({ id, kind }: Observation.Span): string => {
  const at = id.lastIndexOf(`.${kind}`)
  return at === -1 ? id : id.slice(0, at)
}

/**
 * A zombie continues in the row of its call: the row of the same name whose last span ended when the zombie began, or
 * before.
 */
const zombieRow = (
  zombie: Observation.Span,
  rows: ReadonlyMap<string, ReadonlyArray<Observation.Span>>
): string | undefined => {
  const ends = [...rows].flatMap(([id, spans]) => {
    const to = Math.max(...spans.map((span) => span.to ?? Infinity))
    return spans[0]?.label === zombie.label && to <= zombie.from + 50 ? [{ id, to }] : []
  })
  return ends.toSorted((one, other) => other.to - one.to)[0]?.id
}

const rowsOf = (spans: ReadonlyArray<Observation.Span>): ReadonlyArray<TimelineRow> => {
  const rows = new Map<string, ReadonlyArray<Observation.Span>>()
  const put = (id: string, span: Observation.Span) => rows.set(id, [...(rows.get(id) ?? []), span])
  for (const span of spans) if (span.kind !== "zombie") put(rowIdOf(span), span)
  for (const span of spans) if (span.kind === "zombie") put(zombieRow(span, rows) ?? span.id, span)
  const all = [...rows]
    .map(([id, threadTimes]) => ({
      id,
      label: threadTimes[0]?.label ?? "",
      about: threadTimes[0]?.about,
      under: threadTimes[0]?.under,
      spans: threadTimes.toSorted((one, other) => one.from - other.from)
    }))
    .toSorted((one, other) => (one.spans[0]?.from ?? 0) - (other.spans[0]?.from ?? 0))
  // The rows of a child follow the row of its call.
  const ids = new Set(all.map(({ id }) => id))
  const below = Map.groupBy(all, ({ under }) => (under !== undefined && ids.has(under) ? under : undefined))
  const nested = (of: string | undefined, above: ReadonlyArray<string>): ReadonlyArray<TimelineRow> =>
    (below.get(of) ?? []).flatMap(({ id, label, about, spans: own }) => [
      { id, label, about, above, spans: own },
      ...nested(id, [...above, label])
    ])
  return nested(undefined, [])
}

/** The turns, the oldest first; running spans end at `now`. */
export const turnsOf = (spans: ReadonlyArray<Observation.Span>, now: number): ReadonlyArray<TimelineTurn> => {
  const turns = spans.filter(({ kind }) => kind === "turn")
  const others = spans.filter(({ kind }) => kind !== "turn")
  return turns.map((turn, index) => {
    const next = turns[index + 1]?.from ?? Infinity
    const own = others.filter(({ from }) => from >= turn.from && from < next)
    const end = turn.to ?? now
    const last = Math.max(end, ...own.map(({ to }) => to ?? now))
    return {
      turn,
      rows: [{ id: turn.id, label: "Turn", about: undefined, above: [], spans: [turn] }, ...rowsOf(own)],
      from: turn.from,
      to: Math.max(last, turn.from + 1),
      isLive: turn.to === undefined || own.some(({ to }) => to === undefined)
    }
  })
}

/**
 * The length of the axis. While something runs, the axis is longer than the turn and grows in steps, so that ended bars
 * stay in place and remain readable.
 */
export const axisOf = ({ from, to, isLive }: TimelineTurn): number => {
  const length = to - from
  return isLive ? 500 * 1.3 ** Math.max(0, Math.ceil(Math.log(length / 500) / Math.log(1.3))) : length
}

/** Round marks on the axis: about five, none too near the end for its label. */
export const marksOf = (length: number): ReadonlyArray<number> => {
  const rough = length / 5
  const power = 10 ** Math.floor(Math.log10(rough))
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? length
  return Array.from({ length: Math.floor((length * 0.85) / step) + 1 }, (_, index) => index * step)
}

const words = {
  turn: "turn",
  stream: "model request",
  delay: "waits before it is sent again",
  queue: "waits for its turn",
  call: "runs",
  drain: "cancelled, waited for",
  zombie: "goes on though its call is over"
} as const

/** The name of a span's kind. */
export const wordsFor = (kind: Observation.Span["kind"]): string => words[kind]
