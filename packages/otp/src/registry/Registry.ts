/**
 * Registries: processes found by keys.
 *
 * With unique keys a key leads to one process: a name that can be any value. With duplicate keys it leads to any number:
 * the subscribers of a topic.
 *
 * A registry is a process. Looking up and registering are synchronous and take no turn of it; it is there so that a
 * registry can be supervised, and so that its members end when it is lost: an entry nobody can find again must not live.
 * Members get the exit signal `shutdown` when the registry ends in order, and `killed` when it is killed.
 *
 * Keys compare by value, as in Elixir: `["chat", 42]` finds what was entered under another `["chat", 42]`. That holds for
 * primitives, arrays and plain objects, nested up to 100 levels, by their enumerable string keys. Pids, functions, symbols
 * and instances of classes equal only themselves. An array or object that is changed later does not move its entry.
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
import {
  type ChildSpec,
  type MessageOf,
  type OfKind,
  type Pid,
  placeOf,
  type System,
  type Target
} from "../core/index.ts"
import { type Cell, cellOf, type Kernel, kernelOf } from "../kernel/index.ts"
import type { Entry as TableEntry } from "./keyIndex.ts"
import { RegistryState, registryCallbacks } from "./registryServer.ts"
import type { RegistryPlan } from "./registryServer.ts"
import type { Keys as TableKeys } from "./registryTable.ts"
import { Server, startServer, type Via as KeyAddress } from "../server/index.ts"

declare const entry_: unique symbol

/**
 * A registry whose keys are of type `K`, the values of type `V`, and the pids of type `P`.
 *
 * **Details**
 *
 * `start` makes one of the types it is told: `Registry.start<RoomId, Topic, Room>(system)`. A plain `Pid` of a registry,
 * and a `Registry` without more, takes any.
 */
export interface Registry<in out K = unknown, in out V = unknown, in out P extends Pid = Pid<unknown>>
  extends Pid, OfKind<"registry"> {
  readonly [entry_]?: (entry: readonly [K, V, P]) => readonly [K, V, P]
}

/** The address of whoever is under a key, which a server can be started with. */
export type Via<P extends Pid = Pid> = KeyAddress<P>

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
 * What a listener is told: that an entry was made, or went.
 *
 * **Details**
 *
 * - `"Register"`: a process was entered.
 * - `"Unregister"`: an entry was taken out, or its process died.
 */
export interface Change {
  readonly _tag: "Register" | "Unregister"
  readonly registry: Pid
  readonly key: unknown
  readonly pid: Pid<unknown>
  readonly value: unknown
}

/**
 * How a registry is known, what its keys are, and who hears of its entries.
 *
 * **Details**
 *
 * With several `partitions` the entries are split over as many processes: by key if keys are unique, by process if they
 * are duplicate. Those of one are linked to it and end with it, not with the others; the registry starts it again, empty,
 * up to 3 times in 5 seconds. On one thread that is no gain in speed: it is a bound to what one loss costs.
 *
 * The `listeners` get a `Change` for every entry that is made or goes, while they live. `meta` is the metadata at the
 * start.
 *
 * **Units and defaults**
 *
 * `keys` is `"unique"`, `partitions` 1; `name` registers it, `label` is shown, by default the name, else `Registry`.
 */
export interface Options {
  readonly keys?: Keys
  readonly partitions?: number
  readonly listeners?: ReadonlyArray<Target<Change>>
  readonly meta?: Iterable<readonly [key: unknown, value: unknown]>
  readonly name?: string
  readonly label?: string
}

const launch = (kernel: Kernel, parent: Cell | undefined, options: Options = {}): Promise<Pid> => {
  const { partitions = 1, keys = "unique", listeners = [], meta = [] } = options
  const plan: RegistryPlan = { keys, partitions, listeners, meta }
  const label = options.label ?? options.name ?? "Registry"
  const name = options.name === undefined ? {} : { name: options.name }
  return startServer(kernel, parent, registryCallbacks, plan, { ...name, label, trapExit: true })
}

/** A registry of whatever entries. */
type Any = Pid & OfKind<"registry">

const stateOf = (registry: Pid): RegistryState => {
  const { behaviour } = cellOf(registry)
  if (behaviour instanceof Server && behaviour.state instanceof RegistryState) return behaviour.state
  throw new TypeError(`${registry.label} ${registry} is no registry: pass what Registry.start resolved with`)
}

