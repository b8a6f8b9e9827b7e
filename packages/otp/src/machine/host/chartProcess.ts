/**
 * A process that runs a chart, and the charts that run inside it.
 *
 * Owns: the order of events, and the performance of effects. Does not own what a chart decides, or what its effects start.
 *
 * CPROC1. A chart handles one event at a time. An event that is sent during a turn of its process is handled in that turn,
 *         after the events before it; from anywhere else it goes through the mailbox.
 * CPROC2. Effects are performed in order, after the transition that decided them. A dead process performs none.
 * CPROC3. However the process ends, each child is stopped exactly once, and each timer is cancelled.
 * CPROC4. A child that was stopped sends nothing: its later events, those that wait, and its end are discarded.
 * CPROC6. A chart that is done ends its process `normal`. A chart that failed, or whose code threw, ends it with the error;
 *         inside another chart it is an error event of that chart.
 */
import type { EventObject } from "xstate"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { type ExitReason, isDown, isExit, isStop } from "../../core/index.ts"
import { type Behaviour, type Cell, deliver, die, join, MailboxTask, ofCause, SmallSet } from "../../kernel/index.ts"
import {
  type Chart,
  type ChartData,
  type ChartEffect,
  ChartTable,
  type ChildStart,
  type HostedActor,
  type RunningCallback,
  shownOfMachine,
  strictArgs
} from "../chart/index.ts"
import { Child, ChartRun, type RunHost } from "./chartRun.ts"
import { chartOf, childrenIn, type PersistedChart, timersIn } from "./storedForm.ts"
import { facadeOf, snapshotOf } from "./chartSnapshot.ts"
import { Running } from "../../process/index.ts"

/** How a chart is started. */
export interface ChartStart {
  readonly input?: unknown
  readonly snapshot?: PersistedChart | undefined
  readonly env?: unknown
}

/** An event on its way to one chart of a process, through its mailbox or its queue. */
class Mail {
  readonly run: ChartRun
  readonly event: EventObject
  readonly from: Child | undefined
  next: Mail | undefined = undefined

  constructor(run: ChartRun, event: EventObject, from: Child | undefined) {
    this.run = run
    this.event = event
    this.from = from
  }
}

const isEvent = (message: unknown): message is EventObject =>
  typeof message === "object" && message !== null && "type" in message && typeof message.type === "string"

const eventOf = (message: unknown): unknown => (message instanceof Mail ? message.event : message)

const stateOf = ({ value, context }: ChartData): object => ({ value, context })

/** Lists of effects that no step uses at present. */
const lists: Array<Array<ChartEffect>> = []

export class ChartProcess implements Behaviour, RunHost {
  readonly kind = "machine"
  readonly cell: Cell
  readonly env: unknown
  readonly root: ChartRun
  readonly parent: Cell | undefined
  readonly notifies: Cell | undefined
  /** The child of another process that this one is. */
  readonly #above: Child | undefined
  /** The events that were sent in the present turn, oldest first. */
  #first: Mail | undefined = undefined
  #last: Mail | undefined = undefined
  #isHandling = false

  constructor(cell: Cell, chart: Chart, { env }: ChartStart, parent: Cell | undefined, above?: Child) {
    this.cell = cell
    this.env = env
    this.parent = parent
    this.notifies = above === undefined ? undefined : parent
    this.#above = above
    this.root = new ChartRun(this, chart, "", undefined, above)
    if (above !== undefined) above.chart = this.root
  }

  /** Enters the initial state, or the stored one. */
  start({ input, snapshot }: ChartStart): void {
    this.#isHandling = true
    this.#enter(this.root, input, snapshot)
    this.#drain()
  }

  handle(cell: Cell, message: unknown): void {
    if (message instanceof Mail) return this.take(message.run, message.event, message.from)
    if (isStop(message)) return die(cell, message.reason, "own")
    if (isExit(message)) {
      const { from, reason } = message
      if (from === (this.parent ?? cell) || from === cell.kernel.root) return die(cell, reason, "signal")
      return this.take(this.root, Object.assign({ type: "process.exit" }, { from, reason }))
    }
    if (isDown(message)) {
      const { ref, pid, reason } = message
      return this.take(this.root, Object.assign({ type: "process.down" }, { ref, pid, reason }))
    }
    if (isEvent(message)) this.take(this.root, message)
    else cell.kernel.undelivered("unexpected", cell, message)
  }

