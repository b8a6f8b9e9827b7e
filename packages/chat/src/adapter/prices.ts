/**
 * Prices: what the usage of a model request costs.
 *
 * PRICE1. A model without a price has no cost, never a cost of 0.
 */
import * as z from "zod"
import { type Finding, findingsFor, partsOf, ValidationError } from "../errors/index.ts"
import type { Usage } from "../model/index.ts"

declare module "@troupe/otp/telemetry" {
  interface Events {
    /** A reply ended without a known cost, and the engine has prices. */
    readonly "request.unpriced": {
      readonly measurements: { readonly count: number }
      readonly metadata: PricedBy & { readonly model: string }
    }
    /** The prices of an engine threw, or returned a value that is not a cost. */
    readonly "prices.failure": {
      readonly measurements: { readonly count: number }
      readonly metadata: PricedBy & { readonly model: string; readonly error: unknown }
    }
  }
}

/** The cost of one request, by direction; or its sum. */
export type Cost = number | { readonly inputCost: number; readonly outputCost: number }

/** Who answered a request: the name of its adapter, and the provider, for example `openai`. */
export interface PricedBy {
  readonly adapter: string
  readonly provider: string
}

/**
 * The cost of a request, from its model and its usage; `undefined` for a model without a price.
 *
 * **Units and defaults**: costs are in a currency of your choice, the same for all models.
 *
 * **Contract**: synchronous and pure. It is called with the name of the model that answered. If it returns `undefined`, it
 * is called with the name that was requested, if that differs. A model without a name has the name of its adapter. An
 * exception, and a cost that is negative or not finite, are reported as the telemetry event `prices.failure`, and the
 * request has no cost.
 */
export type Prices = (model: string, usage: Usage, by: PricedBy) => Cost | undefined

/**
 * The prices of one model, for a million tokens.
 *
 * - `input`: tokens of the prompt that no cache was used for
 * - `output`: tokens of the reply
 * - `cachedInput`: tokens read from the provider's cache; default `input`
 * - `cacheWriteInput`: tokens written to the provider's cache; default `input`
 * - `reasoning`: tokens of reasoning, which are part of the reply; default `output`
 */
interface ModelPrice {
  readonly input: number
  readonly output: number
  readonly cachedInput?: number | undefined
  readonly cacheWriteInput?: number | undefined
  readonly reasoning?: number | undefined
}

const price = z.custom((value) => Number.isFinite(value) && Number(value) >= 0, "must_be_a_price, 0 or more")

const modelPrice = partsOf({
  input: price,
  output: price,
  cachedInput: price.optional(),
  cacheWriteInput: price.optional(),
  reasoning: price.optional()
})

/** The table's type; each model needs the prices of its input and its output. */
const priceTable = z.record(z.string(), modelPrice, "must_be_an_object of model names and their prices")

const missingIn = (table: Readonly<Record<string, ModelPrice>>): ReadonlyArray<Finding> =>
  Object.entries(table).flatMap(([model, prices]) =>
    (["input", "output"] as const)
      .filter((part) => prices[part] === undefined)
      .map((part) => ({ field: [model, part], reason: "missing; write the price of a million tokens" }))
  )

/**
 * Makes the prices of an engine from a table: the prices of a million tokens, by model.
 *
 * **Details**: `"azure/gpt-5.5"` is the price of the model at that provider, and has precedence over `"gpt-5.5"`. A dated
 * name (`gpt-5.5-2026-01-15`, `claude-opus-5-20260115`, `…-latest`) that is not in the table has the price of the name
 * without its date. No other name is guessed: a model that is not in the table has no price.
 *
 * A request has a cost only when its provider reports the tokens of the prompt and of the reply.
 *
 * **Errors**: throws a `ValidationError` (`invalid_options`) that names each invalid price.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Engine } from "@troupe/chat"
 *
 * const prices = Engine.prices({ "gpt-5.5": { input: 2, cachedInput: 0.5, output: 10 } })
 * const usage = { inputTokens: 1_000_000, cachedInputTokens: 800_000, outputTokens: 10_000 }
 * prices("gpt-5.5-2026-01-15", usage, { adapter: "openai.responses", provider: "openai" })
 * // => { inputCost: 0.8, outputCost: 0.1 }
 * ```
 */
export const prices = (table: Readonly<Record<string, ModelPrice>>): Prices => {
  const found = findingsFor(priceTable, table, () => "unknown")
  const findings = found.length > 0 ? found : missingIn(table)
  if (findings.length > 0) throw new ValidationError("invalid_options", findings)
  const byName = new Map(Object.entries(table))
  return (model, usage, { provider }) => {
    const undated = model.replace(dated, "")
    const names = [`${provider}/${model}`, model, `${provider}/${undated}`, undated]
    const listed = names.map((name) => byName.get(name)).find((priced) => priced !== undefined)
    return listed === undefined ? undefined : costAt(listed, usage)
  }
}

/** The date at the end of a model's name. */
const dated = /[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|latest)$/

const million = 1_000_000

/** The cost of a usage at these prices; `undefined` when the tokens of one direction were not reported. */
const costAt = (
  { input, output, cachedInput = input, cacheWriteInput = input, reasoning = output }: ModelPrice,
  { inputTokens, outputTokens, cachedInputTokens = 0, cacheWriteInputTokens = 0, reasoningTokens = 0 }: Usage
): Exclude<Cost, number> | undefined => {
  if (inputTokens === undefined || outputTokens === undefined) return undefined
  const fresh = Math.max(0, inputTokens - cachedInputTokens - cacheWriteInputTokens)
  const answer = Math.max(0, outputTokens - reasoningTokens)
  return {
    inputCost: (fresh * input + cachedInputTokens * cachedInput + cacheWriteInputTokens * cacheWriteInput) / million,
    outputCost: (answer * output + reasoningTokens * reasoning) / million
  }
}
