/**
 * The state of the cluster that the page and the terminal show.
 *
 * Owns: the newest leases and the newest notice. Does not own the nodes, which the fleet has, nor the database.
 */
import { setTimeout } from "node:timers/promises"
import type { ClusterStatus, Command } from "../control/index.ts"
import type { Fleet } from "./Fleet.ts"
import type { Leased, PlacementReader } from "./placement.ts"

/** How often the leases are read, in milliseconds. */
const readMs = 400

export class ClusterState {
  readonly #fleet: Fleet
  readonly #print: (line: string) => void
  readonly #listeners = new Set<() => void>()
  #leased: ReadonlyArray<Leased> = []
  #notice = ""

  constructor(fleet: Fleet, print: (line: string) => void) {
    this.#fleet = fleet
    this.#print = print
    fleet.onNotice = this.#said
  }

  readonly status = (): ClusterStatus => {
    const leases = new Map(this.#leased.map((leased) => [leased.address, leased]))
    const nodes = this.#fleet.status().map(({ address, ...node }) => {
      const leased = leases.get(address)
      return { ...node, buckets: leased?.buckets ?? 0, epoch: leased?.epoch, chats: leased?.chats ?? [] }
    })
    return { nodes, notice: this.#notice }
  }

  /** Calls a function at each change of the status. */
  readonly subscribe = (changed: () => void): (() => void) => {
    this.#listeners.add(changed)
    return () => void this.#listeners.delete(changed)
  }

  /** Executes a command. Returns the reason if it is not possible. */
  readonly command = (command: Command): string | undefined => this.#fleet.command(command)

  /** Reads the leases again and again, until the returned function is called. */
  readonly follow = (reader: PlacementReader): (() => Promise<void>) => {
    const closing = new AbortController()
    const reading = this.#follow(reader, closing.signal)
    return async () => {
      closing.abort()
      await reading
      await reader.close()
    }
  }

  async #follow(reader: PlacementReader, signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        const leased = await reader.read()
        const isChanged = JSON.stringify(leased) !== JSON.stringify(this.#leased)
        this.#leased = leased
        if (isChanged) this.#changed()
        await setTimeout(readMs, undefined, { signal })
      } catch (error) {
        if (!signal.aborted) this.#print(`The leases cannot be read: ${String(error)}`)
        return
      }
    }
  }

  readonly #said = (text: string): void => {
    this.#notice = text
    this.#print(text)
    this.#changed()
  }

  #changed(): void {
    for (const listener of this.#listeners) listener()
  }
}
