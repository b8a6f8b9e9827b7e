/**
 * Errors as data: the fields of each error of this package, and of any other, in JSON form.
 *
 * **Details**: the stack is not included: its code locations may no longer exist, and can reveal internals to readers
 * elsewhere.
 *
 * @module
 */
import * as z from "zod"
import { AdapterError, EngineError, SessionError, StreamError, ToolError, ValidationError } from "../errors/index.ts"
import { openRecord } from "./openSchema.ts"

const common = { message: z.string(), metadata: openRecord.optional(), cause: z.unknown().exactOptional() }

/** The fields of an error of this package: those that each one has, and its own. */
const errorData = <const Type extends string, const Reason extends string, Fields extends z.ZodRawShape>(
  type: Type,
  reasons: ReadonlyArray<Reason>,
  fields: () => Fields
) => z.lazy(() => z.object({ type: z.literal(type), reason: z.enum(reasons), ...common, ...fields() }).readonly())

const ofProvider = () => ({ provider: z.string().optional() })

const AdapterErrorData = errorData("AdapterError", AdapterError.reasons, () => ({
  ...ofProvider(),
  status: z.number().optional(),
  retryAfterMs: z.number().optional(),
  requestId: z.string().optional()
}))

const EngineErrorData = errorData("EngineError", EngineError.reasons, ofProvider)

const StreamErrorData = errorData("StreamError", StreamError.reasons, () => ({
  ...ofProvider(),
  eventIndex: z.number().optional()
}))

const ToolErrorData = errorData("ToolError", ToolError.reasons, () => ({
  toolName: z.string().optional(),
  toolCallId: z.string().optional()
}))

const ValidationErrorData = errorData("ValidationError", ValidationError.reasons, () => ({
  errors: z
    .array(z.object({ field: z.array(z.union([z.string(), z.number()])).readonly(), reason: z.string() }).readonly())
    .readonly()
}))

const SessionErrorData = errorData("SessionError", SessionError.reasons, () => ({}))

/** The stored fields of any other error. `errors` are those of an `AggregateError`. */
const ForeignErrorData = z.lazy(() =>
  z
    .object({
      type: z.literal("Error"),
      name: z.string(),
      message: z.string(),
      cause: z.unknown().exactOptional(),
      errors: z.array(z.unknown()).readonly().optional()
    })
    .readonly()
)

/** The fields of any error. */
export const ErrorData = z.discriminatedUnion("type", [
  AdapterErrorData,
  EngineErrorData,
  StreamErrorData,
  ToolErrorData,
  ValidationErrorData,
  SessionErrorData,
  ForeignErrorData
])
export type ErrorData = z.infer<typeof ErrorData>
