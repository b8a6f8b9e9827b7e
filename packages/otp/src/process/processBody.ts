/**
 * A process that is one function: it runs once, receives its messages itself, and ends when the function does.
 *
 * SCRIPT1. The function starts in the first turn, never inside the spawn.
 * SCRIPT2. Its end ends the process: with the failure as reason, else `normal`. A result is passed on just before.
 */
import type { Pid } from "../core/index.ts"
import { type Behaviour, type Cell, die, type Failure } from "../kernel/index.ts"
import { perform, type Settle } from "./runCallback.ts"

export class Script implements Behaviour, Settle {
  readonly kind: "process" | "task"
  /** The process that started it, when it is a task. */
  caller: Cell | undefined
  #body: ((self: Pid<unknown>) => unknown) | undefined
  #result: ((value: unknown) => void) | undefined

  constructor(
    kind: "process" | "task",
    body: (self: Pid<unknown>) => unknown,
    result?: (value: unknown) => void,
    caller?: Cell
  ) {
    this.kind = kind
    this.caller = caller
    this.#body = body
    this.#result = result
  }

  begin(cell: Cell): void {
    const body = this.#body
    this.#body = undefined
    perform(cell, () => body?.(cell), this)
  }

  /** A chain of tasks, each of which starts the next, keeps no dead process. */
  ended(): void {
    this.caller = undefined
  }

  settle(cell: Cell, value: unknown, failure: Failure | undefined): void {
    if (failure !== undefined) return die(cell, failure.reason, "own")
    if (cell.dead) return
    this.#result?.(value)
    die(cell, "normal", "own")
  }
}
