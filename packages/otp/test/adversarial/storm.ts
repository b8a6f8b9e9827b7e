import { expect } from "vitest"
import { Clock, GenServer, Process, System, SystemMessage } from "../../src/index.ts"
import type { Pid } from "../../src/index.ts"
import { hop } from "../double/hop.ts"

const nothing = { processes: 0, fibers: 0, timers: 0, closing: 0 }

const shown = (pids: ReadonlyArray<Pid>): ReadonlyArray<string> => pids.map((pid) => `${pid.label} ${pid}`).toSorted()

/** A process that monitors others and counts the messages of each monitor. */
class Witness {
  readonly pid: Pid
  readonly #seen = new Map<SystemMessage.MonitorRef, { readonly pid: Pid; downs: number }>()

  constructor(parent: Pid) {
    const definition = GenServer.make<void, null>({
      init: () => GenServer.ok(null),
      handleInfo: (message) => {
        const seen = SystemMessage.isDown(message) ? this.#seen.get(message.ref) : undefined
        if (seen !== undefined) seen.downs++
      }
    })
    this.pid = GenServer.spawnLink(parent, definition, undefined, { label: "witness" })
    Process.unlink(parent, this.pid)
  }

  watch<P extends Pid>(pid: P): P {
    this.#seen.set(Process.monitor(this.pid, pid), { pid, downs: 0 })
    return pid
  }

  /** Monitors that heard anything else than one DOWN of a dead process, or none of a living one. */
  get wrong(): ReadonlyArray<string> {
    return [...this.#seen.values()]
      .filter(({ pid, downs }) => downs !== (Process.isAlive(pid) ? 0 : 1))
      .map(({ pid, downs }) => `${pid.label} ${pid}: ${downs}`)
  }
}

/** A system to be shaken, on a clock that stands still, and what must be true when the storm is over. */
export class Storm {
  readonly clock = Clock.test()
  readonly system = System.make({ clock: this.clock })
  /** A root that traps exits and lives as long as the storm. */
  readonly ground = Process.spawn(this.system, () => new Promise(() => {}), { label: "ground" })
  readonly #witness = new Witness(this.ground)

  constructor() {
    Process.trapExit(this.ground, true)
  }

  /** Monitors a process until the storm is over. */
  watch<P extends Pid>(pid: P): P {
    return this.#witness.watch(pid)
  }

  /** Those that live, but for the ground and its witness. */
  get living(): ReadonlyArray<Pid> {
    return [...System.processes(this.system)].filter((pid) => pid !== this.ground && pid !== this.#witness.pid)
  }

  /** Nobody is left but those named, with no timer and no fiber, and every monitor heard what it should. */
  async settled(left: () => ReadonlyArray<Pid> = () => []): Promise<void> {
    await this.#calm(() => shown(this.living).join() === shown(left()).join())
    expect(shown(this.living)).toEqual(shown(left()))
    expect(this.#witness.wrong).toEqual([])
    expect(System.stats(this.system)).toMatchObject({ fibers: 0, timers: 0, closing: 0 })
  }

  /** Ends the system: every monitor heard exactly one DOWN of whoever died, and nothing is left. */
  async over(): Promise<void> {
    await this.#calm(() => true)
    expect(this.#witness.wrong).toEqual([])
    for (const pid of [...this.living, this.ground]) Process.kill(pid)
    await this.#calm(() => true)
    expect(this.#witness.wrong).toEqual([])
    await System.stop(this.system)
    expect([System.stats(this.system), this.clock.pending]).toEqual([nothing, 0])
  }

  /** A large storm takes several turns of the event loop, how many depends on the machine; one that goes on is judged as it is. */
  async #calm(isOver: () => boolean): Promise<void> {
    const { system } = this
    for (let round = 0; round < 200; round++) {
      await hop()
      const { fibers, timers, closing } = System.stats(system)
      if (fibers + timers + closing === 0 && this.#witness.wrong.length === 0 && isOver()) return
    }
  }
}
