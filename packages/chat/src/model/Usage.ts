/**
 * Usage: the tokens and the cost of a request.
 *
 * @module
 */
import * as z from "zod"
import { openRecord } from "../values/index.ts"

const usageSchema = z.lazy(() =>
  z
    .object({
      inputTokens: z.number().optional(),
      outputTokens: z.number().optional(),
      cachedInputTokens: z.number().optional(),
      cacheWriteInputTokens: z.number().optional(),
      reasoningTokens: z.number().optional(),
      totalTokens: z.number().optional(),
      inputCost: z.number().optional(),
      outputCost: z.number().optional(),
      totalCost: z.number().optional(),
      unpricedRequests: z.number().optional(),
      toolUsage: openRecord.optional(),
      extra: openRecord.optional()
    })
    .readonly()
)

/**
 * Token counts and costs of one request, or of several added up.
 *
 * **Units and defaults**: counts are tokens, costs are in the currency of the price list that computed them. An absent
 * field means *not reported*, zero means *reported as zero*. `inputTokens` is the whole prompt, cache reads and writes
 * included. `outputTokens` includes `reasoningTokens`.
 *
 * **Details**: `unpricedRequests` counts the requests whose cost is not known although their engine has `prices`. A
 * `totalCost` beside it is a lower bound.
 */
export interface Usage extends z.infer<typeof usageSchema> {}
export const Usage: z.ZodType<Usage> = usageSchema

/** No usage reported. */
export const empty: Usage = Object.freeze({})

/** The reported total, else input plus output, else `undefined`. */
export const totalTokens = (usage: Usage): number | undefined =>
  usage.totalTokens ??
  (usage.inputTokens !== undefined && usage.outputTokens !== undefined
    ? usage.inputTokens + usage.outputTokens
    : undefined)

const counters = [
  "inputTokens",
  "outputTokens",
  "cachedInputTokens",
  "cacheWriteInputTokens",
  "reasoningTokens",
  "totalTokens",
  "inputCost",
  "outputCost",
  "totalCost",
  "unpricedRequests"
] as const

/** The sum of two usages, field by field; a field that neither reported stays absent. */
export const add = (left: Usage, right: Usage): Usage => {
  if (right === empty) return left
  if (left === empty) return right
  const sum: { -readonly [Field in keyof Usage]: Usage[Field] } = { ...left }
  for (const counter of counters) {
    const more = right[counter]
    if (more !== undefined) sum[counter] = (sum[counter] ?? 0) + more
  }
  return sum
}
