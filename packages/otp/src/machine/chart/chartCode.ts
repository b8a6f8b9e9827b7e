/**
 * The functions of a machine's configuration, as a table calls them.
 *
 * STRICT1. Strict code gets a frozen context and event. Reading `self` or `system` throws, and so does passing on the
 *          context itself, which later transitions of a hosted chart would change.
 */
import type { Args, Context, Resolve } from "./chartStep.ts"

/** How a table calls the functions of a configuration. */
export interface ChartCode {
  /** A value, or a function of the arguments. */
  readonly resolver: (value: unknown) => Resolve
  /** The same for an output, which may contain the context: no transition follows it. */
  readonly output: (value: unknown) => Resolve
  /** The function that computes the changes of an `assign`. */
  readonly update: (assignment: unknown) => (args: Args, params: unknown) => Context
  readonly guard: (guard: unknown) => (args: Args, params: unknown) => boolean
}

type Call = (args: Args, params: unknown) => unknown

const codeOf = (call: (run: Call, mayShare: boolean) => Call): ChartCode => {
  const resolving = (value: unknown, mayShare: boolean): Resolve =>
    typeof value === "function" ? call(value as Call, mayShare) : () => value
  return {
    resolver: (value) => resolving(value, false),
    output: (value) => resolving(value, true),
    guard: (guard) => call(guard as Call, true) as (args: Args, params: unknown) => boolean,
    update: (assignment) => {
      if (typeof assignment === "function") return call(assignment as Call, true) as ReturnType<ChartCode["update"]>
      const entries = Object.entries(assignment as object).map(([key, value]) => [key, resolving(value, true)] as const)
      return (args, params) => {
        const changes: Record<string, unknown> = {}
        for (const [key, resolve] of entries) changes[key] = resolve(args, params)
        return changes
      }
    }
  }
}

/** Calls the functions as they are. */
export const plainCode = codeOf((run) => run)

/** Freezes data at every depth. */
const freeze = <A>(value: A): A => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const inner of Object.values(value)) freeze(inner)
  return value
}

const absent = (name: string): PropertyDescriptor => ({
  get: () => {
    throw new TypeError(`The code of a hosted machine has no ${name}`)
  }
})

const absences = { self: absent("self"), system: absent("system"), spawn: absent("spawn") }

/** Whether a value is the context, or has it as a property. */
const shares = (value: unknown, context: Context): boolean =>
  value === context || (typeof value === "object" && value !== null && Object.values(value).includes(context))

/** Arguments whose `self`, `system` and `spawn` throw (STRICT1). */
export const strictArgs = <A extends object>(args: A): A => Object.defineProperties(args, absences)

/** Calls the functions with checks (STRICT1). */
export const strictCode = codeOf((run, mayShare) => (args, params) => {
  const { context } = args
  const result = run(strictArgs({ context: freeze(context), event: freeze(args.event) }), freeze(params))
  if (!mayShare && shares(result, context)) {
    throw new TypeError("The code of a hosted machine passes on its context: pass the fields that are needed")
  }
  return result
})
