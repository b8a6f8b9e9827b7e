/** Shows the time that a turn spends. */
import type { Observation } from "@troupe/chat/observe"
import type { ObserverLink } from "@troupe/server/ChatLink"
import { type KeyboardEvent, useId, useMemo, useRef, useState } from "react"
import { duration, mark, words } from "../../format/index.ts"
import { ScrollTable, Surface, useWatched } from "../parts/index.ts"
import { useLiveTime } from "./frameTime.ts"
import { download, traceOf } from "./traceFile.ts"
import { axisOf, marksOf, type TimelineTurn, turnsOf, wordsFor } from "./timelineRows.ts"

/** The props of {@link TurnTimeline}. */
export interface TurnTimelineProps {
  /** The observer that has the timeline. */
  readonly link: ObserverLink
  /** The id of the chat whose turns are drawn. */
  readonly chat: string
}

const kinds: ReadonlyArray<Observation.Span["kind"]> = ["stream", "delay", "queue", "call", "drain", "zombie"]

/**
 * The newest turns of a chat, one at a time. Each model request has a bar, with a bar for each wait before it is sent again, and each tool call has bars for waiting,
 * running, draining and running as a zombie. The bars of running work grow.
 *
 * **Details**: arrow keys move from bar to bar, and each bar has a text. A table has the same data.
 */
export const TurnTimeline = ({ link, chat }: TurnTimelineProps) => {
  const watched = useMemo(() => link.timeline(chat), [link, chat])
  const timeline = useWatched(watched)
  const [chosen, setChosen] = useState<string>()
  const [isTable, setIsTable] = useState(false)
  const isLive = timeline?.spans.some(({ to }) => to === undefined) === true
  const now = useLiveTime(timeline?.at ?? 0, isLive)
  const turns = turnsOf(timeline?.spans ?? [], now)
  const index = Math.max(
    turns.findIndex(({ turn }) => turn.id === chosen),
    chosen === undefined ? turns.length - 1 : 0
  )
  const shown = turns[index]
  if (shown === undefined) {
    return (
      <Surface className="tro-timeline">
        <p className="tro-empty">{timeline === undefined ? "Looking…" : "No turn was seen yet: say something."}</p>
      </Surface>
    )
  }
  const choose = (to: number) => setChosen(to === turns.length - 1 ? undefined : turns[to]?.turn.id)
  return (
    <Surface className="tro-timeline">
      <div className="tro-toolbar">
        <button
          type="button"
          className="tro-button"
          aria-label="Earlier turn"
          disabled={index === 0}
          onClick={() => choose(index - 1)}
        >
          ‹
        </button>
        <button
          type="button"
          className="tro-button"
          aria-label="Later turn"
          disabled={index === turns.length - 1}
          onClick={() => choose(index + 1)}
        >
          ›
        </button>
        <span className="tro-turn-name" title={shown.turn.label}>
          {shown.turn.label}
        </span>
        <span className="tro-number">{duration((shown.turn.to ?? now) - shown.turn.from)}</span>
        <button type="button" className="tro-button" aria-pressed={isTable} onClick={() => setIsTable(!isTable)}>
          Table
        </button>
        <button
          type="button"
          className="tro-button"
          title="A file that Perfetto opens"
          onClick={() => download(`trace-${chat}.json`, traceOf({ chat, at: now, spans: timeline?.spans ?? [] }))}
        >
          Export
        </button>
      </div>
      {isTable ? <SpanTable turn={shown} now={now} /> : <Bars turn={shown} now={now} />}
      {!isTable && (
        <ul className="tro-legend" aria-label="Kinds of bars">
          {kinds.map((kind) => (
            <li key={kind}>
              <span className="tro-swatch" data-kind={kind} aria-hidden />
              {kind}
            </li>
          ))}
        </ul>
      )}
    </Surface>
  )
}

interface TurnProps {
  readonly turn: TimelineTurn
  readonly now: number
}

const lengthOf = (span: Observation.Span, now: number): number => Math.max(0, (span.to ?? now) - span.from)

const sayingOf = (span: Observation.Span, { from }: TimelineTurn, now: number): string => {
  const end = span.to === undefined ? "goes on" : words(span.outcome ?? "over")
  return `${wordsFor(span.kind)}, from ${duration(span.from - from)}, ${duration(lengthOf(span, now))}, ${end}`
}

/** The name of a row, with the calls that its chat works for. */
const nameOf = ({ label, about, above }: TimelineTurn["rows"][number]): string =>
  [...above, about === undefined ? label : `${label} ${about}`].join(" › ")

