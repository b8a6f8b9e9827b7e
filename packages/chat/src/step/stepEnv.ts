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
  readonly step: () => StepRun
}

/** Makes the environment of steps that run one after another. `restored` is the data of a stored step that goes on. */
export const stepEnv = (live: () => StepLive, restored?: StepData): StepEnv => {
  let running: StepRun | undefined
  const step = (): StepRun => {
    if (running === undefined && restored !== undefined) running = new StepRun(live(), restored)
    if (running === undefined) throw new Error("a phase of a step runs without a step")
    return running
  }
  const batches = batchEnv(() => step().batch)
  return Object.assign(batches, {
    beginStep: (start: StepStart) => (running = new StepRun(live(), start)),
    step,
    request: () => step().request
  })
}
