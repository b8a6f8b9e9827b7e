/** Converts errors to data and back. */
import { AdapterError, EngineError, SessionError, StreamError, ToolError, ValidationError } from "../errors/index.ts"
import { ErrorData } from "./ErrorData.ts"

const ours = [AdapterError, EngineError, StreamError, ToolError, ValidationError, SessionError]

const isOurs = (error: Error): error is InstanceType<(typeof ours)[number]> =>
  ours.some((type) => error instanceof type)

const foreign: Readonly<Record<string, (message: string, options: ErrorOptions) => Error>> = {
  Error: (message, options) => new Error(message, options),
  EvalError: (message, options) => new EvalError(message, options),
  RangeError: (message, options) => new RangeError(message, options),
  ReferenceError: (message, options) => new ReferenceError(message, options),
  SyntaxError: (message, options) => new SyntaxError(message, options),
  TypeError: (message, options) => new TypeError(message, options),
  URIError: (message, options) => new URIError(message, options)
}

/**
 * The fields of an error, without `undefined` ones. An error of this package with invalid fields is treated like any other
 * error.
 */
export const dataOf = (error: Error): Readonly<Record<string, unknown>> => {
  const { cause } = error
  const message: unknown = error.message
  const name: unknown = error.name
  if (isOurs(error)) {
    const { _tag: type, name: _, message: __, metadata, reason, ...fields } = error
    const said = Object.keys(metadata).length === 0 ? {} : { metadata }
    const data = { ...fields, ...said, type, reason, message, cause }
    if (ErrorData.safeParse(data).success) return data
  }
  const errors = error instanceof AggregateError ? error.errors : undefined
  return { type: "Error", name: String(name), message: String(message), cause, errors }
}

/** The error with these fields. Its stack has no code locations, because it was not thrown here. */
export const errorOf = (data: ErrorData): Error => {
  const error = made(data)
  Object.defineProperty(error, "stack", {
    value: `${error.name}: ${error.message}`,
    writable: true,
    configurable: true
  })
  return error
}

const made = (data: ErrorData): Error => {
  switch (data.type) {
    case "AdapterError":
      return new AdapterError(data.reason, data)
    case "EngineError":
      return new EngineError(data.reason, data)
    case "StreamError":
      return new StreamError(data.reason, data)
    case "ToolError":
      return new ToolError(data.reason, data)
    case "ValidationError":
      return new ValidationError(data.reason, data.errors, data)
    case "SessionError":
      return new SessionError(data.reason, data.message, data)
    case "Error": {
      const { name, message, errors } = data
      const options = data.cause === undefined ? {} : { cause: data.cause }
      if (errors !== undefined) return new AggregateError(errors, message, options)
      const make = Object.hasOwn(foreign, name) ? foreign[name] : undefined
      return make?.(message, options) ?? Object.assign(new Error(message, options), { name })
    }
  }
}
