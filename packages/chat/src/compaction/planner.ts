/**
 * Plans a compaction: the strategies in their order, then whatever keeps the bound.
 *
 * CONTEXT1. With a bound, no request exceeds it by the estimate. When the instructions, the tools, the input and the last step alone
 *         exceed it, the turn ends with `context_too_large`, whose metadata names the largest part.
 */
import { AdapterError } from "../errors/index.ts"
import type { Compaction, Message, Thread } from "../model/index.ts"
import type { CompactionCause, CompactionPlan, CompactionSource, SummaryReply } from "./Compactor.ts"
import { type Block, blocksOf, requiredBlocks } from "./cuts.ts"
import { tokensOf } from "./estimate.ts"
import { planFrom, sentBetween, sentMessages, trailingNote } from "./sent.ts"
import type { Strategy } from "./strategies.ts"
import { summaryInstructions, transcript } from "./transcript.ts"

/** A compaction whose size is not known yet. */
type Draft = Omit<Compaction, "tokens">

/** The parts of a request that no compaction changes, and the tokens of its messages. */
export interface Sizes {
  readonly instructions: number
  readonly tools: number
  readonly aside: number
  readonly of: (message: Message) => number
  /** By how much the provider counts more than the estimate; at least 1. */
  readonly ratio: number
}

export interface Bounds {
  readonly maxTokens: number
  readonly goal: number
  readonly strategies: ReadonlyArray<Strategy>
}

const none: Draft = { upTo: 0, kept: [] }
const resultSizes = [2_000, 500, 100, 0]

export class Planner {
  readonly #source: CompactionSource
  readonly #sizes: Sizes
  readonly #bounds: Bounds
  readonly #cause: CompactionCause
  readonly #blocks: ReadonlyArray<Block>
  readonly #required: ReadonlySet<Block>
  /** The present compaction, without what its summary cost. */
  readonly #former: Draft
  readonly #before: number
  readonly #limit: number
  readonly #goal: number
  /** The tokens of which the parts that stay are a share. */
  readonly #basis: number

  constructor(source: CompactionSource, sizes: Sizes, bounds: Bounds, cause: CompactionCause) {
    const { thread } = source
    this.#source = source
    this.#sizes = sizes
    this.#bounds = bounds
    this.#cause = cause
    this.#blocks = blocksOf(thread.messages)
    this.#required = requiredBlocks(source, this.#blocks)
    this.#former = thread.compaction === undefined ? none : withoutSpent(thread.compaction)
    this.#before = this.#size(thread.compaction)
    const { maxTokens, goal } = bounds
    this.#limit = cause.exceeded === true ? Math.min(maxTokens, Math.floor(this.#before * 0.75)) : maxTokens
    this.#basis = cause.byHand === true ? Math.min(this.#limit, this.#before) : this.#limit
    this.#goal = this.#basis * goal
  }

  plan(): CompactionPlan {
    return this.#from(this.#former, 0)
  }

  /** Applies the strategies from a place on. */
  #from(draft: Draft, place: number): CompactionPlan {
    const strategy = this.#bounds.strategies[place]
    if (strategy === undefined || this.#size(draft) <= this.#goal) return this.#ended(draft)
    if (typeof strategy !== "function" && strategy.type === "summarise") return this.#asked(draft, place, strategy)
    return this.#from(this.#applied(draft, strategy), place + 1)
  }

