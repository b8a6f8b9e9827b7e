/** The environment of steps: the live things of the step that runs, and of its request and its batch. */
import { type BatchEnv, BatchLife } from "../batch/index.ts"
import type { RequestEnv } from "../request/index.ts"
import type { StepData, StepStart } from "./stepEvents.ts"
import { StepRun } from "./stepRun.ts"
import type { StepLive } from "./stepState.ts"

/** The environment of a step's chart. */
export interface StepEnv extends RequestEnv, BatchEnv {
  readonly beginStep: (start: StepStart) => StepRun
  /** The running step; after a restore it is made from the step's data. */
  readonly stepOf: (data: StepData) => StepRun
}

class StepLife extends BatchLife implements StepEnv {
  readonly #live: () => StepLive
  #step: StepRun | undefined

  constructor(live: () => StepLive) {
    super(() => this.#running.batch)
    this.#live = live
  }

  beginStep(start: StepStart): StepRun {
    const live = this.#live()
    this.#step = new StepRun(live, start)
    if (start.open === undefined) live.options.family?.sends()
    return this.#step
  }

  stepOf(data: StepData): StepRun {
    this.#step ??= new StepRun(this.#live(), data)
    return this.#step
  }

  readonly request = () => this.#running.request

  get #running(): StepRun {
    if (this.#step === undefined) throw new Error("a phase of a step runs without a step")
    return this.#step
  }
}

/** Makes the environment of steps that run one after another. */
export const stepEnv = (live: () => StepLive): StepEnv => new StepLife(live)
