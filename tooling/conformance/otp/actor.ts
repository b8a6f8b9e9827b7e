/**
 * A process of a case, while it runs steps.
 *
 * Owns: the exit signals that it sent and that have not arrived.
 *
 * ACT1. Steps run one after another without a pause until one waits: a process is not interrupted by those it spawns.
 * ACT2. A signal to another process takes time. It arrives before the sender's next step, unless that step reads only the
 *       sender itself.
 * ACT3. A process that one of its own steps ended runs no further step. Steps that it scheduled for after its end still
 *       run.
 */
import { type GenServer, type Name, OtpError, type Pid, Process, type Task } from "@troupe/otp"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Read from "../runner/json.ts"
import { type Json, tablesIn } from "../runner/json.ts"
import { NotRun } from "../runner/suite.ts"
import { type CaseWorld, NotStarted } from "./caseWorld.ts"
import { decodeReason, refusal } from "./terms.ts"

/** The implementation of a verb; its result is the value of the step. */
export type Verb = (actor: Actor, args: ReadonlyArray<Json>) => Effect.Effect<unknown, unknown>

/** Verbs by name. */
export type Verbs = Readonly<Record<string, Verb>>

/** A run of a case whose steps use this vocabulary. */
export type World = CaseWorld<Verbs>

/** Reads an argument of a step. */
type Reader<A> = (value: Json | undefined, world: World) => A

/** The readers of arguments, by what an argument is. */
export const arg = {
  raw: (value: Json | undefined) => value,
  text: (value: Json | undefined) => Read.text(value),
  number: (value: Json | undefined) => Read.number(value),
  /** A number of milliseconds, or `infinity`; a missing one is the default of the call. */
  time: (value: Json | undefined) => (value === "infinity" ? value : Read.optional(Read.number, value)),
  term: (value: Json | undefined, world: World) => world.decode(value),
  reason: (value: Json | undefined, world: World) => decodeReason(world, value ?? "normal"),
  pid: (value: Json | undefined, world: World) => world.pid(Read.text(value)),
  name: (value: Json | undefined, world: World): Name => Process.named(world.system, Read.text(value)),
  task: (value: Json | undefined, world: World): Task.Task<unknown> => world.task(Read.text(value)),
  tasks: (value: Json | undefined, world: World): ReadonlyArray<Task.Task<unknown>> =>
    Read.list(value).map((name) => world.task(Read.text(name)))
} as const

type Arguments<R extends ReadonlyArray<Reader<unknown>>> = { readonly [K in keyof R]: ReturnType<R[K]> }

type Call<R extends ReadonlyArray<Reader<unknown>>> = (actor: Actor, ...values: Arguments<R>) => unknown

/** A verb that observes nothing: its arguments, and the call, which returns a value, a promise or an effect. */
export const act =
  <const R extends ReadonlyArray<Reader<unknown>>>(reads: R, call: Call<R>): Verb =>
  (actor, args) =>
    Effect.suspend(() => {
      const values = reads.map((read, place) => read(args[place], actor.world))
      return lifted(call(actor, ...(values as ReadonlyArray<unknown> as Arguments<R>)))
    })

/** The result of a start or a request that was refused, in OTP's form. */
const refused = (world: World, error: unknown): unknown => {
  if (error instanceof OtpError.StartIgnored) return "ignore"
  if (error instanceof OtpError.StartFailed) return ["error", error.reason]
  return error instanceof OtpError.ChildRefused ? ["error", refusal(world, error)] : undefined
}

const observing =
  (toValue: (result: unknown) => unknown, refusalOf = (_world: World, _error: unknown): unknown => undefined) =>
  <const R extends ReadonlyArray<Reader<unknown>>>(observed: string, reads: R, call: Call<R>): Verb => {
    const [word, ...places] = observed.split(" ")
    const run = act(reads, call)
    return (actor, args) =>
      run(actor, args).pipe(
        Effect.map(toValue),
        Effect.catchCause((cause) => {
          const value = refusalOf(actor.world, Cause.squash(cause))
          return value === undefined ? Effect.failCause(cause) : Effect.succeed(value)
        }),
        Effect.map((value) => actor.observe(word, ...places.map((place) => args[Number(place)]), value))
      )
  }