  inspect(): unknown {
    return snapshotOf(this.root)
  }

  outline(): unknown {
    return stateOf(this.root.chart)
  }

  shown(message: unknown): ReturnType<NonNullable<Behaviour["shown"]>> {
    return shownOfMachine(this.root.chart.table.machine, this.root.chart, eventOf(message))
  }

  replace(snapshot: unknown): boolean {
    const { value, context } = snapshot as ChartData
    const { root } = this
    root.chart.replace(value, context)
    root.snapshot = undefined
    this.#show(root)
    return true
  }

  ended(_cell: Cell, reason: ExitReason): void {
    this.#first = undefined
    this.#last = undefined
    this.root.close()
    this.#above?.ended(reason)
    this.root.finish()
  }

  /** Sends an event to one of the charts (CPROC1). */
  send(run: ChartRun, event: EventObject, from?: Child): void {
    if (run.isOver) return
    if (this.#isHandling) {
      const mail = new Mail(run, event, from)
      if (this.#last === undefined) this.#first = mail
      else this.#last.next = mail
      this.#last = mail
    } else if (!this.cell.dead) {
      deliver(this.cell, from === undefined && run.parent === undefined ? event : new Mail(run, event, from))
    }
  }

  take(run: ChartRun, event: EventObject, from?: Child): void {
    this.#isHandling = true
    this.#step(run, event, from)
    this.#drain()
  }

  turn(task: () => void): void {
    if (this.cell.dead) return
    const inTurn = (): void => {
      this.#isHandling = true
      try {
        task()
      } finally {
        this.#drain()
      }
    }
    deliver(this.cell, new MailboxTask(inTurn))
  }

  #enter(run: ChartRun, input: unknown, from: PersistedChart | undefined): void {
    const effects = lists.pop() ?? []
    try {
      if (from === undefined) run.chart.begin(input, effects)
      else this.#resume(run, from)
      this.#perform(run, effects)
    } catch (error) {
      run.chart.fail(error)
      stopChildren(effects)
    }
    effects.length = 0
    lists.push(effects)
    this.#settle(run)
  }

  /** Handles the events that were sent in this turn, and ends the process if its chart has ended. */
  #drain(): void {
    const { cell, root } = this
    for (let mail = this.#first; mail !== undefined; mail = this.#first) {
      this.#first = mail.next
      if (mail.next === undefined) this.#last = undefined
      this.#step(mail.run, mail.event, mail.from)
    }
    this.#isHandling = false
    const { status, error } = root.chart
    if (status === "active" || cell.dead) return
    if (status === "done") die(cell, "normal", "own")
    else if (status === "stopped") die(cell, "shutdown", "own")
    // The error of a child is an event of its parent, and no crash.
    else die(cell, error, this.#above === undefined ? "own" : "signal")
  }

