import { GenServer } from "../../src/index.ts"
import type { Pid, Supervisor } from "../../src/index.ts"

/** What the workers of one test did, in order, and their newest processes. */
export class Crew {
  readonly trace: Array<unknown> = []
  readonly pids = new Map<string, Pid>()

  pid(id: string): Pid {
    const pid = this.pids.get(id)
    if (pid === undefined) throw new Error(`no ${id} was started`)
    return pid
  }

  /** Takes what was traced since the last time. */
  take(): ReadonlyArray<unknown> {
    return this.trace.splice(0)
  }

  /** The spec of a worker that traces its starts and ends; `starts` says how each start goes. */
  spec(
    id: string,
    rules: Partial<Supervisor.ChildSpec> = {},
    options: {
      readonly starts?: ReadonlyArray<() => GenServer.Answer<GenServer.InitResult<null>>>
      readonly terminate?: () => GenServer.Answer<unknown>
      readonly trapExit?: boolean
    } = {}
  ): Supervisor.ChildSpec {
    let starts = 0
    const definition = GenServer.make<void, null, unknown, unknown, { readonly stop: unknown }>({
      init: (_args, self) => {
        this.trace.push(["init", id])
        this.pids.set(id, self)
        const plan = options.starts?.[Math.min(starts++, options.starts.length - 1)]
        return plan === undefined ? GenServer.ok(null) : plan()
      },
      handleCast: (message, state) => GenServer.stopping(message.stop, state),
      terminate: (reason) => {
        this.trace.push(["terminate", id, reason])
        return options.terminate?.()
      }
    })
    return {
      id,
      start: (parent) =>
        GenServer.startLink(parent, definition, undefined, { label: id, trapExit: options.trapExit ?? true }),
      ...rules
    }
  }

  /** Ends a worker from inside. */
  stop(id: string, reason: unknown): void {
    GenServer.cast<{ readonly stop: unknown }>(this.pid(id), { stop: reason })
  }
}
