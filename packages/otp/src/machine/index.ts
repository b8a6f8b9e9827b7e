/** XState machines and actors hosted as processes. */
export { actorChart } from "./shownState.ts"
export type { Chart } from "./shownState.ts"
