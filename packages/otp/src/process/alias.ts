/**
 * Addresses a process gives out to be answered at, and takes back.
 *
 * ALIAS1. An alias leads to its maker while it is active and its maker lives; once given up it leads nowhere, ever.
 * ALIAS2. One that is given up with a reply takes one message, and its monitor is gone before that is delivered.
 * ALIAS3. One that belongs to a monitor is given up with it, whether that fires or is dropped.
 */
import { type ExitReason, inspected, type Name, type Target } from "../core/index.ts"
import { type Cell, cellOf, deliver, type Kernel } from "../kernel/index.ts"
import { cellAt } from "./resolveTarget.ts"
import { Monitor } from "./monitor.ts"

export class Alias implements Name<unknown> {
  readonly _tag = "Alias"
  readonly name: string
  readonly system: Kernel
  readonly #maker: Cell
  readonly #once: boolean
  /** What is dropped when a reply gives the alias up. */
  monitor: Monitor | undefined = undefined
  #active = true

  constructor(maker: Cell, once: boolean) {
    this.name = `alias of ${maker.label} ${maker}`
    this.system = maker.kernel
    this.#maker = maker
    this.#once = once
  }

  whereis(): Cell | undefined {
    return this.#active && !this.#maker.dead ? this.#maker : undefined
  }

  /** Gives it up; answers whether it was active. */
  close(): boolean {
    const led = this.whereis() !== undefined
    this.#active = false
    return led
  }

  /** Takes note of a message. */
  used(): void {
    if (!this.#once) return
    this.close()
    this.monitor?.close()
  }

  toString(): string {
    return this.name
  }

  [inspected](): string {
    return this.name
  }
}

/** A monitor with an alias. */
export class AliasMonitor extends Monitor {
  readonly alias: Alias

  constructor(maker: Cell, target: Target, once: boolean) {
    const cell = cellAt(target)
    super(maker, cell, target)
    this.alias = new Alias(maker, once)
    this.alias.monitor = this
    if (cell === undefined || cell.dead) this.alias.close()
  }

  override down(cell: Cell, reason: ExitReason): void {
    super.down(cell, reason)
    this.alias.close()
  }

  override close(): void {
    super.close()
    this.alias.close()
  }
}

/** Puts a message into whoever an address leads to; answers whether it leads to anybody. */
export const deliverTo = (address: Name, message: unknown): boolean => {
  const pid = address.whereis()
  if (pid === undefined) return false
  if (address instanceof Alias) address.used()
  deliver(cellOf(pid), message)
  return true
}
