/** Statecharts, laid out and drawn. */
export { StateChart } from "./stateChart.tsx"
export type { StateChartProps } from "./stateChart.tsx"
