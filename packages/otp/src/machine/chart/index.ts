/** XState machines as tables: their transitions without an interpreter, and the actions and actors that the host performs. */
export { assign, cancel, raise, sendParent, sendTo, sendToChild, spawnChild, stopChild } from "./chartActions.ts"
export { Chart } from "./chart.ts"
export type { ChartData, ChartEffect } from "./chart.ts"
export { strictArgs } from "./chartCode.ts"
export { ChartTable } from "./chartTable.ts"
export {
  bindMachine,
  childOptionsOf,
  EnvironmentPerSystem,
  hostedActorOf,
  makeCallback,
  makeEffect,
  registerActor,
  registerChild,
  setEnvironment,
  setHost
} from "./hostedActors.ts"
export { allEntries, type Entries, type Entry, entryOf, withEntry, withoutEntry } from "./entries.ts"
export type { ActorScope, RunningCallback, StartCallback } from "./hostedActors.ts"
