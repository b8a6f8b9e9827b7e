/** XState machines as tables: their transitions without an interpreter, and the actions and actors that the host performs. */
export { Chart } from "./chart.ts"
export type { ChartData, ChartEffect, ChildStart, LiveChild } from "./chart.ts"
export { assign, raise, sendParent, sendTo, sendToChild, spawnChild, stopChild } from "./chartActions.ts"
export { strictArgs, ChartTable } from "./chartTable.ts"
export {
  bindMachine,
  checkStored,
  EnvironmentPerSystem,
  hostedActorOf,
  makeCallback,
  makeEffect,
  registerActor,
  registerChild,
  setEnvironment,
  setHost,
  shownOfMachine
} from "./hostedActors.ts"
export type { ActorScope, HostedActor, RunningCallback, StartCallback } from "./hostedActors.ts"
export { cancel, eventTimeout, insert, postpone, reply, stateTimeout, timeout } from "./queueActions.ts"
export type { Action, Args, Params, Resolvable } from "./queueActions.ts"
export { addQueue } from "./queuedMachine.ts"