const Bars = ({ turn, now }: TurnProps) => {
  const { from, rows } = turn
  const all = axisOf(turn)
  const spans = rows.flatMap((row) => row.spans)
  const [pointed, setPointed] = useState<string>()
  const [stop, setStop] = useState<string>()
  const tip = useId()
  const field = useRef<HTMLDivElement>(null)
  const part = (ms: number): string => `${(100 * ms) / all}%`
  const current = spans.some(({ id }) => id === stop) ? stop : spans[0]?.id
  const keyPressed = (event: KeyboardEvent, id: string) => {
    if (event.key === "Escape") return setPointed(undefined)
    const at = spans.findIndex((span) => span.id === id)
    const next = {
      ArrowRight: spans[at + 1],
      ArrowDown: spans[at + 1],
      ArrowLeft: spans[at - 1],
      ArrowUp: spans[at - 1],
      Home: spans[0],
      End: spans.at(-1)
    }[event.key]
    if (next === undefined) return
    event.preventDefault()
    for (const bar of field.current?.querySelectorAll<HTMLElement>("[data-span]") ?? []) {
      if (bar.dataset["span"] === next.id) bar.focus()
    }
  }
  return (
    <div className="tro-bars" ref={field} role="group" aria-label="Bars of the turn">
      <div className="tro-axis" aria-hidden>
        {marksOf(all).map((ms) => (
          <span key={ms} style={{ insetInlineStart: part(ms) }}>
            {mark(ms)}
          </span>
        ))}
      </div>
      {rows.map((row) => (
        <div key={row.id} className="tro-track">
          <span
            className="tro-track-name"
            title={nameOf(row)}
            style={row.above.length === 0 ? undefined : { paddingInlineStart: `${row.above.length * 10}px` }}
          >
            {row.label}
            {row.about === undefined ? null : <span className="tro-row-about"> {row.about}</span>}
          </span>
          <div className="tro-lane">
            {row.spans.map((span) => (
              <button
                key={span.id}
                type="button"
                className="tro-bar"
                data-kind={span.kind}
                data-span={span.id}
                data-open={span.to === undefined || undefined}
                data-bad={/fail|time|abandon|crash|cancel/.test(span.outcome ?? "") || undefined}
                style={{ insetInlineStart: part(span.from - from), inlineSize: part(lengthOf(span, now)) }}
                aria-label={`${nameOf(row)}: ${sayingOf(span, turn, now)}`}
                tabIndex={span.id === current ? 0 : -1}
                {...(span.id === pointed ? { "aria-describedby": tip } : {})}
                onFocus={() => {
                  setStop(span.id)
                  setPointed(span.id)
                }}
                onBlur={() => setPointed(undefined)}
                onMouseEnter={() => setPointed(span.id)}
                onMouseLeave={() => setPointed(undefined)}
                onKeyDown={(event) => keyPressed(event, span.id)}
              >
                {span.kind === "zombie" ? <span className="tro-age">{duration(lengthOf(span, now))}</span> : null}
              </button>
            ))}
            {row.spans.map((span) =>
              span.id === pointed ? (
                <span
                  key={span.id}
                  role="tooltip"
                  id={tip}
                  className="tro-tip"
                  data-late={(span.from - from) / all > 0.5 || undefined}
                  style={
                    (span.from - from) / all > 0.5
                      ? { insetInlineEnd: part(all - (span.to ?? now) + from) }
                      : { insetInlineStart: part(span.from - from) }
                  }
                >
                  <strong>{nameOf(row)}</strong> {sayingOf(span, turn, now)}
                </span>
              ) : undefined
            )}
          </div>
        </div>
      ))}
    </div>
  )
}

const SpanTable = ({ turn, now }: TurnProps) => (
  <ScrollTable label="Stretches of the turn" columns={["What", "Kind", "From", "Took", "Outcome"]}>
    {turn.rows.flatMap((row) =>
      row.spans.map((span) => (
        <tr key={span.id}>
          <th scope="row">{nameOf(row)}</th>
          <td>
            <span className="tro-swatch" data-kind={span.kind} aria-hidden /> {span.kind}
          </td>
          <td className="tro-number">{duration(span.from - turn.from)}</td>
          <td className="tro-number">{duration(lengthOf(span, now))}</td>
          <td>{span.to === undefined ? "goes on" : words(span.outcome ?? "–")}</td>
        </tr>
      ))
    )}
  </ScrollTable>
)