/** Starts a registry that nobody is linked to. Rejects with `StartFailed`; its reason names an option that makes no sense. */
export const start = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  system: System,
  options?: Options
): Promise<Registry<K, V, P>> => launch(kernelOf(system), undefined, options)

/** Starts a registry linked to its parent, as `start` does. */
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

/** The outcome of a registration: `ok`, or who has the key. */
export type Registered<P extends Pid = Pid<unknown>> = { readonly ok: true } | { readonly ok: false; readonly pid: P }

/** A process under a key, and the value it was entered with. */
export interface Entry<out V = unknown, out P extends Pid = Pid<unknown>> {
  readonly pid: P
  readonly value: V
}

/** What may be entered: of a registry that knows no type, any process. */
type Member<P extends Pid> = unknown extends MessageOf<P> ? Pid : P

/** The value to enter, which may be left out where that is a value too. */
type Value<V> = undefined extends V ? [value?: V] : [value: V]

/**
 * Enters a process under a key, with a value, and links it to the registry.
 *
 * **Details**
 *
 * The entry goes when the process dies. A unique key that is taken, by the same process too, is refused with its holder.
 *
 * **Errors**
 *
 * Throws `CallExit` (`noproc`) if the registry is dead, or has lost the partition of the key and not started it again yet;
 * `OtherSystem` for a process of another system.
 *
 * **Gotchas**
 *
 * A dead process is not entered, and the answer names it as the holder.
 */
export const register = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: Registry<K, V, P>,
  key: NoInfer<K>,
  pid: Member<NoInfer<P>>,
  ...[value]: Value<NoInfer<V>>
): Registered<P> => {
  const holder = stateOf(registry).claim(key, cellOf(pid), value)
  return holder === undefined ? { ok: true } : { ok: false, pid: holder as Pid as P }
}

/** Takes a process out from under a key, as often as it is there; answers whether it was. */
export const unregister = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: Registry<K, V, P>,
  key: NoInfer<K>,
  pid: Pid
): boolean => unregisterMatch(registry, key, pid, () => true) > 0

/** Takes a process out from under a key where its value passes; answers how many entries that were. */
export const unregisterMatch = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: Registry<K, V, P>,
  key: NoInfer<K>,
  pid: Pid,
  passes: (value: V) => boolean
): number => {
  const place = placeOf(key)
  // As a map compares its keys: 0 is -0, and NaN is NaN.
  const isPlace = (other: unknown): boolean => other === place || Object.is(other, place)
  const matches = (entry: TableEntry): boolean => isPlace(entry.place) && passes(entry.value as V)
  return stateOf(registry)
    .tablesAt(place)
    .reduce((released, table) => released + table.release(cellOf(pid), matches), 0)
}

/** The living process under a key, the first of them if there are several. */
export const whereis = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: Registry<K, V, P>,
  key: NoInfer<K>
): P | undefined => stateOf(registry).holder(key) as Pid as P | undefined

const shown = <V, P extends Pid>(entry: TableEntry): Entry<V, P> => ({
  pid: entry.cell as Pid as P,
  value: entry.value as V
})

/** The entries under a key, in the order they were made; of several partitions, one after another. */
export const lookup = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: Registry<K, V, P>,
  key: NoInfer<K>
): ReadonlyArray<Entry<V, P>> =>
  stateOf(registry)
    .at(key)
    .map(shown<V, P>)

/** The values a process was entered with under a key. */
export const values = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: Registry<K, V, P>,
  key: NoInfer<K>,
  pid: Pid
): ReadonlyArray<V> =>
  stateOf(registry)
    .at(key)
    .filter((entry) => entry.cell === pid)
    .map((entry) => entry.value as V)

/** The keys of a process; a duplicate key comes as often as the process is under it. */
export const keys = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: Registry<K, V, P>,
  pid: Pid
): ReadonlyArray<K> =>
  stateOf(registry)
    .entriesOf(cellOf(pid))
    .map((entry) => entry.key as K)

/**
 * Changes the value of a process under a unique key; answers the new value and the one before, or `undefined` if the
 * process does not have the key.
 *
 * **Errors**
 *
 * Throws a `TypeError` for a registry with duplicate keys.
 */
