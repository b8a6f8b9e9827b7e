/**
 * A process that runs a chart, and the charts that run inside it.
 *
 * Owns: the order of events, and the performance of effects. Does not own what a chart decides.
 *
 * CPROC1. A chart handles one event at a time. An event that is sent during a turn of its process is handled in that turn,
 *         after the events before it; from anywhere else it goes through the mailbox.
 * CPROC2. Effects are performed in order, after the transition that decided them.
 * CPROC3. However the process ends, each child is stopped exactly once, and each timer is cancelled.
 * CPROC4. A child that was stopped sends nothing: its later events and its end are discarded.
 * CPROC5. A child machine runs in a process of its own, linked to this one, unless it is registered to run inside. The
 *         end of that process is an event of the chart that started it: done, or error with its exit reason.
 * CPROC6. A chart that is done ends its process `normal`; a chart that failed, or threw, ends it with the error.
 */
import type { AnyActorLogic, AnyStateMachine, EventObject, Observer } from "xstate"
import { type ExitReason, isDown, isExit, isStop, ProcessExit } from "../../core/index.ts"
import { type Behaviour, type Cell, deliver, die, join, MailboxTask, ofCause, Timer } from "../../kernel/index.ts"
import { Running } from "../../process/index.ts"
import {
  Chart,
  type ChartData,
  type ChartEffect,
  ChartTable,
  childOptionsOf,
  hostedActorOf,
  type StartCallback
} from "../chart/index.ts"
import { ChartRun, type Child } from "./chartRun.ts"
import { childrenIn, dataIn, type PersistedChart, timersIn } from "./persistedChart.ts"
import { facadeOf, snapshotOf } from "./chartSnapshot.ts"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"

/** An event on its way to one chart of a process. */
class ChartMail {
  readonly run: ChartRun
  readonly event: EventObject
  constructor(run: ChartRun, event: EventObject) {
    this.run = run
    this.event = event
  }
}

/** How a chart is started. */
export interface ChartStart {
  readonly input?: unknown
  readonly snapshot?: PersistedChart | undefined
  readonly env?: unknown
}

const isEvent = (message: unknown): message is EventObject =>
  typeof message === "object" && message !== null && "type" in message && typeof message.type === "string"

const beginEvent: EventObject = { type: "troupe.begin" }

export class ChartProcess implements Behaviour {
  readonly kind = "machine"
  readonly parent: Cell | undefined
  readonly notifies: Cell | undefined
  readonly root: ChartRun
  readonly cell: Cell
  readonly #env: unknown
  /** Called with the end of the process, by the process that started it as a child. */
  readonly #ended: ((reason: ExitReason) => void) | undefined
  readonly #sendParent: ((event: EventObject) => void) | undefined
  readonly #effects: Array<ChartEffect> = []
  #queue: Array<ChartMail> = []
  #isHandling = false
  #observers: Set<Observer<unknown>> | undefined

  constructor(
    cell: Cell,
    table: ChartTable,
    start: ChartStart,
    parent: Cell | undefined,
    above?: {
      readonly ended: (reason: ExitReason) => void
      readonly send: (event: EventObject) => void
    }
  ) {
    this.cell = cell
    this.parent = parent
    this.notifies = above === undefined ? undefined : parent
    this.#ended = above?.ended
    this.#sendParent = above?.send
    this.#env = start.env
    const { snapshot } = start
    const chart =
      snapshot === undefined ? Chart.start(table, start.input, this.#effects) : Chart.restore(table, dataIn(snapshot))
    this.root = new ChartRun(chart, "", undefined)
    if (snapshot !== undefined) this.#resume(this.root, snapshot)
  }

  /** Performs the effects of the start. */
  start(): void {
    this.#take(this.root, beginEvent)
  }

  handle(cell: Cell, message: unknown): void {
    if (message instanceof ChartMail) return this.#take(message.run, message.event)
    if (isStop(message)) return die(cell, message.reason, "own")
    if (isExit(message)) {
      if (message.from === (this.parent ?? cell) || message.from === cell.kernel.root) {
        return die(cell, message.reason, "signal")
      }
      return this.#take(
        this.root,
        Object.assign({ type: "process.exit" }, { from: message.from, reason: message.reason })
      )
    }
    if (isDown(message)) {
      const { ref, pid, reason } = message
      return this.#take(this.root, Object.assign({ type: "process.down" }, { ref, pid, reason }))
    }
    if (isEvent(message)) this.#take(this.root, message)
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
    this.root.chart.replace(value, context)
    this.#changed(this.root)
    return true
  }

