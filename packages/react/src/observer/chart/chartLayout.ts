/**
 * The positions of the states and edges of a chart. The layout engine, elk, is large: it is loaded when the first chart is
 * drawn, and each chart's layout is cached.
 */
import type { ELK, ElkExtendedEdge, ElkNode } from "elkjs/lib/elk-api.js"
import type { ChartGraph, GraphEdge, GraphState } from "./chartGraph.ts"

/** A rectangle, from its upper left corner. */
export interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** A drawn state; states that contain others come first. */
export interface DrawnState extends Box {
  readonly id: string
  readonly key: string
  readonly isFinal: boolean
  readonly isCompound: boolean
  readonly depth: number
}

/** A drawn edge: a path of SVG, and its label. */
export interface DrawnEdge {
  readonly id: string
  readonly from: string
  readonly to: string
  readonly path: string
  readonly label: (Box & { readonly lines: ReadonlyArray<string> }) | undefined
}

/** A drawn chart; `starts` are the dots that point at initial states. */
export interface Drawing {
  readonly width: number
  readonly height: number
  readonly states: ReadonlyArray<DrawnState>
  readonly starts: ReadonlyArray<Box>
  readonly edges: ReadonlyArray<DrawnEdge>
}

/** The estimated widths of letters, rounded up: on a server there are no letters to measure. */
const letters = { state: 7.4, label: 5.9 }
export const labelLine = 14

const startOf = (id: string): string => `${id}>start`

const options = {
  "elk.algorithm": "layered",
  "elk.direction": "DOWN",
  "elk.hierarchyHandling": "INCLUDE_CHILDREN",
  "elk.edgeRouting": "ORTHOGONAL",
  "elk.json.shapeCoords": "ROOT",
  "elk.json.edgeCoords": "ROOT",
  "elk.layered.spacing.nodeNodeBetweenLayers": "34",
  "elk.layered.spacing.edgeNodeBetweenLayers": "16",
  "elk.layered.spacing.edgeEdgeBetweenLayers": "12",
  "elk.spacing.nodeNode": "28",
  "elk.spacing.edgeNode": "16",
  "elk.spacing.edgeEdge": "12",
  "elk.spacing.edgeLabel": "4",
  "elk.padding": "[top=14,left=14,bottom=14,right=14]",
  "elk.layered.cycleBreaking.strategy": "DEPTH_FIRST"
}

const elkStart = (owner: string): ElkNode => ({ id: startOf(owner), width: 10, height: 10 })

const elkState = ({ id, key, initial, states }: GraphState): ElkNode => ({
  id,
  width: Math.max(64, key.length * letters.state + 28),
  height: 34,
  ...(states.length === 0
    ? {}
    : {
        layoutOptions: { ...options, "elk.padding": "[top=40,left=16,bottom=16,right=16]" },
        children: [...(initial === undefined ? [] : [elkStart(id)]), ...states.map(elkState)]
      })
})

const elkEdge = ({ from, to, labels }: GraphEdge): ElkExtendedEdge => ({
  id: `${from}>${to}`,
  sources: [from],
  targets: [to],
  ...(labels.length === 0
    ? {}
    : {
        labels: [
          {
            text: labels.join("\n"),
            width: Math.max(...labels.map((label) => label.length)) * letters.label + 6,
            height: labels.length * labelLine
          }
        ]
      })
})

const initialEdges = (owner: string, initial: string | undefined): ReadonlyArray<ElkExtendedEdge> =>
  initial === undefined ? [] : [{ id: `${startOf(owner)}>${initial}`, sources: [startOf(owner)], targets: [initial] }]

const startsBelow = (states: ReadonlyArray<GraphState>): ReadonlyArray<ElkExtendedEdge> =>
  states.flatMap((state) => [...initialEdges(state.id, state.initial), ...startsBelow(state.states)])

