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
import { Process } from "@troupe/otp"
import type { GenServer, Pid } from "@troupe/otp"
import * as Effect from "effect/Effect"
import { list, text } from "../runner/json.ts"
import type { Json } from "../runner/json.ts"
import { type CaseWorld, NotSupported } from "./caseWorld.ts"

/** The implementation of a verb; its result is the value of the step. */
export type Verb = (actor: Actor, args: ReadonlyArray<Json>) => Effect.Effect<unknown, unknown>

/** Verbs by name. */
export type Verbs = Readonly<Record<string, Verb>>

/** A run of a case whose steps use this vocabulary. */
export type World = CaseWorld<Verbs>

/** A verb that does not wait. */
export const now =
  (run: (actor: Actor, args: ReadonlyArray<Json>) => unknown): Verb =>
  (actor, args) =>
    Effect.sync(() => run(actor, args))

/** A promise as a part of a step; its rejection ends the step. */
export const wait = <A>(run: () => Promise<A>): Effect.Effect<A, unknown> =>
  Effect.callback((resume) => {
    const begin = async (): Promise<A> => run()
    begin().then(
      (value) => resume(Effect.succeed(value)),
      (error: unknown) => resume(Effect.fail(error))
    )
  })

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

/** Steps that read only their own process. */
const local: ReadonlySet<string> = new Set([
  "flush",
  "links",
  "note",
  "note_msg",
  "pdict_get",
  "pdict_put",
  "trap_exit",
  "set",
  "add"
])

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

  observe(...entry: ReadonlyArray<unknown>): void {
    this.world.observe(this.self, entry)
  }

  /** Sends a signal off. */
  signal(target: Pid, reason: unknown): void {
    const arrive = (): void => void Process.exit(target, reason, this.self)
    if (target === this.self) arrive()
    else this.#onTheWay.push(arrive)
  }

  perform(step: Json): Effect.Effect<unknown, unknown> {
    return Effect.suspend(() => {
      const [name, ...args] = list(step)
      const verb = this.world.vocabulary[text(name)]
      if (verb === undefined) return this.#refuse(text(name))
      if (!local.has(text(name))) this.#land()
      const before = Process.isAlive(this.self)
      const goesOn = (): boolean => !before || Process.isAlive(this.self)
      return verb(this, args).pipe(Effect.flatMap((value) => (goesOn() ? Effect.succeed(value) : Effect.never)))
    })
  }

  /** Runs steps in order, and returns the value of the last one. */
  script(steps: Json | undefined): Effect.Effect<unknown, unknown> {
    const perform = (step: Json) => this.perform(step)
    return Effect.forEach(list(steps ?? []), perform).pipe(
      Effect.tap(() => Effect.sync(() => this.#land())),
      Effect.map((values) => values.at(-1))
    )
  }

  #land(): void {
    for (const arrive of this.#onTheWay.splice(0)) arrive()
  }

  #refuse(verb: string): Effect.Effect<never> {
    this.world.problem ??= new NotSupported(verb)
    return Effect.never
  }
}