  ended(_cell: Cell, reason: ExitReason): void {
    const { root } = this
    this.#queue = []
    if (!root.isOver) root.close()
    const { chart } = root
    if (chart.status === "active") chart.stop([])
    root.snapshot = undefined
    this.#ended?.(reason)
    for (const observer of this.#observers ?? []) {
      this.#guarded(() => (chart.status === "error" ? observer.error?.(chart.error) : observer.complete?.()))
    }
    this.#observers = undefined
  }

  /** Calls the observer with each new snapshot of the root chart. */
  subscribe(observer: Observer<unknown>): () => void {
    this.#observers ??= new Set()
    this.#observers.add(observer)
    return () => this.#observers?.delete(observer)
  }

  /** The output of the root chart, once it is done. */
  get output(): unknown {
    return this.root.chart.output
  }

  /** Sends an event to one of the charts (CPROC1). */
  send(run: ChartRun, event: EventObject): void {
    if (run.isOver) return
    const mail = new ChartMail(run, event)
    if (this.#isHandling) this.#queue.push(mail)
    else if (!this.cell.dead) deliver(this.cell, mail)
  }

  #take(run: ChartRun, event: EventObject, task?: () => void): void {
    if (this.#isHandling) return void this.#queue.push(new ChartMail(run, event))
    this.#isHandling = true
    let changed = false
    try {
      if (task === undefined) changed = this.#step(run, event)
      else task()
      // The queue grows while it is handled.
      for (let at = 0; at < this.#queue.length; at++) {
        const mail = this.#queue[at]
        if (mail !== undefined && this.#step(mail.run, mail.event)) changed = true
      }
    } finally {
      this.#queue = this.#queue.length === 0 ? this.#queue : []
      this.#isHandling = false
    }
    if (this.cell.dead) return
    if (changed) this.#notify()
    const { chart } = this.root
    if (chart.status === "done") die(this.cell, "normal", "own")
    else if (chart.status === "error") die(this.cell, chart.error, "own")
  }

  /** Runs a function in a turn of the process; the events that it sends are handled in that turn. */
  #turn(task: () => void): void {
    if (!this.cell.dead) deliver(this.cell, new MailboxTask(() => this.#take(this.root, beginEvent, task)))
  }

  /** Handles one event; returns whether the root chart changed. */
  #step(run: ChartRun, event: EventObject): boolean {
    if (run.isOver || this.cell.dead) return false
    const effects = this.#effects
    const { chart } = run
    const changed = event === beginEvent || chart.send(event, effects)
    if (changed) this.#changed(run)
    const performed = effects.splice(0)
    // An effect may end the process; the effects after it are not performed.
    for (const effect of performed) if (!run.isOver && !this.cell.dead) this.#perform(run, effect)
    if (chart.status !== "active") this.#finish(run)
    return changed && run.parent === undefined
  }

  #changed(run: ChartRun): void {
    for (let one: ChartRun | undefined = run; one !== undefined; one = one.parent) one.snapshot = undefined
  }

  /** Reports the end of a chart inside this process to the chart that started it. */
  #finish(run: ChartRun): void {
    if (run.isOver) return
    const { parent, chart, id } = run
    run.close()
    if (parent === undefined) return
    if (chart.status === "done") this.send(parent, doneOf(id, chart.output))
    else if (chart.status === "error") this.send(parent, errorOf(id, chart.error))
  }

