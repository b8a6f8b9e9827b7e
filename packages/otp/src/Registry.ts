/**
 * Registries: processes found by keys, each key leading to one of them.
 *
 * A registry is a process. Looking up and registering are synchronous and take no turn of it; it is there so that a
 * registry can be supervised, and so that its members end when it is lost: an entry nobody can find again must not live.
 *
 * **Source**
 *
 * Elixir's `Registry`, with unique keys.
 */
import type { ChildSpec } from "./ChildSpec.ts"
import { cellOf } from "./internal/cell.ts"
import type { Cell } from "./internal/cell.ts"
import { kernelOf } from "./internal/kernel.ts"
import type { Kernel } from "./internal/kernel.ts"
import { RegistryTable } from "./internal/registryTable.ts"
import { Server } from "./internal/serverLoop.ts"
import type { Callbacks } from "./internal/serverLoop.ts"
import { ServerResult } from "./internal/serverResult.ts"
import { startServer } from "./internal/startServer.ts"
import type { Via as KeyAddress } from "./internal/startServer.ts"
import type { Pid } from "./Pid.ts"
import type { System } from "./System.ts"

/** The address of whoever is under a key, which a server can be started with. */
export type Via = KeyAddress

/** How a registry is known: `name` registers it, `label` is shown, by default the name, else `Registry`. */
export interface Options {
  readonly name?: string
  readonly label?: string
}

const registryCallbacks: Callbacks = {
  kind: "registry",
  init: (_args, self) => new ServerResult("ok", new RegistryTable(self), undefined, undefined, undefined)
}

const launch = (kernel: Kernel, parent: Cell | undefined, options: Options = {}): Promise<Pid> => {
  const label = options.label ?? options.name ?? "Registry"
  const name = options.name === undefined ? {} : { name: options.name }
  return startServer(kernel, parent, registryCallbacks, undefined, { ...name, label, trapExit: true })
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

/**
 * Enters a process under a key, and links it to the registry.
 *
 * **Details**
 *
 * The entry goes when the process dies. A key that is taken, by the same process too, is refused with its holder.
 *
 * **Gotchas**
 *
 * A dead process is not entered, and the answer names it as the holder.
 */
export const register = (registry: Pid, key: unknown, pid: Pid): Registered => {
  const table = tableOf(registry)
  const cell = cellOf(pid)
  const holder = table.holder(key)
  if (holder !== undefined) return { ok: false, pid: holder }
  table.claim(key, cell)
  return table.holder(key) === cell ? { ok: true } : { ok: false, pid: cell }
}

/** Takes a process out from under a key; answers whether it was there. */
export const unregister = (registry: Pid, key: unknown, pid: Pid): boolean =>
  tableOf(registry).release(key, cellOf(pid))

/** The living process under a key. */
export const whereis = (registry: Pid, key: unknown): Pid<unknown> | undefined => tableOf(registry).holder(key)

/** The keys of a process. */
export const keys = (registry: Pid, pid: Pid): ReadonlyArray<unknown> => tableOf(registry).keysOf(cellOf(pid))

/** All entries, in the order they were made. */
export const entries = (registry: Pid): ReadonlyArray<readonly [key: unknown, pid: Pid<unknown>]> =>
  tableOf(registry).entries()

/** How many entries there are. */
export const count = (registry: Pid): number => tableOf(registry).entries().length

/** Makes the address of whoever is under a key when it is used; a server started with it as `via` is entered there. */
export const via = (registry: Pid, key: unknown): Via => ({
  name: String(key),
  system: cellOf(registry).kernel,
  whereis: () => (cellOf(registry).dead ? undefined : whereis(registry, key)),
  claim: (pid) => tableOf(registry).claim(key, cellOf(pid)),
  toString: () => String(key)
})
