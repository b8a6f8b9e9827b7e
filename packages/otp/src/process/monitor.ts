/**
 * A monitor of one process on another.
 *
 * MON1. It fires at most once, and never after `close`.
 * MON2. While it is active, and only then, it is a watcher of the target and a resource of its maker.
 */
import { downMessage, type ExitReason, type MonitorRef, type Name, type Pid } from "../core/index.ts"
import { type Cell, deliver, type Resource, type Watcher } from "../kernel/index.ts"

let nextId = 1

export class Monitor implements MonitorRef, Watcher, Resource {
  readonly _tag = "MonitorRef"
  readonly id = nextId++
  readonly maker: Cell
  readonly #shown: Pid | Name
  #target: Cell | undefined = undefined

  constructor(maker: Cell, target: Cell | undefined, shown: Pid | Name) {
    this.maker = maker
    this.#shown = shown
    if (maker.dead || maker === target) return
    if (target === undefined || target.dead) {
      this.#notify("noproc")
      return
    }
    this.#target = target
    target.watch(this)
    maker.own(this)
  }

  get active(): boolean {
    return this.#target !== undefined
  }

  /** The process whose end it waits for. */
  get target(): Cell | undefined {
    return this.#target
  }

  down(_cell: Cell, reason: ExitReason): void {
    if (this.#target === undefined) return
    this.#target = undefined
    this.maker.disown(this)
    this.#notify(reason)
  }

  close(): void {
    this.#target?.watchers?.delete(this)
    this.#target = undefined
    this.maker.disown(this)
  }

  #notify(reason: ExitReason): void {
    deliver(this.maker, downMessage(this, this.#shown, reason))
  }
}
