/** A statechart with its active states. */
import { type PointerEvent, useEffect, useMemo, useRef, useState } from "react"
import type { AnyStateMachine } from "xstate"
import { activeOf, activeText, graphOf } from "./chartGraph.ts"
import { ChartDrawing } from "./chartDrawing.tsx"
import { type Box, type Drawing, layoutOf } from "./chartLayout.ts"
import { keyed, panned, viewAround, wholeOf, zoomed } from "./chartView.ts"
import { Surface, useSize } from "../parts/index.ts"

/** The props of {@link StateChart}. */
export interface StateChartProps {
  /**
   * A machine, or the id of one: `chat`, `step`, `resumedStep`, `adapterStream`, `toolCall`, or a key of `machines`.
   */
  readonly machine: AnyStateMachine | string
  /** The current state value. */
  readonly value: unknown
  /** Your own machines, by their ids. */
  readonly machines?: Readonly<Record<string, AnyStateMachine>> | undefined
}

/**
 * A machine's chart, drawn from its definition, with its active states marked.
 *
 * **Details**: the view follows the active states when the whole drawing would be too small to read. Dragging, the arrow
 * keys, `+` and `-` move it, `0` shows all. elkjs computes the layout, and is loaded with the first chart. The active
 * states are also listed as text.
 */
export const StateChart = ({ machine, value, machines }: StateChartProps) => {
  const id = typeof machine === "string" ? machine : machine.id
  const drawing = useDrawing(typeof machine === "string" ? (machines?.[machine] ?? machine) : machine)
  const active = useMemo(() => activeOf(value), [JSON.stringify(value)])
  return (
    <Surface className="tro-chart">
      <p className="tro-active" role="status">
        <span>{id}</span> {activeText(value)}
      </p>
      {drawing === "unknown" ? (
        <p className="tro-empty">No machine {id} is known here: give it in `machines`.</p>
      ) : drawing === "failed" ? (
        <p className="tro-empty" role="alert">
          The chart could not be laid out. Charts need the package elkjs.
        </p>
      ) : drawing === undefined ? (
        <p className="tro-empty">Drawing…</p>
      ) : (
        <Canvas key={id} id={id} drawing={drawing} active={active} />
      )}
    </Surface>
  )
}

type Drawn = Drawing | "unknown" | "failed" | undefined

const drawings = new WeakMap<AnyStateMachine, Promise<Drawing>>()

const drawingOf = async (machine: AnyStateMachine | string): Promise<Drawn> => {
  const found = typeof machine === "string" ? (await import("./chatMachines.ts")).chatMachines.get(machine) : machine
  if (found === undefined) return "unknown"
  const kept = drawings.get(found) ?? layoutOf(graphOf(found))
  drawings.set(found, kept)
  return await kept
}

const useDrawing = (machine: AnyStateMachine | string): Drawn => {
  const [drawn, setDrawn] = useState<{ readonly of: unknown; readonly drawing: Drawn }>()
  useEffect(() => {
    let isOver = false
    const put = (drawing: Drawn) => (isOver ? undefined : setDrawn({ of: machine, drawing }))
    drawingOf(machine).then(put, () => put("failed"))
    return () => {
      isOver = true
    }
  }, [machine])
  return drawn?.of === machine ? drawn.drawing : undefined
}

/** How many states of the path are marked. */
const longestPath = 12

/** The states that were active before, the newest last. */
const useVisited = (active: ReadonlyArray<string>): ReadonlySet<string> => {
  const [path, setPath] = useState({ active, visited: new Set(active) })
  if (path.active === active) return path.visited
  const visited = new Set(
    [...[...path.visited].filter((state) => !active.includes(state)), ...active].slice(-longestPath)
  )
  setPath({ active, visited })
  return visited
}

interface CanvasProps {
  readonly id: string
  readonly drawing: Drawing
  readonly active: ReadonlyArray<string>
}

const Canvas = ({ id, drawing, active }: CanvasProps) => {
  const frame = useRef<HTMLDivElement>(null)
  const size = useSize(frame) ?? { width: 480, height: 360 }
  /** The view that the reader chose; until then the view follows the active states. */
  const [moved, setMoved] = useState<Box>()
  const dragged = useRef<{ readonly x: number; readonly y: number; readonly view: Box }>(undefined)
  const lit = useMemo(() => new Set(active), [active])
  const visited = useVisited(active)
  const whole = wholeOf(drawing)
  const leaf = drawing.states.filter(({ id: state }) => state === active.at(-1))
  const view = moved ?? viewAround(leaf, whole, size)
  const isWhole = view.width === whole.width && view.x === 0 && view.y === 0

  const drag = (event: PointerEvent) => {
    const start = dragged.current
    if (start === undefined) return
    const scale = Math.max(start.view.width / size.width, start.view.height / size.height)
    const right = ((start.x - event.clientX) * scale) / start.view.width
    const down = ((start.y - event.clientY) * scale) / start.view.height
    setMoved(panned(start.view, right, down, whole))
  }

  return (
    <>
      <div
        ref={frame}
        className="tro-canvas"
        tabIndex={0}
        role="group"
        aria-label={`Chart of ${id}. Arrow keys move it, plus and minus zoom, 0 shows all of it.`}
        onKeyDown={(event) => {
          const next = event.ctrlKey || event.metaKey ? undefined : keyed(event.key, view, whole)
          if (next === undefined) return
          event.preventDefault()
          setMoved(next)
        }}
        onPointerDown={(event) => {
          dragged.current = { x: event.clientX, y: event.clientY, view }
          event.currentTarget.setPointerCapture?.(event.pointerId)
        }}
        onPointerMove={drag}
        onPointerUp={() => (dragged.current = undefined)}
        onPointerCancel={() => (dragged.current = undefined)}
      >
        <svg
          viewBox={`${view.x} ${view.y} ${view.width} ${view.height}`}
          role="img"
          aria-label={`${id}: ${active.length === 0 ? "no state is active" : `active are ${active.join(", ")}`}`}
        >
          <ChartDrawing drawing={drawing} active={lit} visited={visited} />
        </svg>
      </div>
      <div className="tro-toolbar" data-over>
        <button
          type="button"
          className="tro-button"
          aria-label="Zoom in"
          onClick={() => setMoved(zoomed(view, 0.8, whole))}
        >
          +
        </button>
        <button
          type="button"
          className="tro-button"
          aria-label="Zoom out"
          onClick={() => setMoved(zoomed(view, 1.25, whole))}
        >
          −
        </button>
        <button type="button" className="tro-button" aria-pressed={isWhole} onClick={() => setMoved(whole)}>
          All
        </button>
        <button
          type="button"
          className="tro-button"
          aria-pressed={moved === undefined}
          onClick={() => setMoved(undefined)}
        >
          Follow
        </button>
      </div>
    </>
  )
}
