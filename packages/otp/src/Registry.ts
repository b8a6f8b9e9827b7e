/**
 * Registries: processes found by keys.
 *
 * With unique keys a key leads to one process: a name that can be any value. With duplicate keys it leads to any number:
 * the subscribers of a topic.
 *
 * A registry is a process. Looking up and registering are synchronous and take no turn of it; it is there so that a
 * registry can be supervised, and so that its members end when it is lost: an entry nobody can find again must not live.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Process, Registry, System } from "@troupe/otp"
 * import type { Pid } from "@troupe/otp"
 *
 * const system = System.make()
 * const topics = await Registry.start(system, { keys: "duplicate" })
 * const heard: Array<unknown> = []
 * const listener = async (self: Pid<unknown>) => void heard.push(await Process.receive(self))
 * for (const name of ["ann", "ben"]) Registry.register(topics, "news", Process.spawn(system, listener), name)
 * Registry.dispatch(topics, "news", (entries) => {
 *   for (const { pid, value } of entries) Process.send(pid, `hello ${value}`)
 * })
 * await new Promise((resolve) => setTimeout(resolve))
 * heard // => ["hello ann", "hello ben"]
 * await System.stop(system)
 * ```
 *
 * **Source**
 *
 * Elixir's `Registry`.
 */
import type { ChildSpec } from "./ChildSpec.ts"
import { cellOf } from "./internal/cell.ts"
import type { Cell } from "./internal/cell.ts"
import { kernelOf } from "./internal/kernel.ts"
import type { Kernel } from "./internal/kernel.ts"
import type { Entry as TableEntry } from "./internal/keyIndex.ts"
import { RegistryTable } from "./internal/registryTable.ts"
import type { Keys as TableKeys } from "./internal/registryTable.ts"
import { Server } from "./internal/serverLoop.ts"
import type { Callbacks } from "./internal/serverLoop.ts"
import { ServerResult } from "./internal/serverResult.ts"
import { startServer } from "./internal/startServer.ts"
import type { Via as KeyAddress } from "./internal/startServer.ts"
import type { Pid } from "./Pid.ts"
import { isExit } from "./SystemMessage.ts"
import type { System } from "./System.ts"

/** The address of whoever is under a key, which a server can be started with. */
export type Via = KeyAddress

/**
 * Where a key leads to.
 *
 * **Details**
 *
 * - `"unique"`: to one process.
 * - `"duplicate"`: to any number of processes, and any number of times to the same one.
 */
export type Keys = TableKeys

/**
 * How a registry is known, and what its keys are.
 *
 * **Units and defaults**
 *
 * `keys` is `"unique"`; `name` registers it, `label` is shown, by default the name, else `Registry`.
 */
export interface Options {
  readonly keys?: Keys
  readonly name?: string
  readonly label?: string
}

const registryCallbacks: Callbacks = {
  kind: "registry",
  init: (keys, self) => new ServerResult("ok", new RegistryTable(self, keys as Keys), undefined, undefined, undefined),
  handleInfo: (message, _state, self) => {
    if (!isExit(message)) self.kernel.strayed("unexpected", self, message)
  },
  show: (table) => ({ keys: (table as RegistryTable).keys, entries: (table as RegistryTable).entries().length })
}

const launch = (kernel: Kernel, parent: Cell | undefined, options: Options = {}): Promise<Pid> => {
  const label = options.label ?? options.name ?? "Registry"
  const name = options.name === undefined ? {} : { name: options.name }
  return startServer(kernel, parent, registryCallbacks, options.keys ?? "unique", { ...name, label, trapExit: true })
}

const tableOf = (registry: Pid): RegistryTable => {
  const { behaviour } = cellOf(registry)
  if (behaviour instanceof Server && behaviour.state instanceof RegistryTable) return behaviour.state
  throw new TypeError(`${registry.label} ${registry} is no registry: pass what Registry.start resolved with`)
}

/** Starts a registry that nobody is linked to. */
export const start = (system: System, options?: Options): Promise<Pid> => launch(kernelOf(system), undefined, options)

/** Starts a registry linked to its parent. */
export const startLink = (parent: Pid, options?: Options): Promise<Pid> =>
  launch(cellOf(parent).kernel, cellOf(parent), options)

/** Makes the spec of a registry that is the child of a supervisor. */
export const childSpec = (id: string, options?: Options): ChildSpec => ({
  id,
  start: (parent) => startLink(parent, { label: id, ...options })
})

