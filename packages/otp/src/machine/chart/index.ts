/** XState machines as tables: their transitions without an interpreter, and the actions and actors that the host performs. */
export { assign, raise, sendParent, sendTo, sendToChild, spawnChild, stopChild } from "./chartActions.ts"
export { Chart } from "./chart.ts"
export type { ChartData, ChartEffect } from "./chart.ts"
export type { ChildStart, LiveChild } from "./chartChildren.ts"
export { strictArgs } from "./chartCode.ts"
export { addQueue } from "./queuedMachine.ts"
export { cancel, eventTimeout, insert, postpone, reply, stateTimeout, timeout } from "./queueActions.ts"
export type { Action, Args, Params, Resolvable } from "./queueActions.ts"
export { ChartTable } from "./chartTable.ts"
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
