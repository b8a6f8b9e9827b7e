/**
 * Registries: processes found by keys.
 *
 * With unique keys, a key belongs to one process: a name that can be any value. With duplicate keys, it belongs to any
 * number of processes: the subscribers of a topic.
 *
 * A registry is a process. Looking up and registering are synchronous and take no turn of it. The process allows a
 * registry to be supervised. Its members end when it ends, because their entries are lost: they get the exit signal
 * `shutdown` when the registry ends in order, and `killed` when it is killed.
 *
 * Keys compare by value, as in Elixir: `["chat", 42]` finds an entry of another `["chat", 42]`. That holds for
 * primitives, arrays and plain objects, nested up to 100 levels, by their enumerable string keys. Pids, functions, symbols
 * and class instances equal only themselves. A later change of an array or object does not move its entry.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Process, Registry, System } from "@troupe/otp"
 * import type { Pid } from "@troupe/otp"
 *
 * const system = System.make()
 * const topics = await Registry.start(system, { keys: "duplicate" })
 * const received: Array<unknown> = []
 * const listener = async (self: Pid<unknown>) => void received.push(await Process.receive(self))
 * for (const name of ["ann", "ben"]) Registry.register(topics, "news", Process.spawn(system, listener), name)
 * Registry.dispatch(topics, "news", (entries) => {
 *   for (const { pid, value } of entries) Process.send(pid, `hello ${value}`)
 * })
 * await new Promise((resolve) => setTimeout(resolve))
 * received // => ["hello ann", "hello ben"]
 * await System.stop(system)
 * ```
 *
 * **Source**
 *
 * Elixir's `Registry`.
 */
import {
  CallExit,
  type ChildSpec,
  isName,
  type MessageOf,
  type Name,
  type OfKind,
  type Pid,
  placeOf,
  type System,
  type Target
} from "../core/index.ts"
import { type Cell, cellOf, type Kernel, kernelOf } from "../kernel/index.ts"
import { cellAt } from "../process/index.ts"
import type { Entry as TableEntry } from "./keyIndex.ts"
import { RegistryState, registryCallbacks } from "./registryServer.ts"
import type { RegistryPlan } from "./registryServer.ts"
import type { Keys } from "./registryTable.ts"
import { Server, startServer, type Via } from "../server/index.ts"

declare const entry_: unique symbol

/**
 * A registry whose keys are of type `K`, the values of type `V`, and the pids of type `P`.
 *
 * **Details**
 *
 * The type arguments of `start` set its types: `Registry.start<RoomId, Topic, Room>(system)`. A plain `Pid` of a
 * registry, and a `Registry` without type arguments, accept any entries.
 */
export interface Registry<in out K = unknown, in out V = unknown, in out P extends Pid = Pid<unknown>>
  extends Pid, OfKind<"registry"> {
  readonly [entry_]?: (entry: readonly [K, V, P]) => readonly [K, V, P]
}

/** A registry or the address of one, such as a registered name or a child of a supervisor, which outlives a restart. */
export type RegistryTarget<K = unknown, V = unknown, P extends Pid = Pid<unknown>> =
  | Registry<K, V, P>
  | Name<never, Registry<K, V, P>>

export type { Keys } from "./registryTable.ts"
export type { Via } from "../server/index.ts"

/** The message to a listener: an entry was added or removed. */
export interface Change {
  /** `"Register"`: an entry was added. `"Unregister"`: an entry was removed, or its process died. */
  readonly _tag: "Register" | "Unregister"
  /** The registry of the entry. */
  readonly registry: Pid
  /** The key of the entry. */
  readonly key: unknown
  /** The process of the entry. */
  readonly pid: Pid<unknown>
  /** The value of the entry. */
  readonly value: unknown
}

/**
 * The names, the keys and the listeners of a registry.
 *
 * **Details**: the members of a partition are linked to it and end only with it. The registry restarts a partition, empty, up to
 * 3 times in 5 seconds.
 */