  #step(run: ChartRun, event: EventObject, from: Child | undefined): void {
    if (run.isOver || this.cell.dead || from?.isStopped === true) return
    if (from?.end?.report === event) from.end.report = undefined
    const { chart } = run
    const effects = lists.pop() ?? []
    let changed = true
    try {
      changed = chart.send(event, effects)
      if (changed) run.snapshot = undefined
      if (effects.length > 0) this.#perform(run, effects)
    } catch (error) {
      run.snapshot = undefined
      chart.fail(error)
      stopChildren(effects)
    }
    effects.length = 0
    lists.push(effects)
    if (changed && run.readers !== undefined) this.#show(run)
    if (chart.status !== "active") this.#settle(run)
  }

  /** Shows the state to the readers of a chart (CRUN2). */
  #show(run: ChartRun, reader = run.readers): void {
    if (reader instanceof SmallSet) {
      for (const one of reader.all) this.#show(run, one)
      return
    }
    const { chart } = run
    try {
      if (typeof reader === "function") reader(chart)
      else if (chart.status !== "error") reader?.next?.(snapshotOf(run))
    } catch (error) {
      this.cell.kernel.report(this.cell, error)
    }
  }

  /** Ends a chart that is done or failed. The observers of the root are called once the process is dead. */
  #settle(run: ChartRun): void {
    if (run.chart.status === "active" || run.isOver) return
    run.close()
    if (run.parent !== undefined) {
      run.above?.ended()
      run.finish()
    }
  }

  #perform(run: ChartRun, effects: ReadonlyArray<ChartEffect>): void {
    for (let at = 0; at < effects.length; at++) {
      if (run.isOver || this.cell.dead) return stopChildren(effects)
      const effect = effects[at] as ChartEffect
      switch (effect.kind) {
        case "effect":
          effect.run(effect.params, run)
          break
        case "act":
          effect.run({ ...effect.args, self: facadeOf(run), system: undefined }, effect.params)
          break
        case "start":
          run.snapshot = undefined
          this.#start(new Child(run, effect), effect.actor)
          break
        case "stop":
        case "replace":
          run.snapshot = undefined
          effect.child.live?.stop()
          break
        case "send":
          effect.child.live?.receive(effect.event)
          break
        case "sendParent":
          run.above?.report(effect.event)
          break
        case "schedule":
          run.schedule(effect.id, effect.event, effect.ms)
          break
        case "cancel":
          run.cancel(effect.id)
      }
    }
  }

  /** Starts a child, or starts it again from its stored form. An error of its start is its end. */
  #start(child: Child, actor: HostedActor, from?: PersistedChart): void {
    try {
      const running = actor.kind === "callback" ? actor.start(child) : this.#run(child, actor, from)
      child.running = running ?? undefined
      // The chart may have stopped the actor while it started.
      if (child.isStopped) child.running?.close?.()
    } catch (error) {
      child.failed(error)
    }
  }

  /** Runs the fiber or the chart of a child. */
  #run(
    child: Child,
    actor: Exclude<HostedActor, { readonly kind: "callback" }>,
    from: PersistedChart | undefined
  ): RunningCallback | undefined {
    const { run, id, src, input } = child
    const { cell } = this
    const { strict } = run.chart.table
    if (actor.kind === "effect") {
      const args = strict ? strictArgs({ input, host: cell }) : { input, host: cell }
      const effect = Effect.suspend(() => actor.make(args as never) as Effect.Effect<unknown, unknown>)
      return new Running(cell.kernel, cell, effect, (exit) => {
        if (Exit.isSuccess(exit)) child.done(exit.value)
        else child.failed(ofCause(exit.cause).reason)
      })
    }
    const { machine, options } = actor
    const table = ChartTable.of(machine, strict)
    if (!(table instanceof ChartTable)) throw new TypeError(`The machine ${machine.id} cannot be hosted`)
    const chart = chartOf(table, from)
    if (options.inside === true) {
      child.chart = new ChartRun(this, chart, id, run, child)
      this.#enter(child.chart, input, from)
      return undefined
    }
    const label = options.label === undefined ? labelOf(id, src) : options.label(input as never)
    const own = cell.kernel.make(starting, cell, label)
    join(cell, own)
    cell.kernel.as(own, () => hostChart(own, chart, { input, snapshot: from, env: this.env }, cell, child))
    return undefined
  }

  /** Starts the children of a restored chart again, and its timers with the time that is left. */
  #resume(run: ChartRun, from: PersistedChart): void {
    const { chart } = run
    if (chart.status !== "active") return
    const now = this.cell.kernel.clock.now()
    for (const { id, event, at } of timersIn(from, chart, now)) run.schedule(id, event, Math.max(0, at - now))
    for (const { id, src, snapshot, isHandled } of childrenIn(from)) {
      const actor = chart.table.actor(src)
      const start: ChildStart = { kind: "start", id, src, actor, input: snapshot.input, live: undefined }
      chart.adopt(start)
      const child = new Child(run, start)
      if (snapshot.status === "active") this.#start(child, actor, snapshot)
      else child.endAgain(snapshot, isHandled)
    }
  }
}

/** Stops the children that the effects of a chart stop, when it ends before they are performed (CPROC3). */
const stopChildren = (effects: ReadonlyArray<ChartEffect>): void => {
  for (const effect of effects) if (effect.kind === "stop" || effect.kind === "replace") effect.child.live?.stop()
}

const starting: Behaviour = { kind: "machine" }

/** Runs a chart in a process. The process ends here if the chart is done or fails at once. */
export const hostChart = (
  cell: Cell,
  chart: Chart,
  start: ChartStart,
  parent: Cell | undefined,
  above?: Child
): void => {
  const hosted = new ChartProcess(cell, chart, start, parent, above)
  cell.behaviour = hosted
  cell.begun = true
  hosted.start(start)
}

/** The id of a child; if XState generated it, the name of its source. */
const labelOf = (id: string, src: string): string => (/^\d+\./.test(id) ? src : id)
