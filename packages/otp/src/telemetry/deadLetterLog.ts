/**
 * The messages of each system that no process took.
 *
 * DLOG1. Every message is counted. The log holds the last `kept` messages, oldest first.
 */
import type { Name, Pid, System } from "../core/index.ts"
import type { Cell, Kernel } from "../kernel/index.ts"
import { shownContent } from "./messageSummary.ts"

const kept = 100

/** A message that no process took, as it is reported. */
export interface UndeliveredMessage {
  readonly target: Pid | Name
  readonly message: unknown
  readonly from: Cell | undefined
}

/** An entry of the log; `at` is milliseconds on the system's clock. */
interface Entry extends UndeliveredMessage {
  readonly kind: "dead" | "unexpected"
  readonly at: number
}

/** The log of one system. */
export class DeadLetterLog {
  readonly #entries: Array<Entry> = []
  #next = 0
  dead = 0
  unexpected = 0

  /** Adds an entry; returns how many of its kind there were. */
  add(entry: Entry): number {
    this.#entries[this.#next] = entry
    this.#next = (this.#next + 1) % kept
    return entry.kind === "dead" ? ++this.dead : ++this.unexpected
  }

  get entries(): ReadonlyArray<Entry> {
    return [...this.#entries.slice(this.#next), ...this.#entries.slice(0, this.#next)]
  }
}

const logs = new WeakMap<System, DeadLetterLog>()

/** The log of a system; `undefined` before its first entry. */
export const deadLetterLogOf = (system: System): DeadLetterLog | undefined => logs.get(system)

/** Records a message in the log of its system; returns the report and the count of its kind. */
export const recordUndelivered = (
  kernel: System & Pick<Kernel, "current">,
  kind: "dead" | "unexpected",
  target: Pid | Name,
  message: unknown
): { readonly undelivered: UndeliveredMessage; readonly count: number } => {
  const undelivered = { target, message: shownContent(target, message), from: kernel.current }
  let log = logs.get(kernel)
  if (log === undefined) {
    log = new DeadLetterLog()
    logs.set(kernel, log)
  }
  return { undelivered, count: log.add({ kind, at: kernel.clock.now(), ...undelivered }) }
}
