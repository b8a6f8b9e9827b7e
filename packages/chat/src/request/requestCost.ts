/**
 * The cost of one model request, from the prices of its engine.
 *
 * Owns: the name of the model that answers, and the usage that was reported before the end of the reply.
 *
 * COST1. A cost that the adapter reports is not changed.
 * COST2. When a reply ends without a known cost, its usage has `unpricedRequests: 1`, and the telemetry event
 *        `request.unpriced` names its model.
 * COST3. Without prices no event is changed.
 */
import { type System, Telemetry } from "@troupe/otp"
import type { Adapter, Cost, PricedBy, Prices } from "../adapter/index.ts"
import { isObject } from "../errors/index.ts"
import { type AdapterEvent, hasCost, reportedUsage } from "../events/index.ts"
import type { Request, Usage } from "../model/index.ts"

/** The provider of an adapter, up to the first dot: `openai` of `openai.responses`. */
const providerOf = ({ name, provider = name }: Adapter): string => provider.split(".")[0] ?? provider

/** Adds costs to the usage of one request. */
export class RequestCost {
  readonly #prices: Prices
  readonly #by: PricedBy
  readonly #requested: string | undefined
  readonly #system: System.System
  #answered: string | undefined
  #reported: Usage | undefined

  constructor(prices: Prices, adapter: Adapter, request: Pick<Request, "model">, system: System.System) {
    this.#prices = prices
    this.#by = { adapter: adapter.name, provider: providerOf(adapter) }
    this.#requested = adapter.model ?? request.model
    this.#system = system
  }

  /** The event, with the cost of its usage. */
  priced(event: AdapterEvent): AdapterEvent {
    switch (event.type) {
      case "message_started":
        this.#noteModel(event.metadata)
        return event
      case "raw_chunk":
        return this.#pricedChunk(event)
      case "message_completed": {
        this.#noteModel(event.metadata)
        const usage = reportedUsage(event.usage) ?? this.#reported ?? {}
        return { ...event, usage: this.#withCost(usage) ?? this.#unpriced(usage) }
      }
      default:
        return event
    }
  }

  #pricedChunk(event: Extract<AdapterEvent, { readonly type: "raw_chunk" }>): AdapterEvent {
    const { chunk } = event
    if (!isObject(chunk) || !("type" in chunk) || chunk.type !== "usage" || !("usage" in chunk)) return event
    const usage = reportedUsage(chunk.usage)
    if (usage === undefined) return event
    this.#reported = usage
    const priced = this.#withCost(usage)
    return priced === undefined ? event : { ...event, chunk: { ...chunk, usage: priced } }
  }

  #noteModel(metadata: unknown): void {
    const model: unknown = isObject(metadata) ? Reflect.get(metadata, "model") : undefined
    if (typeof model === "string" && model !== "") this.#answered = model
  }

  /** The names of the model, the one to try first at the beginning. */
  #models(): ReadonlyArray<string> {
    const names = [this.#answered, this.#requested].filter((name) => name !== undefined)
    return names.length === 0 ? [this.#by.adapter] : [...new Set(names)]
  }

  #withCost(usage: Usage): Usage | undefined {
    if (hasCost(usage)) return usage
    for (const model of this.#models()) {
      const cost = this.#costOf(model, usage)
      if (cost !== undefined) return { ...usage, ...cost }
    }
    return undefined
  }

  #costOf(model: string, usage: Usage): Pick<Usage, "inputCost" | "outputCost" | "totalCost"> | undefined {
    try {
      const cost = this.#prices(model, usage, this.#by)
      if (cost === undefined) return undefined
      const priced = costFields(cost)
      if (Object.values(priced).every((value) => Number.isFinite(value) && value >= 0)) return priced
      throw new TypeError("prices returned a value that is not a cost: return a number, 0 or more, or undefined")
    } catch (error) {
      Telemetry.notify(this.#system, "prices.failure", { count: 1 }, { ...this.#by, model, error })
      return undefined
    }
  }

  #unpriced(usage: Usage): Usage {
    const [model = this.#by.adapter] = this.#models()
    Telemetry.notify(this.#system, "request.unpriced", { count: 1 }, { ...this.#by, model })
    return { ...usage, unpricedRequests: 1 }
  }
}

const costFields = (cost: Cost) =>
  typeof cost === "object"
    ? { inputCost: cost.inputCost, outputCost: cost.outputCost, totalCost: cost.inputCost + cost.outputCost }
    : { totalCost: cost }
