/**
 * One run of one case: its system, its names, and its observations.
 *
 * WORLD1. The first process started under a name has it as its label, its later incarnations `name#2`, `name#3`. A step's
 *         name refers to the newest.
 * WORLD2. Observations are recorded in the case file's form, at the moment they happen.
 */
import { Clock, Process, System } from "@troupe/otp"
import type { GenServer, Pid, Task } from "@troupe/otp"
import type { Json, JsonObject } from "../runner/json.ts"
import type { ClockKind } from "../runner/suite.ts"
import { decode, encode } from "./terms.ts"

const keyOf = <K>(map: ReadonlyMap<K, unknown>, value: unknown): K | undefined =>
  [...map].find(([, found]) => found === value)?.[0]

const named = <A>(map: ReadonlyMap<string, A>, name: string): A => {
  const found = map.get(name)
  if (found === undefined) throw new TypeError(`nothing was called ${name}`)
  return found
}

/** A name of a process that is started later. */
export class NotStarted extends TypeError {}

/** `V` is the vocabulary of its actors. */
export class CaseWorld<V> {
  readonly clock: Clock.Clock
  readonly system: System.System
  readonly given: JsonObject
  readonly vocabulary: V
  readonly observations = new Map<string, Array<Json>>()
  readonly trace: Array<Json> = []
  readonly exits = new Map<string, Json>()
  /** Monitors, timers and tasks, by their names in the script. */
  readonly refs = new Map<string, object>()
  readonly aliases = new Map<string, Process.Alias<unknown>>()
  readonly tasks = new Map<string, Task.Task<unknown>>()
  /** Callers that a server replies to later. */
  readonly stashed = new Map<string, GenServer.From<unknown>>()
  /** The number of starts of each server. */
  readonly starts = new Map<string, number>()
  readonly dictionaries = new WeakMap<Pid, Map<string, Json>>()
  /** What happened to the tasks of streams, in order. */
  readonly stream: Array<readonly [mark: "pulled" | "started" | "ended" | "completed" | "consumed", value: Json]> = []
  problem: Error | undefined = undefined
  readonly #labels = new Map<unknown, string>()
  readonly #incarnations = new Map<string, Array<Pid<unknown>>>()

  constructor(given: JsonObject, clock: ClockKind, vocabulary: V) {
    this.given = given
    this.vocabulary = vocabulary
    this.clock = clock === "virtual" ? Clock.test() : Clock.live
    this.system = System.make({ clock: this.clock })
  }

  /** Gives a process its label, when it has none yet. */
  adopt(name: string, pid: Pid): void {
    if (this.#labels.has(pid)) return
    const incarnations = this.#incarnations.get(name) ?? []
    incarnations.push(pid as Pid<unknown>)
    this.#incarnations.set(name, incarnations)
    const label = incarnations.length === 1 ? name : `${name}#${incarnations.length}`
    this.#labels.set(pid, label)
    Process.onExit(pid, (reason) => this.exits.set(label, this.encode(reason)))
  }

  /** Runs a function that starts a process synchronously, and labels the process. */
  born<A>(name: string, start: () => A): A {
    const newest = (): Pid | undefined => [...System.processes(this.system)].at(-1)
    const before = newest()?.id ?? 0
    const result = start()
    const made = newest()
    if (made !== undefined && made.id > before) this.adopt(name, made)
    return result
  }

  labelOf(pid: unknown): string | undefined {
    return this.#labels.get(pid)
  }

  pid(name: string): Pid<unknown> {
    const pid = this.#incarnations.get(name)?.at(-1) ?? (keyOf(this.#labels, name) as Pid<unknown> | undefined)
    if (pid === undefined) throw new NotStarted(`no process was started as ${name}`)
    return pid
  }

  incarnations(name: string): number {
    return this.#incarnations.get(name)?.length ?? 0
  }

  ref(name: string): object {
    return named(this.refs, name)
  }

  task(name: string): Task.Task<unknown> {
    return named(this.tasks, name)
  }

  refName(ref: unknown): string | undefined {
    return keyOf(this.refs, ref)
  }

  encode(value: unknown): Json {
    return encode(this, value)
  }

  decode(value: Json | undefined, state?: Json): unknown {
    return decode(this, value, state)
  }

  observe(pid: Pid, entry: ReadonlyArray<unknown>): void {
    const label = this.#labels.get(pid) ?? "?"
    const observed = this.observations.get(label) ?? []
    observed.push(entry.map((value) => this.encode(value)))
    this.observations.set(label, observed)
  }

  note(pid: Pid, ...event: ReadonlyArray<unknown>): void {
    this.trace.push([this.#labels.get(pid) ?? "?", ...event.map((value) => this.encode(value))])
  }

  /** The labels of the live processes, without the script's own process. */
  alive(): ReadonlyArray<string> {
    const living = [...this.#labels].filter(([pid]) => Process.isAlive(pid as Pid))
    return living.map(([, label]) => label).filter((label) => label !== "main")
  }
}
