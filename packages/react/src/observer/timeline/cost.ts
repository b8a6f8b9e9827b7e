/** The cost of tokens. */
import type { Usage } from "@troupe/chat/messages"

/**
 * The price of a million tokens, in dollars. Without `cachedInput`, tokens read from the provider's cache cost as input.
 */
export interface Prices {
  readonly input: number
  readonly output: number
  readonly cachedInput?: number | undefined
}

/** The tokens of a usage by price. */
export interface Tokens {
  readonly freshInput: number
  readonly cachedInput: number
  readonly output: number
  readonly reasoning: number
  readonly total: number
}

/** The tokens of a usage; a missing count is 0. Cached tokens are part of the input, reasoning of the output. */
export const tokensOf = (usage: Usage.Usage): Tokens => {
  const input = usage.inputTokens ?? 0
  const output = usage.outputTokens ?? 0
  const cachedInput = Math.min(input, usage.cachedInputTokens ?? 0)
  const total = usage.totalTokens ?? input + output
  return { freshInput: input - cachedInput, cachedInput, output, reasoning: usage.reasoningTokens ?? 0, total }
}

/** The cost in dollars. */
export const costOf = (tokens: Tokens, prices: Prices): number =>
  (tokens.freshInput * prices.input +
    tokens.cachedInput * (prices.cachedInput ?? prices.input) +
    tokens.output * prices.output) /
  1_000_000
