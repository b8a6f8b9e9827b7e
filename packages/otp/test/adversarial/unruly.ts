import { GenServer } from "../../src/index.ts"
import type { ExitReason, Pid, Supervisor } from "../../src/index.ts"
import type { Storm } from "./storm.ts"

/** How a child misbehaves. `init` is given how often the child was started, from 1 on. */
export interface Manners {
  readonly init?: (start: number) => GenServer.Answer<unknown>
  readonly terminate?: () => GenServer.Answer<unknown>
  readonly trapExit?: boolean
}

/** The children of one test by id, and what they did. */
export class Unruly {
  readonly #storm: Storm
  readonly starts = new Map<string, number>()
  readonly #pids = new Map<string, Pid>()
  /** Who ran `terminate`, in order. */
  readonly ended: Array<string> = []

  constructor(storm: Storm) {
    this.#storm = storm
  }

  /** The newest process of a child. */
  pid(id: string): Pid {
    const pid = this.#pids.get(id)
    if (pid === undefined) throw new Error(`${id} was never started`)
    return pid
  }

  spec(id: string, manners: Manners = {}, rules: Partial<Supervisor.ChildSpec> = {}): Supervisor.ChildSpec {
    const definition = GenServer.make<void, null, never, never, { readonly end: ExitReason.ExitReason }>({
      init: async (_args, self) => {
        const start = (this.starts.get(id) ?? 0) + 1
        this.starts.set(id, start)
        this.#pids.set(id, this.#storm.watch(self))
        await manners.init?.(start)
        return GenServer.ok(null)
      },
      handleCast: (message, state) => GenServer.stopping(message.end, state),
      terminate: () => {
        this.ended.push(id)
        return manners.terminate?.()
      }
    })
    const { trapExit = true } = manners
    return {
      id,
      start: (parent) => GenServer.startLink(parent, definition, undefined, { label: id, trapExit }),
      ...rules
    }
  }

  /** Makes a child end by itself. */
  end(id: string, reason: ExitReason.ExitReason = "boom"): void {
    GenServer.cast<{ readonly end: unknown }>(this.pid(id), { end: reason })
  }
}
