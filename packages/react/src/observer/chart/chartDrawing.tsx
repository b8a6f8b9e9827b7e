/** Draws a chart as SVG, in the colours of the page. */
import { useId } from "react"
import { type DrawnEdge, type DrawnState, type Drawing, labelLine } from "./chartLayout.ts"

interface ChartDrawingProps {
  readonly drawing: Drawing
  readonly active: ReadonlySet<string>
  /** The states of the path so far. */
  readonly visited: ReadonlySet<string>
}

/** The states and edges. The `active` states and the edges out of them are highlighted. */
export const ChartDrawing = ({ drawing, active, visited }: ChartDrawingProps) => {
  const arrow = useId()
  const leaves = (edge: DrawnEdge): boolean => active.has(edge.from)
  const edges = drawing.edges.toSorted((one, other) => Number(leaves(one)) - Number(leaves(other)))
  return (
    <>
      <defs>
        {["rest", "live"].map((kind) => (
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
            <path className="tro-arrow" data-kind={kind} d="M0 0.5 8 4 0 7.5Z" />
          </marker>
        ))}
      </defs>
      {drawing.states
        .filter(({ isCompound }) => isCompound)
        .map((state) => (
          <State key={state.id} state={state} isActive={active.has(state.id)} isVisited={visited.has(state.id)} />
        ))}
      {drawing.starts.map(({ x, y, width, height }, index) => (
        <circle key={index} className="tro-start" cx={x + width / 2} cy={y + height / 2} r={width / 2} />
      ))}
      {edges.map((edge) => (
        <path
          key={edge.id}
          className="tro-edge"
          data-live={leaves(edge) || undefined}
          d={edge.path}
          markerEnd={`url(#${arrow}${leaves(edge) ? "live" : "rest"})`}
        />
      ))}
      {edges.map((edge) => (
        <EdgeLabel key={edge.id} edge={edge} isLive={leaves(edge)} />
      ))}
      {drawing.states
        .filter(({ isCompound }) => !isCompound)
        .map((state) => (
          <State key={state.id} state={state} isActive={active.has(state.id)} isVisited={visited.has(state.id)} />
        ))}
    </>
  )
}

interface StateProps {
  readonly state: DrawnState
  readonly isActive: boolean
  readonly isVisited: boolean
}

const State = ({ state, isActive, isVisited }: StateProps) => {
  const { x, y, width, height, key, isFinal, isCompound } = state
  return (
    <g
      className="tro-state"
      data-active={isActive || undefined}
      data-visited={isVisited || undefined}
      data-compound={isCompound || undefined}
    >
      <rect x={x} y={y} width={width} height={height} rx={isCompound ? 12 : 8} />
      {isFinal && <rect className="tro-inner" x={x + 3} y={y + 3} width={width - 6} height={height - 6} rx={5} />}
      {isCompound ? (
        <text x={x + 14} y={y + 24}>
          {key}
        </text>
      ) : (
        <text x={x + width / 2} y={y + height / 2 + 4.5} textAnchor="middle">
          {key}
        </text>
      )}
    </g>
  )
}

const EdgeLabel = ({ edge, isLive }: { readonly edge: DrawnEdge; readonly isLive: boolean }) => {
  const { label } = edge
  if (label === undefined) return undefined
  return (
    <g className="tro-edge-label" data-live={isLive || undefined}>
      <rect x={label.x} y={label.y} width={label.width} height={label.height} rx={3} />
      {label.lines.map((line, index) => (
        <text key={line} x={label.x + 3} y={label.y + 10.5 + index * labelLine}>
          {line}
        </text>
      ))}
    </g>
  )
}