  #perform(run: ChartRun, effect: ChartEffect): void {
    switch (effect.kind) {
      case "effect":
        return effect.run(effect.params, {
          env: this.#env,
          host: this.cell,
          send: (event) => this.send(run, event),
          turn: (task) => this.#turn(task)
        })
      case "act": {
        const self = facadeOf(this, run)
        return effect.run({ ...effect.args, self, system: undefined }, effect.params)
      }
      case "start":
        return this.#start(run, effect.id, effect.src, effect.input)
      case "stop": {
        const child = run.children.get(effect.id)
        run.children.delete(effect.id)
        return child?.stop()
      }
      case "send":
        return run.children.get(effect.to)?.receive(effect.event)
      case "sendParent":
        if (run.parent === undefined) this.#sendParent?.(effect.event)
        else this.send(run.parent, effect.event)
        return
      case "schedule":
        return this.#schedule(run, effect.id, effect.event, effect.ms)
      case "cancel":
        run.timers?.get(effect.id)?.cancel()
        run.timers?.delete(effect.id)
    }
  }

  #schedule(run: ChartRun, id: string, event: EventObject, ms: number): void {
    const { cell } = this
    run.timers?.get(id)?.cancel()
    run.timers ??= new Map()
    const { timers } = run
    const due = (): void => {
      if (timers.get(id) !== delayed) return
      timers.delete(id)
      this.#take(run, event)
    }
    const timer = new Timer(cell.kernel, cell, ms, () => deliver(cell, new MailboxTask(due)))
    const delayed = { event, at: cell.kernel.clock.now() + ms, cancel: () => timer.close() }
    timers.set(id, delayed)
  }

  #start(run: ChartRun, id: string, src: string, input: unknown, from?: PersistedChart): void {
    run.children.get(id)?.stop()
    const logic = run.chart.table.logic(src)
    if (logic === undefined) return
    try {
      const child = this.#child(run, id, src, logic, input, from)
      // Starting the child may have ended this process.
      if (run.isOver) child.stop()
      else run.children.set(id, child)
    } catch (error) {
      this.send(run, errorOf(id, error))
    }
  }

  #child(
    run: ChartRun,
    id: string,
    src: string,
    logic: AnyActorLogic,
    input: unknown,
    from: PersistedChart | undefined
  ): Child {
    const actor = hostedActorOf(logic)
    if (actor?.kind === "callback") return this.#callback(run, src, actor.start, input)
    if (actor?.kind === "effect") return this.#fiber(run, id, src, actor.make, input)
    const machine = logic as AnyStateMachine
    const table = ChartTable.of(machine)
    if (!(table instanceof ChartTable)) throw new TypeError(`The machine ${machine.id} cannot be hosted`)
    const options = childOptionsOf(machine)
    if (options?.inside === true) return this.#inside(run, id, src, table, input, from)
    const label = options?.label === undefined ? id : options.label(input as never)
    return this.#process(run, id, src, table, input, from, label)
  }

  #callback(run: ChartRun, src: string, start: StartCallback, input: unknown): Child {
    let isStopped = false
    const send = (event: EventObject): void => {
      if (!isStopped) this.send(run, event)
    }
    const turn = (task: () => void): void =>
      this.#turn(() => {
        if (!isStopped) task()
      })
    const running = start({ env: this.#env, host: this.cell, send, turn, input }) ?? undefined
    return {
      src,
      input,
      receive: (event) => running?.receive?.(event),
      stop: () => {
        if (isStopped) return
        isStopped = true
        running?.close?.()
      },
      chart: none,
      process: none
    }
  }

  #fiber(run: ChartRun, id: string, src: string, make: (args: never) => unknown, input: unknown): Child {
    const { cell } = this
    const effect = Effect.suspend(() => make({ input, host: cell } as never) as Effect.Effect<unknown, unknown>)
    const running = new Running(cell.kernel, cell, effect, (exit) =>
      this.send(run, Exit.isSuccess(exit) ? doneOf(id, exit.value) : errorOf(id, ofCause(exit.cause).reason))
    )
    return { src, input, receive: ignore, stop: () => running.close(), chart: none, process: none }
  }

  /** A chart in this process; its first effects are performed in this turn (CPROC1). */
  #inside(
    run: ChartRun,
    id: string,
    src: string,
    table: ChartTable,
    input: unknown,
    from: PersistedChart | undefined
  ): Child {
    const effects: Array<ChartEffect> = []
    const chart = from === undefined ? Chart.start(table, input, effects) : Chart.restore(table, dataIn(from))
    const inner = new ChartRun(chart, id, run)
    if (from !== undefined) this.#resume(inner, from)
    for (const effect of effects) this.#perform(inner, effect)
    if (chart.status !== "active") this.#finish(inner)
    return {
      src,
      input,
      receive: (event) => this.send(inner, event),
      stop: () => {
        if (inner.isOver) return
        chart.stop([])
        inner.close()
      },
      chart: () => inner,
      process: none
    }
  }

  #process(
    run: ChartRun,
    id: string,
    src: string,
    table: ChartTable,
    input: unknown,
    from: PersistedChart | undefined,
    label: string
  ): Child {
    const { kernel } = this.cell
    let isStopped = false
    const cell = kernel.make(waiting, this.cell, label)
    cell.begun = true
    join(this.cell, cell)
    const ended = (reason: ExitReason): void => {
      if (isStopped) return
      isStopped = true
      this.send(run, endOf(id, cell, reason))
    }
    kernel.as(cell, () =>
      hostChart(cell, table, { input, snapshot: from, env: this.#env }, this.cell, {
        ended,
        send: (event) => {
          if (!isStopped) this.send(run, event)
        }
      })
    )
    return {
      src,
      input,
      receive: (event) => deliver(cell, event),
      stop: () => {
        isStopped = true
        die(cell, "shutdown", "signal")
      },
      chart: () => (cell.behaviour instanceof ChartProcess ? cell.behaviour.root : undefined),
      process: () => cell
    }
  }

  /** Starts the children of a restored chart again, and its timers with the time that is left. */
  #resume(run: ChartRun, from: PersistedChart): void {
    if (run.chart.status !== "active") return
    const { clock } = this.cell.kernel
    for (const { id, src, input, snapshot } of childrenIn(from)) {
      run.chart.children.set(id, src)
      this.#start(run, id, src, input, snapshot)
    }
    for (const { id, event, at } of timersIn(from, run.chart, clock.now())) {
      this.#schedule(run, id, event, Math.max(0, at - clock.now()))
    }
  }

  #notify(): void {
    if (this.#observers === undefined || this.#observers.size === 0) return
    const snapshot = snapshotOf(this.root)
    for (const observer of [...this.#observers]) this.#guarded(() => observer.next?.(snapshot))
  }

  #guarded(call: () => void): void {
    try {
      call()
    } catch (error) {
      this.cell.kernel.report(this.cell, error)
    }
  }
}

