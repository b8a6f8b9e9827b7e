/** Tokens and their cost. */
import type { Usage } from "@troupe/chat/messages"
import { costOf, type Prices, tokensOf } from "./cost.ts"
import { compact, count, money } from "../../format/index.ts"
import { Surface } from "../parts/index.ts"

/** The props of {@link UsageMeters}. */
export interface UsageMetersProps {
  /** `usage` of the chat's view. */
  readonly usage: Usage.Usage
  /** The prices of the model. Default: no cost is shown. */
  readonly prices?: Prices | undefined
}

/**
 * The tokens of a chat, and their cost if prices are given. Without prices, the cost in the usage is shown, or none; `≥`
 * marks a cost that lacks requests without a price.
 */
export const UsageMeters = ({ usage, prices }: UsageMetersProps) => {
  const tokens = tokensOf(usage)
  const unpriced = prices === undefined ? (usage.unpricedRequests ?? 0) : 0
  const cost = prices === undefined ? (usage.totalCost ?? (unpriced === 0 ? undefined : 0)) : costOf(tokens, prices)
  const parts = [
    { name: "Input", kind: "fresh", value: tokens.freshInput },
    { name: "Cached", kind: "cached", value: tokens.cachedInput },
    { name: "Output", kind: "output", value: tokens.output }
  ]
  const sum = Math.max(1, tokens.freshInput + tokens.cachedInput + tokens.output)
  return (
    <Surface className="tro-meters">
      <dl className="tro-meter-figures">
        <div data-kind="total">
          <dt>Tokens</dt>
          <dd title={count(tokens.total)}>{compact(tokens.total)}</dd>
        </div>
        {parts.map(({ name, kind, value }) => (
          <div key={kind} data-kind={kind}>
            <dt>{name}</dt>
            <dd title={count(value)}>{compact(value)}</dd>
          </div>
        ))}
        {tokens.reasoning > 0 && (
          <div data-kind="reasoning">
            <dt>Reasoning</dt>
            <dd title={count(tokens.reasoning)}>{compact(tokens.reasoning)}</dd>
          </div>
        )}
        {cost !== undefined && (
          <div data-kind="cost">
            <dt>Cost</dt>
            <dd title={unpriced === 0 ? undefined : `${count(unpriced)} requests have no price`}>
              {unpriced === 0 ? money(cost) : `≥ ${money(cost)}`}
            </dd>
          </div>
        )}
      </dl>
      <div className="tro-share" aria-hidden>
        {parts.map(({ kind, value }) => (
          <span key={kind} data-kind={kind} style={{ inlineSize: `${(100 * value) / sum}%` }} />
        ))}
      </div>
    </Surface>
  )
}
