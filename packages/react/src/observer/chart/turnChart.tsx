/** The states of a turn for people, and the path that the turn has taken. */
import type { ChatLink } from "@troupe/server/ChatLink"
import { useId, useState } from "react"
import { useSnapshot } from "../../hooks/index.ts"
import { pathAfter, turnState, type TurnState, wayKey, ways } from "./turnStates.ts"

const boxes: ReadonlyArray<{
  readonly state: TurnState
  readonly text: string
  readonly x: number
  readonly y: number
}> = [
  { state: "ready", text: "Ready", x: 6, y: 26 },
  { state: "asking", text: "Asking", x: 128, y: 26 },
  { state: "answering", text: "Answering", x: 250, y: 26 },
  { state: "finishing", text: "Finishing", x: 494, y: 26 },
  { state: "interrupted", text: "Interrupted", x: 128, y: 104 },
  { state: "tools", text: "Tools run", x: 250, y: 104 },
  { state: "waiting", text: "Waiting", x: 372, y: 104 }
]

const textOf = (state: TurnState): string => boxes.find((box) => box.state === state)?.text ?? state

/** The chart of a chat's turn: seven states, the present one marked, and the path so far. */
export const TurnChart = ({ chat }: { readonly chat: ChatLink }) => {
  const arrow = useId()
  const now = useSnapshot(chat, ({ view }) => turnState(view.phase))
  const [kept, setKept] = useState<{ readonly chat: ChatLink; readonly path: ReadonlyArray<TurnState> }>({
    chat,
    path: []
  })
  const path = pathAfter(kept.chat === chat ? kept.path : [], now)
  if (kept.chat !== chat || kept.path !== path) setKept({ chat, path })
  const walked = new Set(path.map((state, index) => wayKey(path[index - 1] ?? state, state)))
  const visits = Map.groupBy(path, (state) => state)
  const edges = ways.toSorted(
    (one, other) => Number(walked.has(wayKey(one.from, one.to))) - Number(walked.has(wayKey(other.from, other.to)))
  )
  return (
    <svg
      className="tro-turn-chart"
      viewBox="0 0 590 144"
      role="img"
      aria-label={`The turn: ${textOf(now)}. Its path: ${path.slice(-12).map(textOf).join(", ")}`}
    >
      <defs>
        {["rest", "walked"].map((kind) => (
          <marker
            key={kind}
            id={`${arrow}${kind}`}
            viewBox="0 0 8 8"
            refX="7"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto-start-reverse"
          >
            <path className="tro-arrow" data-kind={kind === "walked" ? "live" : "rest"} d="M0 0.5 8 4 0 7.5Z" />
          </marker>
        ))}
      </defs>
      {edges.map(({ from, to, path: d }) => {
        const isWalked = walked.has(wayKey(from, to))
        return (
          <path
            key={wayKey(from, to)}
            className="tro-edge"
            data-live={isWalked || undefined}
            d={d}
            markerEnd={`url(#${arrow}${isWalked ? "walked" : "rest"})`}
          />
        )
      })}
      {boxes.map(({ state, text, x, y }) => {
        const count = visits.get(state)?.length ?? 0
        return (
          <g
            key={state}
            className="tro-state"
            data-active={state === now || undefined}
            data-visited={count > 0 || undefined}
            data-tone={state === "waiting" || state === "interrupted" ? "warn" : undefined}
          >
            <rect x={x} y={y} width={90} height={32} rx={8} />
            <text x={x + 45} y={y + 20.5} textAnchor="middle">
              {text}
            </text>
            {count > 1 ? (
              <text className="tro-times" x={x + 86} y={y - 4} textAnchor="end">
                {count}×
              </text>
            ) : null}
          </g>
        )
      })}
    </svg>
  )
}
