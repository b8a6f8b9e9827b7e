/**
 * Temporary addresses of a process, to which others reply.
 *
 * ALIAS1. An alias resolves to its maker while it is active and its maker lives. After `close` it never resolves.
 * ALIAS2. An alias with `once` takes one message; its monitor is removed before that message is delivered.
 * ALIAS3. The alias of a monitor is closed with it, whether the monitor fires or is removed, unless its mode is
 *         `explicitUnalias`.
 * ALIAS4. Another process than its maker does not close an alias.
 */
import { type ExitReason, inspected, type Name, type Pid, type Target } from "../core/index.ts"
import { type Cell, cellOf, deliver, type Kernel } from "../kernel/index.ts"
import { cellAt } from "./pendingCall.ts"
import { Monitor } from "./monitor.ts"

export class Alias implements Name<unknown> {
  readonly _tag = "Alias"
  readonly name: string
  readonly system: Kernel
  readonly #maker: Cell
  readonly #once: boolean
  /** The monitor that is removed when a reply closes the alias. */
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

  /** Whether a process may close it: its maker, or code that runs outside of the turns of processes. */
  isOf(pid: Pid | undefined): boolean {
    return pid === undefined || pid === this.#maker
  }

  /** Closes the alias; returns whether it was active. */
  close(): boolean {
    const led = this.whereis() !== undefined
    this.#active = false
    return led
  }

  /** Called for each message to the alias. */
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

/** A monitor whose target sends its replies to an alias, which closes with the monitor. */
export class AliasMonitor extends Monitor {
  readonly alias: Alias

  readonly #outlives: boolean

  constructor(maker: Cell, target: Target, mode: "explicitUnalias" | "demonitor" | "replyDemonitor") {
    const cell = cellAt(target)
    super(maker, cell, target)
    this.#outlives = mode === "explicitUnalias"
    this.alias = new Alias(maker, mode === "replyDemonitor")
    this.alias.monitor = this
    if (cell === undefined || cell.dead) this.#over()
  }

  override down(cell: Cell, reason: ExitReason): void {
    super.down(cell, reason)
    this.#over()
  }

  override close(): void {
    super.close()
    this.#over()
  }

  #over(): void {
    if (!this.#outlives) this.alias.close()
  }
}

/** Delivers a message to the process of an address; returns whether there is one. */
export const deliverTo = (address: Name, message: unknown): boolean => {
  const pid = address.whereis()
  if (pid === undefined) return false
  if (address instanceof Alias) address.used()
  deliver(cellOf(pid), message)
  return true
}
