/**
 * A stream of tasks, one for each input, pulled by its owner.
 *
 * Owns the iterator of the inputs, the running tasks and the waiting results, of one iteration. It works only inside calls of its
 * iterator: between them nothing is pulled, started or returned, and only running tasks continue.
 *
 * ASTREAM1. The first input is pulled when the first result is requested. Later ones are pulled only while no result can
 *          be returned: a slow consumer delays the inputs (backpressure).
 * ASTREAM2. At most `maxConcurrency` tasks run at once. A result that waits for an earlier one does not count.
 * ASTREAM3. Each task ends once for the stream: with its value, its exit or its timeout.
 * ASTREAM4. However the stream ends, all its running tasks are unlinked and killed. It ends with its owner: then nothing is
 *          pulled or started, `return` of the inputs is called, and a requested result never arrives, like a message in a
 *          dead process.
 * ASTREAM5. The stream puts no messages into the owner's mailbox: no values and, if the owner traps exits, no exits.
 */
import { CallExit, type ExitReason, milliseconds, type Pid, type Timeout } from "../core/index.ts"
import { unlink } from "../process/index.ts"
import { Channel } from "../channel/index.ts"
import { afterTurn } from "../time/index.ts"
import { Absorbed, type Cell, type Resource, signal, startTimer } from "../kernel/index.ts"
import { checkCount, checkWord } from "../supervisor/index.ts"
import type { Work } from "./taskStart.ts"

/** The result of one task of a stream: `ok` with its value, or `exit` with its exit reason, and with `zipInputOnExit` its `input`. */
export type StreamResult<I, A, Zip extends boolean = false> =
  | { readonly ok: A }
  | (Zip extends true ? { readonly exit: ExitReason; readonly input: I } : { readonly exit: ExitReason })

/** How a stream runs its tasks. */
export interface StreamPlan<I> {
  readonly owner: Cell
  readonly maxConcurrency: number
  readonly ordered: boolean
  readonly ms: number
  readonly onTimeout: "exit" | "killTask"
  readonly zip: boolean
  readonly linked: boolean
  /** Starts the task of one input: calls `made` before the process runs, and `finished` before the process ends. */
  readonly start: (input: I, made: (cell: Cell) => void, finished: (value: unknown) => void) => void | Promise<void>
}

const timeoutRuleOf = (onTimeout: "exit" | "killTask"): "exit" | "killTask" => {
  checkWord("onTimeout", onTimeout, ["exit", "killTask"])
  return onTimeout
}

const concurrencyOf = (maxConcurrency: number): number => {
  checkCount("maxConcurrency", maxConcurrency, true)
  return maxConcurrency
}

/** The rules of a stream, with defaults. */
export const streamRules = (owner: Cell, options: StreamOptions | undefined) => ({
  owner,
  maxConcurrency: concurrencyOf(options?.maxConcurrency ?? 8),
  ordered: options?.ordered ?? true,
  ms: milliseconds(options?.timeout ?? 5000),
  onTimeout: timeoutRuleOf(options?.onTimeout ?? "exit"),
  zip: options?.zipInputOnExit ?? false
})

/** One task: its position among the inputs, and its outcome so far. */
class Slot<I> {
  readonly position: number
  readonly input: I
  cell: Cell | undefined = undefined
  value: { readonly ok: unknown } | undefined = undefined
  timedOut = false
  reason: ExitReason = undefined

  constructor(position: number, input: I) {
    this.position = position
    this.input = input
  }
}

/** The promise for a wait in a dead process. */
const never = (): Promise<never> => new Promise(() => {})

const iteratorOf = <I>(inputs: Iterable<I> | AsyncIterable<I>): Iterator<I> | AsyncIterator<I> =>
  Symbol.asyncIterator in inputs ? inputs[Symbol.asyncIterator]() : inputs[Symbol.iterator]()

class TaskStream<I, A, Zip extends boolean> implements Resource {
  readonly #plan: StreamPlan<I>
  readonly #inputs: Iterator<I> | AsyncIterator<I>
  readonly #running = new Set<Slot<I>>()
  /** Tasks that have ended and are not processed yet. */
  readonly #ended = new Channel<Slot<I>>()
  /** Processed tasks by position, in the order of their end. */
  readonly #ready = new Map<number, Slot<I>>()
  #free: number
  #pulled = 0
  #delivered = 0
  #exhausted = false

  constructor(inputs: Iterable<I> | AsyncIterable<I>, plan: StreamPlan<I>) {
    this.#plan = plan
    this.#inputs = iteratorOf(inputs)
    this.#free = plan.maxConcurrency
    plan.owner.own(this)
  }

