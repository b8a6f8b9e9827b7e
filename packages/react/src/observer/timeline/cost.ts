/** The cost of tokens. */
import type { Usage } from "@troupe/chat/messages"

/** The price of a million tokens, in dollars. */
export interface Prices {
  /** Of the tokens of the prompt. */
  readonly input: number
  /** Of the tokens of the reply. */
  readonly output: number
  /** Of the tokens that are read from the provider's cache. Default: that of `input`. */
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