const elkGraph = (graph: ChartGraph): ElkNode => ({
  id: "",
  layoutOptions: options,
  children: [...(graph.initial === undefined ? [] : [elkStart("")]), ...graph.states.map(elkState)],
  edges: [...initialEdges("", graph.initial), ...startsBelow(graph.states), ...graph.edges.map(elkEdge)]
})

const boxOf = ({ x = 0, y = 0, width = 0, height = 0 }: Partial<Box>): Box => ({ x, y, width, height })

const round = (value: number): number => Math.round(value * 10) / 10

/** The path of an edge, with rounded corners. */
const pathOf = (points: ReadonlyArray<{ readonly x: number; readonly y: number }>, radius = 6): string =>
  points
    .map((point, index) => {
      const before = points[index - 1]
      const after = points[index + 1]
      if (before === undefined) return `M${round(point.x)} ${round(point.y)}`
      if (after === undefined) return `L${round(point.x)} ${round(point.y)}`
      const [into, out] = [towards(point, before, radius), towards(point, after, radius)]
      return `L${round(into.x)} ${round(into.y)}Q${round(point.x)} ${round(point.y)} ${round(out.x)} ${round(out.y)}`
    })
    .join("")

interface Point {
  readonly x: number
  readonly y: number
}

const towards = (from: Point, to: Point, length: number): Point => {
  const [dx, dy] = [to.x - from.x, to.y - from.y]
  const whole = Math.hypot(dx, dy)
  const part = whole === 0 ? 0 : Math.min(length, whole / 2) / whole
  return { x: from.x + dx * part, y: from.y + dy * part }
}

const drawnEdge = ({ id, sources, targets, sections, labels }: ElkExtendedEdge): DrawnEdge => {
  const label = labels?.[0]
  return {
    id,
    from: sources[0] ?? "",
    to: targets[0] ?? "",
    path: (sections ?? [])
      .map(({ startPoint, bendPoints = [], endPoint }) => pathOf([startPoint, ...bendPoints, endPoint]))
      .join(""),
    label: label === undefined ? undefined : { ...boxOf(label), lines: (label.text ?? "").split("\n") }
  }
}

const drawnStates = (
  states: ReadonlyArray<GraphState>,
  boxes: ReadonlyMap<string, Box>,
  depth = 0
): ReadonlyArray<DrawnState> =>
  states.flatMap(({ id, key, isFinal, states: inner }) => [
    { id, key, isFinal, isCompound: inner.length > 0, depth, ...boxOf(boxes.get(id) ?? {}) },
    ...drawnStates(inner, boxes, depth + 1)
  ])

const all = (node: ElkNode): ReadonlyArray<ElkNode> => [node, ...(node.children ?? []).flatMap(all)]

let engine: Promise<ELK> | undefined

/** Bundlers leave out a module that is not installed, if its import is in a `try`. */
const importEngine = async () => {
  try {
    return await import("elkjs/lib/elk.bundled.js")
  } catch (cause) {
    throw new Error("The charts of the observer need the layout engine; install it: npm install elkjs", { cause })
  }
}

const loadEngine = async (): Promise<ELK> => {
  const { default: loaded } = await importEngine()
  // A bundler returns the default export, Node the module itself.
  const Engine = "default" in loaded ? loaded.default : (loaded as { default: new () => ELK }).default
  return new Engine()
}

/** Computes the layout of a chart. */
export const layoutOf = async (graph: ChartGraph): Promise<Drawing> => {
  engine ??= loadEngine()
  const laid = await (await engine).layout(elkGraph(graph))
  const nodes = all(laid)
  const boxes = new Map(nodes.map((node) => [node.id, boxOf(node)]))
  return {
    width: laid.width ?? 0,
    height: laid.height ?? 0,
    states: drawnStates(graph.states, boxes),
    starts: nodes.filter(({ id }) => id.endsWith(">start")).map(boxOf),
    edges: nodes.flatMap(({ edges = [] }) => edges).map(drawnEdge)
  }
}