export const update = <K = unknown, V = unknown, P extends Pid = Pid<unknown>, A extends V = V>(
  registry: Registry<K, V, P>,
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
 * Hands the entries under a key to a function, if there are any: publish and subscribe.
 *
 * **Details**
 *
 * With duplicate keys and several partitions the function runs once for each partition that has entries.
 *
 * **Concurrency**
 *
 * The function runs in the caller, now. The registry knows nothing of what it does.
 */
export const dispatch = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: Registry<K, V, P>,
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
  registry: Registry<K, V, P>,
  key: NoInfer<K>,
  passes: (value: V, pid: P) => boolean
): ReadonlyArray<Entry<V, P>> => lookup<K, V, P>(registry, key).filter(({ value, pid }) => passes(value, pid))

/** Counts the entries under a key whose value passes. */
export const countMatch = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: Registry<K, V, P>,
  key: NoInfer<K>,
  passes: (value: V, pid: P) => boolean
): number => match<K, V, P>(registry, key, passes).length

/** An entry with its key. */
export interface KeyedEntry<out K = unknown, out V = unknown, out P extends Pid = Pid<unknown>> extends Entry<V, P> {
  readonly key: K
}

const keyed = <K, V, P extends Pid>(entry: TableEntry): KeyedEntry<K, V, P> => ({
  key: entry.key as K,
  ...shown<V, P>(entry)
})

/**
 * Picks from all entries: what the function makes of each, but for those it answers `undefined` for.
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
  registry: Registry<K, V, P>,
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
  registry: Registry<K, V, P>,
  passes: (entry: KeyedEntry<K, V, P>) => boolean
): number =>
  stateOf(registry)
    .entries()
    .filter((entry) => passes(keyed(entry))).length

/**
 * All entries; with unique keys in the order they were made, else the keys in that order; of several partitions, one
 * after another.
 */
export const entries = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: Registry<K, V, P>
): ReadonlyArray<readonly [key: K, pid: P, value: V]> =>
  stateOf(registry)
    .entries()
    .map((entry) => [entry.key as K, entry.cell as Pid as P, entry.value as V])

/** How many entries there are. */
export const count = (registry: Any): number => stateOf(registry).entries().length

/** A value kept with a registry, and lost with it; `undefined` if there is none under this key. */
export const meta = (registry: Any, key: unknown): unknown => stateOf(registry).meta.get(placeOf(key))

/** Keeps a value with a registry, in place of the one before. */
export const putMeta = (registry: Any, key: unknown, value: unknown): void => {
  stateOf(registry).meta.set(placeOf(key), value)
}

/** Takes away a value kept with a registry; answers whether there was one. */
export const deleteMeta = (registry: Any, key: unknown): boolean => stateOf(registry).meta.delete(placeOf(key))

/**
 * Runs a section of code of a process while no other section of this key runs; they take turns in the order they came.
 *
 * **When to use**
 *
 * To look a key up and start what is missing, where the start takes time: two that come at once would both find nothing.
 *
 * **Details**
 *
 * Keys of locks and keys of entries have nothing to do with each other. A section that fails, or whose process dies, is
 * over. One that waits when its process dies never runs, and its promise is abandoned.
 *
 * **Gotchas**
 *
 * A section that waits for a lock of the same key inside waits for ever.
 */
export const lock = <A>(registry: Any, key: unknown, self: Pid, section: () => A | Promise<A>): Promise<A> =>
  stateOf(registry).locks.run(key, cellOf(self), section)

const uniqueOf = (registry: Pid): RegistryState => {
  const state = stateOf(registry)
  if (state.keys === "unique") return state
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
export const via = <K = unknown, V = unknown, P extends Pid = Pid<unknown>>(
  registry: Registry<K, V, P>,
  key: NoInfer<K>,
  value?: NoInfer<V>
): Via<NoInfer<P>> => {
  const state = uniqueOf(registry)
  return {
    name: String(key),
    system: cellOf(registry).kernel,
    whereis: () => state.holder(key) as Pid as P | undefined,
    claim: (pid) => state.claim(key, cellOf(pid), value) ?? pid,
    toString: () => String(key)
  }
}
