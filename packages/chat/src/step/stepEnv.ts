/** The environment of steps: the live things of the step that runs, and of its request and its batch. */
import { type BatchEnv, batchEnv } from "../batch/index.ts"
import type { RequestEnv } from "../request/index.ts"
import type { StepData, StepStart } from "./stepEvents.ts"
import { StepRun } from "./stepRun.ts"
import type { StepLive } from "./stepState.ts"

/** The environment of a step's chart. */
export interface StepEnv extends RequestEnv, BatchEnv {
  /** Begins a step. */
  readonly beginStep: (start: StepStart) => StepRun
  /** The running step; after a restore it is made from the step's data. */
  readonly stepOf: (data: StepData) => StepRun
}

/** Makes the environment of steps that run one after another. */
export const stepEnv = (live: () => StepLive): StepEnv => {
  let running: StepRun | undefined
  const step = (): StepRun => {
    if (running === undefined) throw new Error("a phase of a step runs without a step")
    return running
  }
  const batches = batchEnv(() => step().batch)
  return Object.assign(batches, {
    beginStep: (start: StepStart) => (running = new StepRun(live(), start)),
    stepOf: (data: StepData) => (running ??= new StepRun(live(), data)),
    request: () => step().request
  })
}