export interface Options {
  /** Whether one process or several may have a key. Default: `"unique"`, one. */
  readonly keys?: Keys
  /**
   * The number of processes that the entries are distributed over: by key if keys are unique, by process if they are duplicate.
   * Default: 1. On one thread more do not gain speed; they limit the damage of one loss.
   */
  readonly partitions?: number
  /** Get a `Change` for every entry that is added or removed, while they live. Default: none. */
  readonly listeners?: ReadonlyArray<Target<Change>>
  /** The initial metadata, as keys and values. Default: none. */
  readonly meta?: Iterable<readonly [key: unknown, value: unknown]>
  /** Registers the registry in its system. Default: the registry has no name. */
  readonly name?: string
  /** The displayed name. Default: `name`, else `Registry`. */
  readonly label?: string
}

const launch = (kernel: Kernel, parent: Cell | undefined, options: Options = {}): Promise<Pid> => {
  const { partitions = 1, keys = "unique", listeners = [], meta = [] } = options
  const plan: RegistryPlan = { keys, partitions, listeners, meta }
  const label = options.label ?? options.name ?? "Registry"
  const name = options.name === undefined ? {} : { name: options.name }
  return startServer(kernel, parent, registryCallbacks, plan, { ...name, label, trapExit: true })
}

/** A registry with any types. */
type Any = (Pid & OfKind<"registry">) | Name<never, Pid & OfKind<"registry">>

/** Throws `CallExit` (`noproc`) for an address without a process. */
const stateOf = (registry: Pid | Name): RegistryState => {
  const cell = cellAt(registry)
  if (cell === undefined) throw new CallExit({ reason: "noproc", in: "a function of Registry" })
  const { behaviour } = cell
  if (behaviour instanceof Server && behaviour.state instanceof RegistryState) return behaviour.state
  throw new TypeError(`${cell.label} ${cell} is no registry: pass what Registry.start resolved with`)
}

/** Starts a registry without a link. Rejects with `StartFailed`; its reason names an invalid option. */
export const start = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  system: System,
  options?: Options
): Promise<Registry<K, V, P>> => launch(kernelOf(system), undefined, options)

/** Starts a registry linked to its parent, like `start`. */
export const startLink = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  parent: Pid,
  options?: Options
): Promise<Registry<K, V, P>> => launch(cellOf(parent).kernel, cellOf(parent), options)

/** Makes the spec of a registry that is the child of a supervisor. */
export const childSpec = <const Id extends string, K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  id: Id,
  options?: Options
): ChildSpec<Id, Registry<K, V, P>> => ({
  id,
  start: (parent) => startLink(parent, { label: id, ...options })
})

/** The result of a registration: `ok`, or the process that has the key. */
export type Registered<P extends Pid = Pid<unknown>> = { readonly ok: true } | { readonly ok: false; readonly pid: P }

/** A process under a key, and its value. */
export interface Entry<out V = unknown, out P extends Pid = Pid<unknown>> {
  /** The registered process. */
  readonly pid: P
  /** What it was registered with. */
  readonly value: V
}

/** The type of a process that can be registered: any process if the registry has no types. */
type Member<P extends Pid> = unknown extends MessageOf<P> ? Pid : P

/** The value to register; optional if `undefined` is a valid value. */
type Value<V> = undefined extends V ? [value?: V] : [value: V]

/**
 * Registers a process under a key, with a value, and links it to the registry.
 *
 * **Details**
 *
 * The entry is removed when the process dies. If a unique key is taken, even by this process, the result is its holder.
 *
 * **Errors**
 *
 * Throws `CallExit` (`noproc`) if the registry is dead, or if the partition of the key ended and is not restarted yet;
 * `OtherSystem` for a process of another system.
 *
 * **Gotchas**
 *
 * A dead process is not registered; the result names it as the holder.
 */
export const register = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: RegistryTarget<K, V, P>,
  key: NoInfer<K>,
  pid: Member<NoInfer<P>>,
  ...[value]: Value<NoInfer<V>>
): Registered<P> => {
  const holder = stateOf(registry).claim(key, cellOf(pid), value)
  return holder === undefined ? { ok: true } : { ok: false, pid: holder as Pid as P }
}

/** Removes all entries of a process under a key; returns whether there were any. */
export const unregister = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: RegistryTarget<K, V, P>,
  key: NoInfer<K>,
  pid: Pid
): boolean => unregisterMatch(registry, key, pid, () => true) > 0