  /** Runs the tasks until a result can be returned; `undefined` when all have been. */
  async next(): Promise<StreamResult<I, A, Zip> | undefined> {
    for (;;) {
      if (this.#plan.owner.dead) return never()
      const slot = this.#takeReady()
      if (slot !== undefined) return this.#resultOf(slot)
      if (this.#free > 0 && !this.#exhausted) await this.#pull()
      else if (this.#delivered === this.#pulled) return undefined
      else this.#lookAt(await this.#ended.next())
    }
  }

  /** Ends the running tasks and the inputs. */
  async end(): Promise<void> {
    this.#plan.owner.disown(this)
    if (this.#endTasks()) await this.#inputs.return?.()
  }

  /** Ends the running tasks when the owner ends. Pulling an input may be the cause of that end. */
  close(): void {
    if (this.#endTasks()) afterTurn(() => void this.#returnInputs())
  }

  /** Returns whether there may be more inputs. */
  #endTasks(): boolean {
    for (const slot of this.#running) this.#kill(slot)
    this.#running.clear()
    const more = !this.#exhausted
    this.#exhausted = true
    return more
  }

  async #returnInputs(): Promise<void> {
    try {
      await this.#inputs.return?.()
    } catch (error) {
      this.#plan.owner.kernel.report(this.#plan.owner, error)
    }
  }

  #takeReady(): Slot<I> | undefined {
    const position = this.#plan.ordered ? this.#delivered : this.#ready.keys().next().value
    const slot = position === undefined ? undefined : this.#ready.get(position)
    if (slot === undefined) return undefined
    this.#ready.delete(slot.position)
    this.#delivered++
    return slot
  }

  #resultOf(slot: Slot<I>): StreamResult<I, A, Zip> {
    if (slot.value !== undefined) return slot.value as { readonly ok: A }
    const exit = slot.timedOut ? "timeout" : slot.reason
    return (this.#plan.zip ? { exit, input: slot.input } : { exit }) as StreamResult<I, A, Zip>
  }

  async #pull(): Promise<void> {
    const pulled = await this.#inputs.next()
    if (this.#plan.owner.dead) return
    if (pulled.done === true) {
      this.#exhausted = true
      return
    }
    const slot = new Slot(this.#pulled++, pulled.value)
    this.#free--
    const watch = (cell: Cell): void => this.#watch(slot, cell)
    const started = this.#plan.start(slot.input, watch, (value) => (slot.value = { ok: value }))
    try {
      if (started instanceof Promise) await started
    } catch (reason) {
      throw reason instanceof CallExit ? new CallExit({ reason, in: "Task.asyncStream" }) : reason
    }
  }

  #watch(slot: Slot<I>, cell: Cell): void {
    const { owner, linked, ms } = this.#plan
    slot.cell = cell
    if (owner.dead) this.#kill(slot)
    if (cell.dead) return this.#down(slot, cell.reason)
    if (linked && owner.trap) {
      owner.absorbs ??= new Absorbed()
      owner.absorbs.known.add(cell)
    }
    this.#running.add(slot)
    cell.watch({ down: (_cell, reason) => this.#down(slot, reason) })
    startTimer(cell.kernel, cell, ms, () => {
      slot.timedOut = true
      this.#kill(slot)
    })
  }

  #down(slot: Slot<I>, reason: ExitReason): void {
    slot.reason = reason
    this.#running.delete(slot)
    this.#ended.push(slot)
  }

  #kill({ cell }: Slot<I>): void {
    if (cell === undefined) return
    if (this.#plan.linked) unlink(this.#plan.owner, cell)
    signal(this.#plan.owner, cell, "kill", "direct")
  }

  #lookAt({ value: slot }: IteratorResult<Slot<I>, undefined>): void {
    if (slot === undefined) return
    if (slot.timedOut && slot.value === undefined && this.#plan.onTimeout === "exit") {
      throw new CallExit({ reason: "timeout", in: "Task.asyncStream" })
    }
    this.#free++
    this.#ready.set(slot.position, slot)
  }
}

/** The stream. Each iteration takes the inputs anew and starts its own tasks; it closes at any end. */
export const streamTasks = <I, A, Zip extends boolean>(
  inputs: Iterable<I> | AsyncIterable<I>,
  plan: StreamPlan<I>
): AsyncIterable<StreamResult<I, A, Zip>, void, undefined> => ({
  [Symbol.asyncIterator]: () => iterate<I, A, Zip>(inputs, plan)
})

async function* iterate<I, A, Zip extends boolean>(
  inputs: Iterable<I> | AsyncIterable<I>,
  plan: StreamPlan<I>
): AsyncGenerator<StreamResult<I, A, Zip>, void, undefined> {
  if (plan.owner.dead) return await never()
  const stream = new TaskStream<I, A, Zip>(inputs, plan)
  try {
    for (let result = await stream.next(); result !== undefined; result = await stream.next()) yield result
  } finally {
    await stream.end()
  }
}

/** The options of a task. */
export interface Options {
  /** The displayed name of the task. */
  readonly label?: string
}

/** The work of the task of one input. */
export type StreamWork<I, A> = (input: I, self: Pid<unknown>) => ReturnType<Work<A>>

/** The options of a stream of tasks. */
export interface StreamOptions<Zip extends boolean = boolean> extends Options {
  /** How many tasks run at once. Default: 8. */
  readonly maxConcurrency?: number
  /** Whether the results have the order of the inputs, else the order of completion. Default: true. */
  readonly ordered?: boolean
  /** How long a task may run, from its start. Default: 5 seconds. */
  readonly timeout?: Timeout
  /**
   * What happens when a task times out; it is killed in either case. `"exit"`: the stream fails with `CallExit`, reason
   * `timeout`, and its other tasks are killed too. `"killTask"`: the result of that task is `{ exit: "timeout" }`, and the stream
   * continues. Default: `"exit"`.
   */
  readonly onTimeout?: "exit" | "killTask"
  /** Whether an exit has its input, as `{ exit, input }`. Default: false. */
  readonly zipInputOnExit?: Zip
}
