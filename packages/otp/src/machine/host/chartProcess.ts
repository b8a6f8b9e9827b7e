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
import type { AnyStateMachine, EventObject } from "xstate"
import { type ExitReason, isDown, isExit, isStop } from "../../core/index.ts"
import { type Behaviour, type Cell, deliver, die, MailboxTask } from "../../kernel/index.ts"
import { Chart, type ChartData, type ChartEffect, ChartTable, childOptionsOf, hostedActorOf } from "../chart/index.ts"
import { ChartRun, type Child, type ChartStart, type ProcessAbove, type RunHost } from "./chartRun.ts"
import { CallbackChild, FiberChild, InsideChild, ProcessChild } from "./chartChild.ts"
import { childrenIn, dataIn, type PersistedChart, timersIn } from "./storedForm.ts"
import { facadeOf, snapshotOf } from "./chartSnapshot.ts"

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
  readonly #above: ProcessAbove | undefined
  /** The events that were sent in the present turn, oldest first. */
  #first: Mail | undefined = undefined
  #last: Mail | undefined = undefined
  #isHandling = false

  constructor(cell: Cell, table: ChartTable, start: ChartStart, parent: Cell | undefined, above?: ProcessAbove) {
    const { snapshot, env } = start
    this.cell = cell
    this.env = env
    this.parent = parent
    this.notifies = above === undefined ? undefined : parent
    this.#above = above
    const chart = snapshot === undefined ? Chart.make(table) : Chart.restore(table, dataIn(snapshot))
    this.root = new ChartRun(this, chart, "", undefined, above)
  }

  /** Enters the initial state, or the stored one. */
  start({ input, snapshot }: ChartStart): void {
    this.#isHandling = true
    this.enter(this.root, input, snapshot)
    this.#drain()
  }

  handle(cell: Cell, message: unknown): void {
    if (message instanceof Mail) {
      if (isTaken(message)) this.take(message.run, message.event)
      return
    }
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
    const { value, context } = this.root.chart
    return { value, context }
  }

  replace(snapshot: unknown): boolean {
    const { value, context } = snapshot as ChartData
    const { root } = this
    root.chart.replace(value, context)
    root.changed()
    this.#notify(root)
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

  take(run: ChartRun, event: EventObject): void {
    this.#isHandling = true
    this.#step(run, event)
    this.#drain()
  }

  turn(task: () => void): void {
    const { cell } = this
    if (cell.dead) return
    const inTurn = (): void => {
      this.#isHandling = true
      try {
        task()
      } finally {
        this.#drain()
      }
    }
    deliver(cell, new MailboxTask(inTurn))
  }

  enter(run: ChartRun, input: unknown, from: PersistedChart | undefined): void {
    const effects = lists.pop() ?? []
    try {
      if (from === undefined) run.chart.begin(input, effects)
      else this.#resume(run, from)
      this.#perform(run, effects)
    } catch (error) {
      run.chart.fail(error)
    }
    effects.length = 0
    lists.push(effects)
    this.#settle(run)
  }

  open(cell: Cell, table: ChartTable, start: ChartStart, above: ProcessAbove): void {
    const { cell: parent } = this
    parent.kernel.as(cell, () => hostChart(cell, table, { ...start, env: this.env }, parent, above))
  }

  /** Handles the events that were sent in this turn, and ends the process if its chart has ended. */
  #drain(): void {
    const { cell, root } = this
    for (let mail = this.#first; mail !== undefined; mail = this.#first) {
      this.#first = mail.next
      if (mail.next === undefined) this.#last = undefined
      if (isTaken(mail)) this.#step(mail.run, mail.event)
    }
    this.#isHandling = false
    const { status, error } = root.chart
    if (status === "active" || cell.dead) return
    if (status === "done") die(cell, "normal", "own")
    else if (status === "stopped") die(cell, "shutdown", "own")
    // The error of a child is an event of its parent, and no crash.
    else die(cell, error, this.#above === undefined ? "own" : "signal")
  }

  #step(run: ChartRun, event: EventObject): void {
    if (run.isOver || this.cell.dead) return
    const { chart } = run
    const effects = lists.pop() ?? []
    let changed = true
    try {
      changed = chart.send(event, effects)
      if (changed) run.changed()
      if (effects.length > 0) this.#perform(run, effects)
    } catch (error) {
      chart.fail(error)
    }
    effects.length = 0
    lists.push(effects)
    if (changed) this.#notify(run)
    if (chart.status !== "active") this.#settle(run)
  }

  #notify(run: ChartRun): void {
    run.showState()
    if (run.isObserved && run.chart.status !== "error") run.notify(snapshotOf(run))
  }

  /** Ends a chart that is done or failed. The observers of the root are called once the process is dead. */
  #settle(run: ChartRun): void {
    if (run.chart.status === "active" || run.isOver) return
    run.close()
    if (run.above instanceof InsideChild) {
      run.above.ended()
      run.finish()
    }
  }

  #perform(run: ChartRun, effects: ReadonlyArray<ChartEffect>): void {
    for (let at = 0; at < effects.length; at++) {
      if (run.isOver || this.cell.dead) return
      this.#performOne(run, effects[at] as ChartEffect)
    }
  }

  #performOne(run: ChartRun, effect: ChartEffect): void {
    switch (effect.kind) {
      case "effect":
        return effect.run(effect.params, run.scope)
      case "act":
        return effect.run({ ...effect.args, self: facadeOf(run), system: undefined }, effect.params)
      case "start":
        return run.add(this.#child(run, effect.id, effect.src, effect.input))
      case "stop":
        return run.stopChild(effect.id)
      case "send":
        return run.child(effect.to)?.receive(effect.event)
      case "sendParent":
        return run.above?.sent(effect.event)
      case "schedule":
        return run.schedule(effect.id, effect.event, effect.ms)
      case "cancel":
        return run.cancel(effect.id)
    }
  }

  #child(run: ChartRun, id: string, src: string, input: unknown): Child {
    const logic = run.chart.table.logic(src)
    const actor = logic === undefined ? undefined : hostedActorOf(logic)
    if (actor?.kind === "callback") return new CallbackChild(run, id, src, input, actor.start)
    if (actor?.kind === "effect") return new FiberChild(run, id, src, input, actor.make)
    if (logic === undefined) throw new TypeError(`The machine ${run.chart.table.machine.id} has no actor ${src}`)
    const machine = logic as AnyStateMachine
    const table = ChartTable.of(machine, run.chart.table.strict)
    if (!(table instanceof ChartTable)) throw new TypeError(`The machine ${machine.id} cannot be hosted`)
    const options = childOptionsOf(machine)
    if (options?.inside === true) return new InsideChild(run, id, src, input, table)
    const label = options?.label === undefined ? labelOf(id, src) : options.label(input as never)
    return new ProcessChild(run, id, src, input, table, label)
  }

  /** Starts the children of a restored chart again, and its timers with the time that is left. */
  #resume(run: ChartRun, from: PersistedChart): void {
    const { chart } = run
    if (chart.status !== "active") return
    const now = this.cell.kernel.clock.now()
    for (const { id, event, at } of timersIn(from, chart, now)) run.schedule(id, event, Math.max(0, at - now))
    for (const { id, src, snapshot, isHandled } of childrenIn(from)) {
      chart.adopt(id, src)
      const child = this.#child(run, id, src, snapshot.input)
      if (snapshot.status === "active") run.add(child, snapshot)
      else run.keep(child, snapshot, isHandled)
    }
  }
}

/** Whether an event is handled: not from a child that was stopped. */
const isTaken = ({ from, event }: Mail): boolean => {
  if (from === undefined) return true
  if (from.isStopped) return false
  from.handled(event)
  return true
}

/** Runs a chart in a process. The process ends here if the chart is done or fails at once. */
export const hostChart = (
  cell: Cell,
  table: ChartTable,
  start: ChartStart,
  parent: Cell | undefined,
  above?: ProcessAbove
): void => {
  const hosted = new ChartProcess(cell, table, start, parent, above)
  cell.behaviour = hosted
  cell.begun = true
  above?.opened(hosted.root)
  hosted.start(start)
}

/** The id of a child; if XState generated it, the name of its source. */
const labelOf = (id: string, src: string): string => (/^\d+\./.test(id) ? src : id)