/** Removes the entries of a process under a key whose value passes; returns their number. */
export const unregisterMatch = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: RegistryTarget<K, V, P>,
  key: NoInfer<K>,
  pid: Pid,
  passes: (value: V) => boolean
): number => {
  const place = placeOf(key)
  // Compares like a `Map`: 0 equals -0, and NaN equals NaN.
  const isPlace = (other: unknown): boolean => other === place || Object.is(other, place)
  const matches = (entry: TableEntry): boolean => isPlace(entry.place) && passes(entry.value as V)
  return stateOf(registry)
    .tablesAt(place)
    .reduce((released, table) => released + table.release(cellOf(pid), matches), 0)
}

/** The living process under a key; the first if there are several. */
export const whereis = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: RegistryTarget<K, V, P>,
  key: NoInfer<K>
): P | undefined => stateOf(registry).holder(key) as Pid as P | undefined

const shown = <V, P extends Pid>(entry: TableEntry): Entry<V, P> => ({
  pid: entry.cell as Pid as P,
  value: entry.value as V
})

/** The entries under a key, in the order they were added; several partitions follow one another. */
export const lookup = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: RegistryTarget<K, V, P>,
  key: NoInfer<K>
): ReadonlyArray<Entry<V, P>> =>
  stateOf(registry)
    .at(key)
    .map(shown<V, P>)

/** The values of a process under a key. */
export const values = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: RegistryTarget<K, V, P>,
  key: NoInfer<K>,
  pid: Pid
): ReadonlyArray<V> =>
  stateOf(registry)
    .at(key)
    .filter((entry) => entry.cell === pid)
    .map((entry) => entry.value as V)

/** The keys of a process; a duplicate key appears once for each of its entries. */
export const keys = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: RegistryTarget<K, V, P>,
  pid: Pid
): ReadonlyArray<K> =>
  stateOf(registry)
    .entriesOf(cellOf(pid))
    .map((entry) => entry.key as K)

/**
 * Changes the value of a process under a unique key; returns the new and the previous value, or `undefined` if the
 * process does not have the key.
 *
 * **Errors**
 *
 * Throws a `TypeError` for a registry with duplicate keys.
 */
export const update = <K = unknown, V = unknown, P extends Pid = Pid<unknown>, A extends V = V>(
  registry: RegistryTarget<K, V, P>,
  key: NoInfer<K>,
  pid: Pid,
  change: (value: V) => A
): { readonly value: A; readonly before: V } | undefined => {
  const [entry] = uniqueOf(registry).at(key)
  if (entry === undefined || entry.cell !== pid) return undefined
  const before = entry.value as V
  const value = change(before)
  entry.value = value
  return { value, before }
}

/**
 * Passes the entries under a key to a function, if there are any: publish and subscribe.
 *
 * **Details**
 *
 * With duplicate keys and several partitions the function runs once for each partition that has entries.
 *
 * **Concurrency**
 *
 * The function runs synchronously in the caller, not in the registry.
 */
export const dispatch = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: RegistryTarget<K, V, P>,
  key: NoInfer<K>,
  run: (entries: ReadonlyArray<Entry<V, P>>) => void
): void => {
  const place = placeOf(key)
  for (const table of stateOf(registry).tablesAt(place)) {
    const found = table.at(place)
    if (found.length > 0) run(found.map(shown<V, P>))
  }
}

/** The entries under a key whose value passes. */
export const match = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: RegistryTarget<K, V, P>,
  key: NoInfer<K>,
  passes: (value: V, pid: P) => boolean
): ReadonlyArray<Entry<V, P>> => lookup<K, V, P>(registry, key).filter(({ value, pid }) => passes(value, pid))

/** Counts the entries under a key whose value passes. */
export const countMatch = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: RegistryTarget<K, V, P>,
  key: NoInfer<K>,
  passes: (value: V, pid: P) => boolean
): number => match<K, V, P>(registry, key, passes).length

/** A process that is registered under `key`, and its value. */
export interface KeyedEntry<out K = unknown, out V = unknown, out P extends Pid = Pid<unknown>> extends Entry<V, P> {
  /** The key that the process is registered under. */
  readonly key: K
}

const keyed = <K, V, P extends Pid>(entry: TableEntry): KeyedEntry<K, V, P> => ({
  key: entry.key as K,
  ...shown<V, P>(entry)
})

