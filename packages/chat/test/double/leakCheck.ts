/**
 * Says after each test whether anything was left behind: a process, a fiber, a timer, an open request, a listener on a
 * signal, a rejection nobody handled.
 */
import { Clock, Process, System } from "@troupe/otp"
import host from "node:process"
import { afterEach, beforeAll, beforeEach, expect } from "vitest"
import * as Fake from "../../src/adapter/Fake.ts"
import { defaultSystem } from "../../src/async/defaultSystem.ts"
import { Troupe, type RunningTroupe } from "../../src/troupe/Troupe.ts"
import { heldBy } from "./processes.ts"
import { jsonSchema } from "../../src/tool/jsonSchema.ts"
import { spiedSignal, type SpiedSignal } from "./spiedSignal.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

/** Makes what a test uses, so that the check includes it. */
export interface LeakCheck {
  readonly fake: (options: Parameters<typeof Fake.make>[0]) => Fake.Fake
  readonly signal: () => SpiedSignal
  /** A system whose clock stands still; it must be empty when the test ends. */
  readonly system: (options?: System.Options) => { readonly system: System.System; readonly clock: Clock.TestClock }
  /** A Troupe in such a system; it is stopped with it after the test. */
  readonly troupe: (
    options: TroupeOptions
  ) => Promise<{ readonly troupe: RunningTroupe; readonly system: System.System; readonly clock: Clock.TestClock }>
}

const empty = { processes: 0, fibers: 0, timers: 0, closing: 0 }

const isEmpty = (system: System.System): boolean => Object.values(heldBy(system)).every((count) => count === 0)

/** Checks after each test of the file. */
export const leakCheck = (): LeakCheck => {
  let fakes: Array<Fake.Fake> = []
  let signals: Array<SpiedSignal> = []
  let systems: Array<{ readonly system: System.System; readonly clock: Clock.TestClock }> = []
  let troupes: Array<RunningTroupe> = []
  let rejections: Array<unknown> = []
  const rejected = (reason: unknown) => void rejections.push(reason)

  // The first check of a JSON Schema loads the validator, which takes real time.
  beforeAll(async () => void (await jsonSchema({ type: "object" })["~standard"].validate({})))

  beforeEach(() => {
    fakes = []
    signals = []
    systems = []
    troupes = []
    rejections = []
    host.on("unhandledRejection", rejected)
  })

  afterEach(async () => {
    for (const troupe of troupes) await troupe.stop()
    const all = [defaultSystem(), ...systems.map(({ system }) => system)]
    const quiet = () => all.every(isEmpty) && fakes.every((fake) => fake.open === 0)
    for (let turn = 0; turn < 500 && !quiet(); turn++) await new Promise((resolve) => void setImmediate(resolve))
    host.off("unhandledRejection", rejected)
    try {
      judge(all)
    } finally {
      for (const pid of Array.from(System.processes(defaultSystem()))) Process.kill(pid)
      for (const { system } of systems) await System.stop(system)
    }
  })

  const judge = (all: ReadonlyArray<System.System>) => {
    expect(all.map(heldBy)).toEqual(all.map(() => empty))
    expect(systems.map(({ clock }) => clock.pending)).toEqual(systems.map(() => 0))
    expect(fakes.map((fake) => fake.open)).toEqual(fakes.map(() => 0))
    expect(signals.map((signal) => signal.listeners)).toEqual(signals.map(() => 0))
    expect(rejections).toEqual([])
  }

  const system = (options: System.Options = {}) => {
    const clock = Clock.test()
    const made = { system: System.make({ name: "test", clock, ...options }), clock }
    systems.push(made)
    return made
  }
  return {
    fake: (options) => {
      const made = Fake.make(options)
      fakes.push(made)
      return made
    },
    signal: () => {
      const made = spiedSignal()
      signals.push(made)
      return made
    },
    system,
    troupe: async ({ onCrash, logger, silent, ...own }) => {
      const made = system({ onCrash, logger, silent })
      const troupe = await Troupe.start({ ...own, system: made.system })
      troupes.push(troupe)
      return { troupe, ...made }
    }
  }
}