/** A verb that observes a word, the arguments at these places, and the result: `info 0 1`. */
export const verb = observing((result) => result)

/** A verb that observes a word, the arguments at these places, and `ok` or a refusal. */
export const confirm = observing(() => "ok", refused)

const starting = observing((pid) => ["ok", pid ?? "undefined"], refused)

/**
 * A verb that starts a process, and observes a word, the arguments at these places, and the process or a refusal. The process goes on
 * before its starter does.
 */
export const begin = <const R extends ReadonlyArray<Reader<unknown>>>(
  observed: string,
  reads: R,
  call: Call<R>
): Verb => starting(observed, reads, async (actor, ...values) => call(actor, ...values))

const isStep = (value: unknown): value is Effect.Effect<unknown, unknown> => Effect.isEffect(value)

/** The result of a call as a step; the rejection of a promise ends the step. */
const lifted = (result: unknown): Effect.Effect<unknown, unknown> => {
  if (isStep(result)) return result
  if (!(result instanceof Promise)) return Effect.succeed(result)
  // A promise of a case rejects with any value, which the case observes.
  // @effect-diagnostics-next-line unknownInEffectCatch:off
  return Effect.tryPromise({ try: (): Promise<unknown> => result, catch: (error) => error })
}

/** The value a task's script returns. */
export class Returned {
  readonly value: unknown
  constructor(value: unknown) {
    this.value = value
  }
}

/** The turn of a server's handler. */
export interface Turn {
  readonly message: unknown
  readonly from?: GenServer.From<unknown>
  readonly state: { value: Json }
}

/** Verbs under further names. */
const { synonyms } = tablesIn("words.json", import.meta.url) as {
  readonly synonyms: Readonly<Record<string, string>>
}

/** Steps that read only their own process. */
const local: ReadonlySet<string> = new Set("flush links note note_msg pdict_get pdict_put trap_exit set add".split(" "))

export class Actor {
  readonly world: World
  readonly self: Pid<unknown>
  readonly turn: Turn | undefined
  #onTheWay: Array<() => void> = []

  constructor(world: World, self: Pid<unknown>, turn?: Turn) {
    this.world = world
    this.self = self
    this.turn = turn
  }

  /** Records an observation, and returns its last value. */
  observe(...entry: ReadonlyArray<unknown>): unknown {
    this.world.observe(this.self, entry)
    return entry.at(-1)
  }

  /** The turn of the server that runs this step. */
  get handling(): Turn {
    if (this.turn === undefined) throw new TypeError("this step belongs into the handler of a server")
    return this.turn
  }

  /** Sends a signal off. */
  signal(target: Pid, reason: unknown): void {
    const arrive = (): void => void Process.exit(target, reason, this.self)
    if (target === this.self) arrive()
    else this.#onTheWay.push(arrive)
  }

  perform(step: Json): Effect.Effect<unknown, unknown> {
    return Effect.suspend(() => {
      const [word, ...args] = Read.list(step)
      const name = Read.text(word)
      const found = this.world.vocabulary[synonyms[name] ?? name]
      if (found === undefined) return this.#refuse(name)
      if (!local.has(name)) this.#land()
      const before = Process.isAlive(this.self)
      const goesOn = (): boolean => !before || Process.isAlive(this.self)
      return found(this, args).pipe(
        Effect.catchDefect((error) =>
          error instanceof NotStarted ? Effect.andThen(Effect.sleep(1), this.perform(step)) : Effect.die(error)
        ),
        Effect.flatMap((value) => (goesOn() ? Effect.succeed(value) : Effect.never))
      )
    })
  }

  /** Runs steps in order, and returns the value of the last one. */
  script(steps: Json | undefined): Effect.Effect<unknown, unknown> {
    const perform = (step: Json) => this.perform(step)
    return Effect.forEach(Read.list(steps ?? []), perform).pipe(
      Effect.tap(() => Effect.sync(() => this.#land())),
      Effect.map((values) => values.at(-1))
    )
  }

  #land(): void {
    for (const arrive of this.#onTheWay.splice(0)) arrive()
  }

  #refuse(name: string): Effect.Effect<never> {
    this.world.problem ??= new NotRun(`the step ${name}`)
    return Effect.never
  }
}