/**
 * Maps all entries with a function; entries for which it returns `undefined` are left out.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Process, Registry, System } from "@troupe/otp"
 *
 * const system = System.make()
 * const rooms = await Registry.start<string, number>(system)
 * for (const [name, seats] of [["attic", 4], ["hall", 200], ["yard", 90]] as const) {
 *   Registry.register(rooms, name, Process.spawn(system, () => new Promise(() => {})), seats)
 * }
 * Registry.select(rooms, ({ key, value }) => (value > 50 ? key : undefined)) // => ["hall", "yard"]
 * Registry.countSelect(rooms, ({ value }) => value > 50) // => 2
 * await System.stop(system)
 * ```
 */
export const select = <A, K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: RegistryTarget<K, V, P>,
  pick: (entry: KeyedEntry<K, V, P>) => A | undefined
): ReadonlyArray<A> =>
  stateOf(registry)
    .entries()
    .flatMap((entry) => {
      const picked = pick(keyed(entry))
      return picked === undefined ? [] : [picked]
    })

/** Counts the entries that pass. */
export const countSelect = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: RegistryTarget<K, V, P>,
  passes: (entry: KeyedEntry<K, V, P>) => boolean
): number =>
  stateOf(registry)
    .entries()
    .filter((entry) => passes(keyed(entry))).length

/**
 * All entries. With unique keys they are in the order they were added, else their keys are. Several partitions follow
 * one another.
 */
export const entries = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: RegistryTarget<K, V, P>
): ReadonlyArray<readonly [key: K, pid: P, value: V]> =>
  stateOf(registry)
    .entries()
    .map((entry) => [entry.key as K, entry.cell as Pid as P, entry.value as V])

/** The number of entries. */
export const count = (registry: Any): number => stateOf(registry).entries().length

/** A metadata value of a registry, which is lost with it; `undefined` if the key has none. */
export const meta = (registry: Any, key: unknown): unknown => stateOf(registry).meta.get(placeOf(key))

/** Stores a metadata value in a registry, in place of the previous one. */
export const putMeta = (registry: Any, key: unknown, value: unknown): void => {
  stateOf(registry).meta.set(placeOf(key), value)
}

/** Deletes a metadata value of a registry; returns whether there was one. */
export const deleteMeta = (registry: Any, key: unknown): boolean => stateOf(registry).meta.delete(placeOf(key))

/**
 * Runs a section of code of a process while no other section of the key runs; waiting sections run in order of arrival.
 *
 * **When to use**
 *
 * To look up a key and start a missing process, if the start takes time: two callers at once would both find none.
 *
 * **Details**
 *
 * Keys of locks are independent of keys of entries. A section ends when it fails or its process dies. If a process dies
 * while its section waits, the section never runs and its promise is abandoned.
 *
 * **Gotchas**
 *
 * A section that waits for a lock of the same key inside waits forever.
 */
export const lock = <A>(registry: Any, key: unknown, self: Pid, section: () => A | Promise<A>): Promise<A> =>
  stateOf(registry).locks.run(key, cellOf(self), section)

const uniqueOf = (registry: Pid | Name): RegistryState => {
  const state = stateOf(registry)
  if (state.keys === "unique") return state
  throw new TypeError(`the keys of ${state.self.label} are duplicate: a key is no name of one process there`)
}

/**
 * Makes the address of the process under a unique key, resolved at each use. A server started with it as `via` is
 * registered there, with a value. With an address of a registry it is valid after a restart of that too.
 *
 * **Errors**
 *
 * Throws a `TypeError` for a registry with duplicate keys.
 */
export const via = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: RegistryTarget<K, V, P>,
  key: NoInfer<K>,
  value?: NoInfer<V>
): Via<NoInfer<P>> => {
  const holder = (): P | undefined =>
    cellAt(registry) === undefined ? undefined : (uniqueOf(registry).holder(key) as Pid as P | undefined)
  holder()
  return {
    name: String(key),
    system: isName(registry) ? registry.system : cellOf(registry).kernel,
    whereis: holder,
    claim: (pid) => uniqueOf(registry).claim(key, cellOf(pid), value) ?? pid,
    toString: () => String(key)
  }
}
