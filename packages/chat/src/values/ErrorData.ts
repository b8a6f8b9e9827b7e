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

/** The fields of an `AdapterError`. */
const AdapterErrorData = z.lazy(() =>
  z
    .object({
      type: z.literal("AdapterError"),
      reason: z.enum(AdapterError.reasons),
      ...common,
      provider: z.string().optional(),
      status: z.number().optional(),
      retryAfterMs: z.number().optional(),
      requestId: z.string().optional()
    })
    .readonly()
)

/** The fields of an `EngineError`. */
const EngineErrorData = z.lazy(() =>
  z
    .object({
      type: z.literal("EngineError"),
      reason: z.enum(EngineError.reasons),
      ...common,
      provider: z.string().optional()
    })
    .readonly()
)

/** The fields of a `StreamError`. */
const StreamErrorData = z.lazy(() =>
  z
    .object({
      type: z.literal("StreamError"),
      reason: z.enum(StreamError.reasons),
      ...common,
      provider: z.string().optional(),
      eventIndex: z.number().optional()
    })
    .readonly()
)

/** The fields of a `ToolError`. */
const ToolErrorData = z.lazy(() =>
  z
    .object({
      type: z.literal("ToolError"),
      reason: z.enum(ToolError.reasons),
      ...common,
      toolName: z.string().optional(),
      toolCallId: z.string().optional()
    })
    .readonly()
)

/** The fields of a `ValidationError`. */
const ValidationErrorData = z.lazy(() =>
  z
    .object({
      type: z.literal("ValidationError"),
      reason: z.enum(ValidationError.reasons),
      ...common,
      errors: z
        .array(
          z.object({ field: z.array(z.union([z.string(), z.number()])).readonly(), reason: z.string() }).readonly()
        )
        .readonly()
    })
    .readonly()
)

/** The fields of a `SessionError`. */
const SessionErrorData = z.lazy(() =>
  z.object({ type: z.literal("SessionError"), reason: z.enum(SessionError.reasons), ...common }).readonly()
)

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
