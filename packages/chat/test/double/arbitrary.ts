/** Random plain values, outcomes and errors, and how others are made of them. */
import { Arbitrary, DateTime, Schema } from "effect"
import {
  AdapterError,
  EngineError,
  SessionError,
  StreamError,
  ToolError,
  ValidationError
} from "../../src/errors/ChatError.ts"
import { askUser, error, halt, type HandlerResult, ok } from "../../src/values/HandlerResult.ts"

/** Makes values at random. */
export type Gen<A> = Arbitrary.Arbitrary<A>

const between = (minimum: number, maximum: number): Gen<number> =>
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum, maximum })))

export const oneOf = <const A>(...values: ReadonlyArray<A>): Gen<A> =>
  Arbitrary.map(between(0, values.length - 1), (index) => values[index] as A)

export const choice = <A>(...options: ReadonlyArray<Gen<A>>): Gen<A> =>
  Arbitrary.flatMap(between(0, options.length - 1), (index) => options[index] as Gen<A>)

export const list = <A>(item: Gen<A>, maxLength = 3): Gen<Array<A>> => Arbitrary.array(item, { maxLength })

type Fields<T> = { readonly [K in keyof T]-?: Gen<T[K]> }

/** An object of these fields. Those named may be missing. */
export const fields = <T extends object>(all: Fields<T>, ...optional: ReadonlyArray<keyof T & string>): Gen<T> =>
  Arbitrary.map(
    Arbitrary.all({
      made: Arbitrary.all(all as Record<string, Gen<unknown>>),
      there: optional.length === 0 ? Arbitrary.Constant([]) : list(oneOf(...optional), 9)
    }),
    ({ made, there }) =>
      Object.fromEntries(
        Object.entries(made).filter(([key]) => !optional.some((one) => one === key) || there.includes(key as never))
      ) as T
  )

export const text: Gen<string> = choice(
  Arbitrary.schema(Schema.String),
  oneOf("", "é", "\ud83d", "line\nbreak", "$date")
)
export const count: Gen<number> = between(0, 1e6)
export const flag: Gen<boolean> = oneOf(true, false)
/**
 * A key. None begins with a backslash: V8's `JSON.parse` takes a later key of the same place that is written with an
 * escape for it.
 */
const key: Gen<string> = Arbitrary.filter(
  choice(text, oneOf("$date", "$object", "$error", "__proto__", "toJSON")),
  (name) => !name.startsWith("\\")
)

/** JavaScript's date of a time. */
export const dateOf = (time: number | string): Date => DateTime.toDateUtc(DateTime.makeUnsafe(time))

const leaf: Gen<unknown> = choice<unknown>(
  text,
  Arbitrary.schema(Schema.Finite),
  oneOf<unknown>(null, true, false, Number.NaN, Number.POSITIVE_INFINITY, -0, 2n ** 70n, -1n),
  oneOf<unknown>(dateOf(0), dateOf("2024-02-29T23:59:59.999Z"), new Uint8Array([0, 128, 255]), new Uint8Array())
)

export const mapOf = (value: Gen<unknown>): Gen<Record<string, unknown>> =>
  Arbitrary.map(list(Arbitrary.all([key, value])), (entries) => Object.fromEntries(entries))

export const outcomeOf = (value: Gen<unknown>): Gen<HandlerResult> =>
  choice<HandlerResult>(
    Arbitrary.map(choice(value, oneOf(undefined)), ok),
    Arbitrary.map(value, error),
    Arbitrary.map(Arbitrary.all([text, mapOf(value)]), ([question, options]) => askUser(question, options)),
    Arbitrary.map(Arbitrary.all([text, value]), ([reason, result]) => halt(reason, result))
  )

const natives = [Error, TypeError, RangeError, SyntaxError]

const foreignOf = (cause: Gen<unknown>): Gen<Error> =>
  choice<Error>(
    Arbitrary.map(
      Arbitrary.all([oneOf(...natives), text, cause]),
      ([type, message, because]) => new type(message, because === undefined ? {} : { cause: because })
    ),
    Arbitrary.map(text, (message) => Object.assign(new Error(message), { name: "APICallError" })),
    Arbitrary.map(list(cause), (errors) => new AggregateError(errors, "all"))
  )

/** Any value, down to a depth. */
export const valueOf = (depth: number): Gen<unknown> => {
  if (depth === 0) return leaf
  const inner = valueOf(depth - 1)
  return choice<unknown>(
    leaf,
    list(choice(inner, oneOf(undefined))),
    mapOf(inner),
    outcomeOf(inner),
    foreignOf(inner),
    ours(inner)
  )
}

const reasonsOf = <R extends string>({ reasons }: { readonly reasons: ReadonlyArray<R> }): Gen<R> => oneOf(...reasons)

export const errorsOf = (inner: Gen<unknown>) => {
  const common = { message: text, metadata: mapOf(inner), cause: inner }
  const built = <A extends object, E>(
    all: Fields<A>,
    optional: ReadonlyArray<keyof A & string>,
    from: (made: A) => E
  ) => Arbitrary.map(fields<A>(all, "message" as never, "metadata" as never, "cause" as never, ...optional), from)
  return {
    AdapterError: built(
      {
        ...common,
        reason: reasonsOf(AdapterError),
        provider: text,
        status: count,
        retryAfterMs: count,
        requestId: text
      },
      ["provider", "status", "retryAfterMs", "requestId"],
      (made) => new AdapterError(made.reason, made)
    ),
    EngineError: built(
      { ...common, reason: reasonsOf(EngineError), provider: text },
      ["provider"],
      (made) => new EngineError(made.reason, made)
    ),
    StreamError: built(
      { ...common, reason: reasonsOf(StreamError), provider: text, eventIndex: count },
      ["provider", "eventIndex"],
      (made) => new StreamError(made.reason, made)
    ),
    ToolError: built(
      { ...common, reason: reasonsOf(ToolError), toolName: text, toolCallId: text },
      ["toolName", "toolCallId"],
      (made) => new ToolError(made.reason, made)
    ),
    ValidationError: built(
      {
        ...common,
        reason: reasonsOf(ValidationError),
        errors: list(fields({ field: list(choice<string | number>(text, count)), reason: text }))
      },
      [],
      (made) => new ValidationError(made.reason, made.errors, made)
    ),
    SessionError: built({ ...common, reason: reasonsOf(SessionError) }, [], (made) => {
      const { message, ...rest } = made
      return new SessionError(made.reason, message ?? "", rest)
    })
  }
}

const ours = (inner: Gen<unknown>): Gen<Error> => choice<Error>(...Object.values(errorsOf(inner)))

export const anything = valueOf(2)
