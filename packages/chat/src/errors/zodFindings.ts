/** Converts zod errors to findings. */
import type * as z from "zod"
import type { Finding } from "./ChatError.ts"

/**
 * The findings of a failed check, below a path.
 *
 * An unknown enumerated word or union tag is an `unknown_value`; every other finding has zod's issue code.
 */
export const findingsOf = (error: z.ZodError, path: ReadonlyArray<string | number>): ReadonlyArray<Finding> =>
  error.issues.map((issue) => ({
    field: [...path, ...issue.path.map((step) => (typeof step === "symbol" ? String(step) : step))],
    reason:
      issue.code === "invalid_value" || (issue.code === "invalid_union" && "discriminator" in issue)
        ? "unknown_value"
        : issue.code
  }))
