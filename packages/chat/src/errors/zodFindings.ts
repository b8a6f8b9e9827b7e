/** Says what a schema found wrong in our words. */
import type * as z from "zod"
import type { Finding } from "./ChatError.ts"

/**
 * The findings of a failed check, below a path.
 *
 * A word that is none of a closed set is an `unknown_value`; everything else has the schema library's own name.
 */
export const findingsOf = (error: z.ZodError, path: ReadonlyArray<string | number>): ReadonlyArray<Finding> =>
  error.issues.map((issue) => ({
    field: [...path, ...issue.path.map((step) => (typeof step === "symbol" ? String(step) : step))],
    reason:
      issue.code === "invalid_value" || (issue.code === "invalid_union" && "discriminator" in issue)
        ? "unknown_value"
        : issue.code
  }))
