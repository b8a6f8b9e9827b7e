/** Checks of unknown values: type guards, the types of options, and the environment that a machine needs. */
import { EngineError } from "./ChatError.ts"
import * as z from "zod"
import type { Finding } from "./ChatError.ts"
import { unknownName } from "./unknownKeys.ts"

export const isObject = (value: unknown): value is object => typeof value === "object" && value !== null

export const isRecord = (value: unknown): value is Record<string, unknown> => isObject(value) && !Array.isArray(value)

/** The environment; throws an `EngineError` (`invalid_engine`) when the chart was started without one. */
export const boundEnvironment = <Env>(env: Env | undefined): Env => {
  if (env !== undefined) return env
  throw new EngineError("invalid_engine", {
    message:
      "This machine has no engine. For a chat write createActor(provide(engine)), and for another machine " +
      "createActor(bind(machine, environment(engine))); import { bind, environment, provide } from " +
      '"@troupe/chat/machines"'
  })
}

/** Whether a value is a number of milliseconds: 0 or more, `Infinity` too. */
export const isMilliseconds = (value: unknown): value is number => typeof value === "number" && value >= 0

export const milliseconds: z.ZodType = z.custom(isMilliseconds, "must_be_milliseconds")
export const positiveInteger: z.ZodType = z.custom(
  (value) => Number.isInteger(value) && Number(value) > 0,
  "must_be_a_positive_integer"
)
/** A bound that may be left open. */
export const countFrom1: z.ZodType = z.custom(
  (value) => value === Infinity || (Number.isSafeInteger(value) && Number(value) > 0),
  "must be a whole number, 1 or more, or Infinity"
)
export const wholeNumber: z.ZodType = z.custom(
  (value) => Number.isInteger(value) && Number(value) >= 0,
  "must_be_a_whole_number"
)
export const text: z.ZodType = z.string("must_be_a_string")
export const numeric: z.ZodType = z.custom((value) => typeof value === "number", "must_be_a_number")
export const flag: z.ZodType = z.boolean("must_be_a_boolean")
export const functionType: z.ZodType = z.custom((value) => typeof value === "function", "must_be_a_function")

/** A function that requires at most as many parameters as it gets; JavaScript may leave parameters out. */
export const functionOf = (parameters: number, what: string): z.ZodType =>
  z.custom((value) => typeof value === "function" && value.length <= parameters, `must_be_a_function of ${what}`)

export const dictionary: z.ZodType = z.custom(isRecord, "must_be_an_object of names and values")

/** One word of a closed set. */
export const wordOf = (...words: ReadonlyArray<string>): z.ZodType =>
  z.enum(words as [string, ...Array<string>], `must_be_one_of ${words.join(", ")}`)

/** An object with these methods. */
export const having = (what: string, ...methods: ReadonlyArray<string>): z.ZodType =>
  z.custom(
    (value) => isObject(value) && methods.every((method) => typeof Reflect.get(value, method) === "function"),
    `must_be ${what}`
  )

/** Reports the issues of a value at a place below the checked value. */
const reportBelow = (
  context: z.RefinementCtx,
  path: ReadonlyArray<PropertyKey>,
  error: z.ZodError | undefined
): void => {
  for (const issue of error?.issues ?? []) {
    context.addIssue({ code: "custom", message: issue.message, path: [...path, ...issue.path] })
  }
}

/** Either this constant or a value of the type. A union would hide the paths inside the value. */
export const either = (constant: unknown, type: z.ZodType): z.ZodType =>
  z.unknown().superRefine((value, context) => {
    if (value !== constant) reportBelow(context, [], type.safeParse(value).error)
  })

/** A type that reports its own messages for inner values; `what` describes the expected value as a whole. */
export const described = (type: z.ZodType, what: string): z.ZodType =>
  z.unknown().superRefine((value, context) => {
    const { error } = type.safeParse(value)
    if (error === undefined) return
    if (error.issues.some(({ path }) => path.length > 0)) reportBelow(context, [], error)
    else context.addIssue({ code: "custom", message: `must_be ${what}` })
  })

/** A strict object. The findings about an unknown name, or about a value that is no object, list the known names. */
export const partsOf = (shape: z.ZodRawShape): z.ZodType => {
  const names = Object.keys(shape).join(", ")
  return z.custom(isRecord, `must_be_an_object of ${names}`).superRefine((value, context) => {
    if (!isRecord(value)) return
    for (const [name, given] of Object.entries(value)) {
      const type = Object.hasOwn(shape, name) ? shape[name] : undefined
      if (type === undefined) {
        context.addIssue({ code: "custom", message: `unknown; use ${names}`, path: [name] })
      } else reportBelow(context, [name], z.safeParse(type, given).error)
    }
  })
}

/** The names of the strict object at this place of a type; none where the place is below a list or a record. */
const namesAt = (type: unknown, path: ReadonlyArray<string | number>): ReadonlyArray<string> => {
  if (type instanceof z.ZodOptional || type instanceof z.ZodLazy) return namesAt(type.unwrap(), path)
  if (!(type instanceof z.ZodObject)) return []
  const [first, ...rest] = path
  return first === undefined ? Object.keys(type.shape) : namesAt(type.shape[first], rest)
}

/** Whether the parts of an object are all there is to check: it has no check of the whole, and refuses other names or drops them. */
const hasOnlyParts = (type: z.ZodType): type is z.ZodObject => {
  if (!(type instanceof z.ZodObject) || (type.def.checks ?? []).length > 0) return false
  return type.def.catchall === undefined || type.def.catchall instanceof z.ZodNever
}

/**
 * The issues of a value. Of an object, only the parts that are given or required are checked: a program gives few options, and to check
 * the whole object, zod compiles a function for all of them. An object with a check of the whole is checked by zod.
 */
const issuesOf = (type: z.ZodType, value: unknown): ReadonlyArray<z.core.$ZodIssue> => {
  if (!hasOnlyParts(type) || !isRecord(value)) return type.safeParse(value).error?.issues ?? []
  const shape: Readonly<Record<string, z.core.$ZodType>> = type.shape
  const issues: Array<z.core.$ZodIssue> = []
  for (const name in shape) {
    const part = shape[name]
    if (part === undefined || (value[name] === undefined && part instanceof z.ZodOptional)) continue
    for (const issue of z.safeParse(part, value[name]).error?.issues ?? [])
      issues.push({ ...issue, path: [name, ...issue.path] })
  }
  const keys = type.def.catchall === undefined ? [] : Object.keys(value).filter((name) => !Object.hasOwn(shape, name))
  return keys.length === 0
    ? issues
    : [...issues, { code: "unrecognized_keys", keys, path: [], message: "", input: value }]
}

/**
 * The findings about a value of this type, unknown names first. `unknown` returns the reason of a finding about a name
 * that a strict object does not have. Without one, the reason names the closest name of that object.
 */
export const findingsFor = (
  type: z.ZodType,
  value: unknown,
  unknown: (name: string) => string | undefined = () => undefined
): ReadonlyArray<Finding> => {
  const found: Array<Finding> = []
  const unknownNames: Array<Finding> = []
  for (const issue of issuesOf(type, value)) {
    const path = issue.path.map((place) => (typeof place === "number" ? place : String(place)))
    if (issue.code === "unrecognized_keys") {
      const names = namesAt(type, path)
      const reasonOf = (name: string): string => unknown(name) ?? unknownName(name, names)
      unknownNames.push(...issue.keys.map((name) => ({ field: [...path, name], reason: reasonOf(name) })))
    } else found.push({ field: path, reason: issue.message })
  }
  return [...unknownNames, ...found]
}
