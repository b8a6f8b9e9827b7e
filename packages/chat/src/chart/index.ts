/** The declared type of the published statecharts. */
export { chart } from "./chart.ts"