/** Runs a chart in a process. The process ends here if the chart is done or fails at once. */
export const hostChart = (
  cell: Cell,
  table: ChartTable,
  start: ChartStart,
  parent: Cell | undefined,
  above?: ConstructorParameters<typeof ChartProcess>[4]
): void => {
  let hosted: ChartProcess
  try {
    hosted = new ChartProcess(cell, table, start, parent, above)
  } catch (error) {
    above?.ended(error)
    return die(cell, error, "own")
  }
  cell.behaviour = hosted
  cell.begun = true
  hosted.start()
}

const waiting: Behaviour = { kind: "machine" }

const none = (): undefined => undefined
const ignore = (): void => {}
const doneOf = (id: string, output: unknown): EventObject =>
  Object.assign({ type: `xstate.done.actor.${id}` }, { output, actorId: id })

const errorOf = (id: string, error: unknown): EventObject =>
  Object.assign({ type: `xstate.error.actor.${id}` }, { error, actorId: id })

/** The event of the end of a child process. */
const endOf = (id: string, cell: Cell, reason: ExitReason): EventObject => {
  const chart = cell.behaviour instanceof ChartProcess ? cell.behaviour.root.chart : undefined
  if (chart?.status === "done") return doneOf(id, chart.output)
  if (chart?.status === "error") return errorOf(id, chart.error)
  return reason === "normal" ? doneOf(id, undefined) : errorOf(id, new ProcessExit({ pid: cell, reason }))
}
