/** The data that a client of AG-UI shares with its agent, as a value in the `context` of a turn. */
import type { SharedState } from "./sharedState.ts"

/** A value that a client provides, and what it is. */
export interface ContextEntry {
  /** What the value is. */
  readonly description: string
  /** The value, as a text. */
  readonly value: string
}

/**
 * The data that a client sent with a run, and the state that it shares.
 *
 * **Gotchas**: the values are the client's. Check them before you use them for a decision. A tool of `@troupe/isolate` reads
 * `context.agUi`, which has the values without `setState`.
 */
export interface Shared {
  /** The present state; `undefined` if there is none. */
  readonly state: unknown
  /** The entries of the run's `context`. */
  readonly context: ReadonlyArray<ContextEntry>
  /** The `forwardedProps` of the run, which the model does not get. */
  readonly forwardedProps: unknown
  /**
   * Sets the state. The clients that read the conversation get the change, as `STATE_SNAPSHOT` or `STATE_DELTA`.
   *
   * **Errors**: throws a `ValidationError` (`invalid_options`) for a state without a JSON form, or with more characters than a
   * message may have.
   */
  readonly setState: (state: unknown) => void
}

/** The name of the data in a turn's `context`. */
export const key = "agUi"

/** Whether a value is the data of a run, with its `setState`. A copy in a worker has none. */
export const isShared = (value: unknown): value is Shared =>
  typeof value === "object" && value !== null && "setState" in value && typeof value.setState === "function"

/** Makes the data of a run. The values are plain data; `setState` is not one of them. */
export const make = (
  shared: SharedState,
  { context, forwardedProps }: Pick<Shared, "context" | "forwardedProps">,
  mostCharacters: number
): Shared => {
  const values = {
    get state(): unknown {
      return shared.value
    },
    context,
    forwardedProps
  }
  const setState = (state: unknown): void => shared.set(state, mostCharacters)
  return Object.defineProperty(values, "setState", { value: setState, enumerable: false }) as Shared
}
