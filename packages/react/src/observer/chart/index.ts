/** Statecharts, laid out and drawn, and the small chart of a turn. */
export { StateChart } from "./stateChart.tsx"
export type { StateChartProps } from "./stateChart.tsx"
export { activeText } from "./chartGraph.ts"
export { TurnChart } from "./turnChart.tsx"
