/**
 * The children of a chart: callback actors, fibers, charts in its process, and charts in processes of their own.
 *
 * CPROC5. A child machine runs in a process of its own, linked to this one, unless it is registered to run inside. The
 *         end of that process is an event of the chart that started it: done, or error with its exit reason.
 */
import type { EventObject } from "xstate"
import { type Above, Child, ChartRun, type ProcessAbove } from "./chartRun.ts"
import {
  type ActorScope,
  Chart,
  type ChartTable,
  type RunningCallback,
  type StartCallback,
  strictArgs
} from "../chart/index.ts"
import { dataIn, type PersistedChart } from "./storedForm.ts"
import { Running } from "../../process/index.ts"
import { type Behaviour, type Cell, deliver, die, join, ofCause } from "../../kernel/index.ts"
import { type ExitReason, ProcessExit } from "../../core/index.ts"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** A callback actor, which is also the scope of its code. */
export class CallbackChild extends Child implements ActorScope {
  readonly #start: StartCallback
  #running: RunningCallback | undefined = undefined
  #send: ((event: EventObject) => void) | undefined = undefined

  constructor(run: ChartRun, id: string, src: string, input: unknown, start: StartCallback) {
    super(run, id, src, input)
    this.#start = start
  }

  get env(): unknown {
    return this.run.host.env
  }

  get host(): Cell {
    return this.run.host.cell
  }

  get send(): (event: EventObject) => void {
    return (this.#send ??= (event) => this.sendUp(event))
  }

  get turn(): (task: () => void) => void {
    return (task) =>
      this.run.host.turn(() => {
        if (!this.isStopped) task()
      })
  }

  begin(): void {
    const running = this.#start(this) ?? undefined
    this.#running = running
    // The chart may have stopped the actor while it started.
    if (this.isStopped) running?.close?.()
  }

  /** An error of its code is its end: an event of the chart that started it. */
  receive(event: EventObject): void {
    try {
      this.#running?.receive?.(event)
    } catch (error) {
      const running = this.#running
      this.#running = undefined
      this.failed(error)
      this.run.guarded(() => running?.close?.())
    }
  }

  protected close(): void {
    this.#running?.close?.()
  }
}

/** The code of an effect that is made for its input. */
export type MakeEffect = (args: never) => unknown

export class FiberChild extends Child {
  readonly #make: MakeEffect
  #running: Running<unknown, unknown> | undefined = undefined

  constructor(run: ChartRun, id: string, src: string, input: unknown, make: MakeEffect) {
    super(run, id, src, input)
    this.#make = make
  }

  begin(): void {
    const { input, run } = this
    const { cell } = run.host
    const args = run.chart.table.strict ? strictArgs({ input, host: cell }) : { input, host: cell }
    const effect = Effect.suspend(() => this.#make(args as never) as Effect.Effect<unknown, unknown>)
    this.#running = new Running(cell.kernel, cell, effect, (exit) => {
      if (Exit.isSuccess(exit)) this.done(exit.value)
      else this.failed(ofCause(exit.cause).reason)
    })
    if (this.isStopped) this.#running.close()
  }

  receive(): void {}

  protected close(): void {
    this.#running?.close()
  }
}

/** A chart in the process of its parent. */
export class InsideChild extends Child implements Above {
  readonly #table: ChartTable
  #inner: ChartRun | undefined = undefined

  constructor(run: ChartRun, id: string, src: string, input: unknown, table: ChartTable) {
    super(run, id, src, input)
    this.#table = table
  }

  override get chart(): ChartRun | undefined {
    return this.#inner
  }

  begin(from: PersistedChart | undefined): void {
    const { run, id, input } = this
    const table = this.#table
    const chart = from === undefined ? Chart.make(table) : Chart.restore(table, dataIn(from))
    this.#inner = new ChartRun(run.host, chart, id, run, this)
    run.host.enter(this.#inner, input, from)
  }

  receive(event: EventObject): void {
    if (this.#inner !== undefined) this.run.host.send(this.#inner, event)
  }

  sent(event: EventObject): void {
    this.sendUp(event)
  }

  /** Reports the end of its chart. */
  ended(): void {
    const { status, output, error } = this.#inner?.chart ?? {}
    if (status === "done") this.done(output)
    else if (status === "error") this.failed(error)
  }

  protected close(): void {
    this.#inner?.close()
    this.#inner?.finish()
  }
}

const waiting: Behaviour = { kind: "machine" }

/** A chart in a process of its own. */
export class ProcessChild extends Child implements ProcessAbove {
  readonly #table: ChartTable
  readonly #label: string
  #cell: Cell | undefined = undefined
  #inner: ChartRun | undefined = undefined

  constructor(run: ChartRun, id: string, src: string, input: unknown, table: ChartTable, label: string) {
    super(run, id, src, input)
    this.#table = table
    this.#label = label
  }

  override get chart(): ChartRun | undefined {
    return this.#inner
  }

  begin(from: PersistedChart | undefined): void {
    const { input, run } = this
    const { cell: parent } = run.host
    const cell = parent.kernel.make(waiting, parent, this.#label)
    this.#cell = cell
    join(parent, cell)
    run.host.open(cell, this.#table, { input, snapshot: from }, this)
  }

  opened(run: ChartRun): void {
    this.#inner = run
  }

  receive(event: EventObject): void {
    if (this.#cell?.dead === false) deliver(this.#cell, event)
  }

  sent(event: EventObject): void {
    this.sendUp(event)
  }

  /** Reports the end of its process (CPROC5). */
  ended(reason: ExitReason): void {
    const { status, output, error } = this.#inner?.chart ?? {}
    if (status === "done") this.done(output)
    else if (status === "error") this.failed(error)
    else if (reason === "normal") this.done(undefined)
    else if (this.#cell !== undefined) this.failed(new ProcessExit({ pid: this.#cell, reason }))
  }

  protected close(): void {
    if (this.#cell !== undefined) die(this.#cell, "shutdown", "signal")
  }
}
