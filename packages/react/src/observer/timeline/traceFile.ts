/** The timeline of a chat as a file of Chrome's trace events, which Perfetto and the browser's tools open. */
import type { Observation } from "@troupe/chat/observe"

interface TraceEvent {
  readonly name: string
  readonly cat: string
  /** `X` is a complete event, `B` one that has not ended. */
  readonly ph: "X" | "B"
  readonly ts: number
  readonly dur?: number
  readonly pid: number
  readonly tid: number
  readonly args: Readonly<Record<string, string>>
}

/** The text of the file. Times are microseconds; each row of the timeline is a thread. */
export const traceOf = ({ chat, spans }: Observation.Timeline): string => {
  const rows = new Map<string, number>()
  const rowOf = ({ id, kind }: Observation.Span): number => {
    const end = id.lastIndexOf(`.${kind}`)
    const row = end === -1 ? id : id.slice(0, end)
    const found = rows.get(row) ?? rows.size + 1
    rows.set(row, found)
    return found
  }
  const traceEvents = spans.map((span): TraceEvent => {
    const { label, about, kind, from, to, outcome } = span
    return {
      name: about === undefined ? label : `${label} ${about}`,
      cat: kind,
      ph: to === undefined ? "B" : "X",
      ts: Math.round(from * 1_000),
      ...(to !== undefined && { dur: Math.round((to - from) * 1_000) }),
      pid: 1,
      tid: rowOf(span),
      args: { chat, ...(outcome !== undefined && { outcome }) }
    }
  })
  return JSON.stringify({ displayTimeUnit: "ms", traceEvents })
}

/** Has the browser store a file. */
export const download = (name: string, text: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }))
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}