/** The outcome of a registration: `ok`, or who has the key. */
export type Registered = { readonly ok: true } | { readonly ok: false; readonly pid: Pid<unknown> }

/** A process under a key, and the value it was entered with. */
export interface Entry {
  readonly pid: Pid<unknown>
  readonly value: unknown
}

/**
 * Enters a process under a key, with a value, and links it to the registry.
 *
 * **Details**
 *
 * The entry goes when the process dies. A unique key that is taken, by the same process too, is refused with its holder.
 *
 * **Gotchas**
 *
 * A dead process is not entered, and the answer names it as the holder.
 */
export const register = (registry: Pid, key: unknown, pid: Pid, value?: unknown): Registered => {
  const table = tableOf(registry)
  const cell = cellOf(pid)
  const taken = table.keys === "unique" ? table.holder(key) : undefined
  if (taken !== undefined) return { ok: false, pid: taken }
  table.claim(key, cell, value)
  return cell.dead || cellOf(registry).dead ? { ok: false, pid: cell } : { ok: true }
}

/** Takes a process out from under a key, as often as it is there; answers whether it was. */
export const unregister = (registry: Pid, key: unknown, pid: Pid): boolean =>
  tableOf(registry).release(key, cellOf(pid))

/** The living process under a key, the first of them if there are several. */
export const whereis = (registry: Pid, key: unknown): Pid<unknown> | undefined => tableOf(registry).holder(key)

const shown = (entry: TableEntry): Entry => ({ pid: entry.cell, value: entry.value })

/** The entries under a key, in the order they were made. */
export const lookup = (registry: Pid, key: unknown): ReadonlyArray<Entry> => tableOf(registry).at(key).map(shown)

/** The values a process was entered with under a key. */
export const values = (registry: Pid, key: unknown, pid: Pid): ReadonlyArray<unknown> =>
  tableOf(registry)
    .at(key)
    .filter((entry) => entry.cell === pid)
    .map((entry) => entry.value)

/** The keys of a process; a duplicate key comes as often as the process is under it. */
export const keys = (registry: Pid, pid: Pid): ReadonlyArray<unknown> =>
  tableOf(registry)
    .entriesOf(cellOf(pid))
    .map((entry) => entry.key)

/**
 * Changes the value of a process under a unique key; answers the new value and the one before, or `undefined` if the
 * process does not have the key.
 *
 * **Errors**
 *
 * Throws a `TypeError` for a registry with duplicate keys.
 */
export const update = <A>(
  registry: Pid,
  key: unknown,
  pid: Pid,
  change: (value: unknown) => A
): { readonly value: A; readonly before: unknown } | undefined => {
  const [entry] = uniqueOf(registry).at(key)
  if (entry === undefined || entry.cell !== pid) return undefined
  const before = entry.value
  const value = change(before)
  entry.value = value
  return { value, before }
}

/**
 * Hands the entries under a key to a function, if there are any: publish and subscribe.
 *
 * **Concurrency**
 *
 * The function runs in the caller, now. The registry knows nothing of what it does.
 */
export const dispatch = (registry: Pid, key: unknown, run: (entries: ReadonlyArray<Entry>) => void): void => {
  const found = lookup(registry, key)
  if (found.length > 0) run(found)
}

/** All entries; with unique keys in the order they were made, else the keys in that order. */
export const entries = (registry: Pid): ReadonlyArray<readonly [key: unknown, pid: Pid<unknown>, value: unknown]> =>
  tableOf(registry)
    .entries()
    .map((entry) => [entry.key, entry.cell, entry.value])

/** How many entries there are. */
export const count = (registry: Pid): number => tableOf(registry).entries().length

const uniqueOf = (registry: Pid): RegistryTable => {
  const table = tableOf(registry)
  if (table.keys === "unique") return table
  throw new TypeError(`the keys of ${registry.label} are duplicate: a key is no name of one process there`)
}

/**
 * Makes the address of whoever is under a unique key when it is used; a server started with it as `via` is entered
 * there, with a value.
 *
 * **Errors**
 *
 * Throws a `TypeError` for a registry with duplicate keys.
 */
export const via = (registry: Pid, key: unknown, value?: unknown): Via => {
  const table = uniqueOf(registry)
  return {
    name: String(key),
    system: cellOf(registry).kernel,
    whereis: () => table.holder(key),
    claim: (pid) => table.claim(key, cellOf(pid), value),
    toString: () => String(key)
  }
}
