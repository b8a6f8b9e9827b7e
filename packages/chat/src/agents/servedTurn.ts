/**
 * The options of a running turn for the agent that each of its requests is of.
 *
 * Owns: the agent that the turn began with, and the options of another agent that serves it. Does not own which agent is next: the
 * chart passes its name.
 */
import type { RunOptions } from "../options/index.ts"

/** The environment of turns; without agents it has no such function. */
export interface ServesTurns<A extends { readonly options: RunOptions }> {
  /** The options of a turn for requests of another agent. `isFirst` is whether the turn began with that agent. */
  readonly optionsOf?: ((turn: A, agent: string | undefined, isFirst: boolean) => RunOptions) | undefined
}

export class ServedTurn<A extends { readonly options: RunOptions }> {
  readonly #home: ServesTurns<A>
  readonly #first: string | undefined
  #served: { readonly turn: A; readonly agent: string | undefined; readonly options: RunOptions } | undefined

  /** `first` is the agent that the turn began with. */
  constructor(home: ServesTurns<A>, first: string | undefined) {
    this.#home = home
    this.#first = first
  }

  /** The options of the turn for requests of this agent. */
  options(turn: A, agent: string | undefined): RunOptions {
    if (agent === turn.options.agent) return turn.options
    if (this.#served?.turn !== turn || this.#served.agent !== agent) {
      const options = this.#home.optionsOf?.(turn, agent, agent === this.#first) ?? turn.options
      this.#served = { turn, agent, options }
    }
    return this.#served.options
  }
}