  #applied(draft: Draft, strategy: Exclude<Strategy, { readonly type: "summarise" }>): Draft {
    if (typeof strategy === "function") {
      const { upTo } = draft
      const cuts = this.#blocks.map(({ at }) => at).filter((at) => at > upTo)
      const cut = strategy({ cuts, upTo, tokens: (from, to) => this.#between(from, to), goal: this.#goal })
      return cut === undefined || !cuts.includes(cut.upTo) ? draft : this.#cut(draft, cut.upTo, cut.summary)
    }
    if (strategy.type === "window") return this.#cut(draft, this.#cutFor(strategy.keepTokens, draft))
    const { messages } = this.#source.thread
    const before = this.#blocks.filter(({ at }) => messages[at + 1]?.role === "tool").at(-strategy.keepSteps)?.at ?? 0
    return before <= (draft.pruned?.before ?? 0)
      ? draft
      : {
          ...draft,
          pruned: { before, characters: Math.min(strategy.characters, draft.pruned?.characters ?? Infinity) }
        }
  }

  /** Asks for a summary, if there is something to summarise. */
  #asked(draft: Draft, place: number, strategy: Extract<Strategy, { readonly type: "summarise" }>): CompactionPlan {
    const upTo = this.#cutFor(strategy.keepTokens, draft)
    if (this.#cause.failed === true || upTo <= draft.upTo) return this.#from(draft, place + 1)
    const { maxTokens: most = Math.min(2_000, Math.ceil(this.#bounds.maxTokens / 8)) } = strategy
    const { instructions = summaryInstructions, model } = strategy
    const room = Math.floor(this.#limit / this.#sizes.ratio) - tokensOf(instructions) - most - 40
    const text = transcript(this.#source.thread.messages.slice(draft.upTo, upTo), draft.summary, room)
    const after = (reply: SummaryReply | undefined): CompactionPlan => {
      const summary = reply?.text.trim() ?? ""
      if (reply === undefined || summary === "") return this.#from(draft, place + 1)
      const { usage, model: answerer } = reply
      const spent = { usage, ...(answerer !== undefined && { model: answerer }) }
      return this.#from({ ...this.#cut(draft, upTo, shortened(summary, most * 2)), ...spent }, place + 1)
    }
    return { type: "ask", request: { instructions, text, maxTokens: most, model }, after }
  }

  /** The compaction, if it helps; whatever keeps the bound, if it does not keep it. */
  #ended(draft: Draft): CompactionPlan {
    const fitting = this.#size(draft) <= this.#limit ? draft : this.#fitted(draft)
    if (fitting === undefined) return { type: "too_large", error: this.#tooLarge() }
    const after = this.#size(fitting)
    const helps = after <= this.#before * 0.95 || this.#before > this.#limit
    if (fitting === this.#former || !helps) return { type: "nothing" }
    const tokens = { before: Math.ceil(this.#before), after: Math.ceil(after) }
    return { type: "compacted", compaction: { ...fitting, tokens } }
  }

  /** The first of these that keeps the bound: shorter results, then fewer messages. */
  #fitted(draft: Draft): Draft | undefined {
    const { length } = this.#source.thread.messages
    for (const keepTokens of [Infinity, this.#limit * 0.3, 0]) {
      const cut = keepTokens === Infinity ? draft : this.#cut(draft, this.#cutFor(keepTokens, draft))
      for (const characters of resultSizes) {
        const fitted = { ...cut, pruned: { before: length, characters } }
        if (this.#size(fitted) <= this.#limit) return fitted
      }
    }
    return undefined
  }

  /** The place before the last blocks of so many tokens, at least of the last block. */
  #cutFor(keepTokens: number | undefined, draft: Draft): number {
    const keep = keepTokens ?? this.#basis * 0.3
    let total = 0
    let cut = this.#source.thread.messages.length
    for (const { at, end } of this.#blocks.toReversed()) {
      total += this.#between(at, end, draft)
      if (total > keep && cut < this.#source.thread.messages.length) break
      cut = at
    }
    return Math.max(cut, draft.upTo)
  }

  #cut(draft: Draft, upTo: number, summary: string | undefined = draft.summary): Draft {
    if (upTo <= draft.upTo) return draft
    const { messages } = this.#source.thread
    const { summary: _, ...rest } = withoutSpent(draft)
    const plan = planFrom(messages.slice(draft.upTo, upTo), 0)
    const kept = this.#blocks.flatMap((block) =>
      block.at < upTo && this.#required.has(block)
        ? Array.from({ length: block.end - block.at }, (__, at) => block.at + at)
        : []
    )
    return { ...rest, upTo, kept, ...(summary !== undefined && { summary }), ...(plan !== undefined && { plan }) }
  }

  /** The tokens of the messages from a place to another. */
  #between(from: number, to: number, draft: Draft = none): number {
    return this.#tokensOf(sentBetween(this.#source.thread.messages, from, to, draft.pruned)) * this.#sizes.ratio
  }

  /** The tokens of the request with this compaction. */
  #size(draft: Draft | undefined): number {
    const { instructions, tools, aside, ratio } = this.#sizes
    const thread = this.#source.thread
    const now = draft === undefined ? thread : { ...thread, compaction: { ...draft, tokens: noTokens } }
    return (instructions + tools + aside + this.#tokensOf(sentMessages(now)) + this.#tokensOf(this.#note(now))) * ratio
  }

  #note(thread: Thread): ReadonlyArray<Message> {
    return trailingNote(thread, this.#source)
  }

  #tokensOf(messages: ReadonlyArray<Message>): number {
    return messages.reduce((total, message) => total + this.#sizes.of(message), 0)
  }

  #tooLarge(): AdapterError {
    const { thread } = this.#source
    const { messages } = thread
    const { instructions, tools, aside } = this.#sizes
    const whole = this.#cut(none, messages.length)
    const required = Array.from(this.#required).flatMap(({ at, end }) => messages.slice(at, end))
    const parts = {
      instructions,
      tools,
      aside,
      note: this.#tokensOf(this.#note({ ...thread, compaction: { ...whole, tokens: noTokens } })),
      input: this.#tokensOf(required.filter(({ role }) => role === "user")),
      calls: this.#tokensOf(required.filter(({ role }) => role === "assistant"))
    }
    const [part, tokens] = Object.entries(parts).reduce((most, one) => (one[1] > most[1] ? one : most))
    const { maxTokens } = this.#bounds
    return new AdapterError("context_too_large", {
      message: `The request has more than ${maxTokens} tokens, and its largest part, the ${part}, cannot be left out; make it smaller, or raise maxTokens`,
      metadata: { part, tokens, maxTokens, parts }
    })
  }
}

const noTokens = { before: 0, after: 0 }

const withoutSpent = ({ upTo, kept, summary, pruned, plan }: Draft): Draft => ({
  upTo,
  kept,
  ...(summary !== undefined && { summary }),
  ...(pruned !== undefined && { pruned }),
  ...(plan !== undefined && { plan })
})

/** The beginning of a text, of about so many tokens. */
const shortened = (text: string, maxTokens: number): string => {
  const tokens = tokensOf(text)
  return tokens <= maxTokens ? text : `${text.slice(0, Math.floor((text.length * maxTokens) / tokens))} [...]`
}
