import { Process } from "../../src/index.ts"
import type { Pid, System } from "../../src/index.ts"

/** Runs a function as a process and hands its result over, or the failure that ended it. */
export const inProcess = <A>(system: System.System, body: (self: Pid<unknown>) => Promise<A>): Promise<A> =>
  new Promise((resolve, reject) => {
    Process.spawn(system, (self) => body(self).then(resolve, reject), { label: "main" })
  })

/** A process that does nothing until it is ended. */
export const sleeper = (system: System.System, label = "sleeper"): Pid<unknown> =>
  Process.spawn(system, () => new Promise(() => {}), { label })

/** Takes all mail that is there now. */
export const flush = async (self: Pid<unknown>): Promise<ReadonlyArray<unknown>> => {
  const taken: Array<unknown> = []
  for (;;) {
    const message = await Process.receive(self, { timeout: 0 })
    if (message === undefined) return taken
    taken.push(message)
  }
}
