/** Schemas of values that this package passes on unchecked. */
import * as z from "zod"

/** Metadata, contexts, parameters: names with any values. */
export const openRecord = z.record(z.string(), z.unknown()).readonly()

/** Any value; JSON leaves out a field that is `undefined`, so it may be missing too. */
export const anything: z.ZodType = z.unknown().optional()
