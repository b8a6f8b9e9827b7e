/**
 * Makes a compactor of options.
 *
 * Owns: the tokens of the messages that it has seen, their sums by thread, and what providers have counted, as long as those messages live.
 */
import type { Message, Thread } from "../model/index.ts"
import type { CompactionSource, Compactor, SizedTool } from "./Compactor.ts"
import { messageTokens, tokensOf, toolTokens } from "./estimate.ts"
import { Planner, type Sizes } from "./planner.ts"
import { type Noted, sentMessages, trailingNote } from "./sent.ts"
import { prune, type Strategy, summarise } from "./strategies.ts"
import { ValidationError } from "../errors/index.ts"

/** When a compaction is due, and how it is done. Either `maxTokens` or `window` must be given. */
interface CompactionOptions {
  /** The most tokens of a request. Default: `share` of `window`. */
  readonly maxTokens?: number | undefined
  /** The tokens that the model can read at once. */
  readonly window?: number | undefined
  /** The share of the window that a request may have. Default: 0.8. */
  readonly share?: number | undefined
  /** The share of the bound from which a compaction is due. Default: 0.85. */
  readonly at?: number | undefined
  /** The share of the bound that a request should have after a compaction. Default: 0.5. */
  readonly goal?: number | undefined
  /** The strategies, which are tried in order until the goal is reached. Default: `prune()`, then `summarise()`. */
  readonly strategies?: ReadonlyArray<Strategy> | undefined
}

/** What a provider has counted in the request that ended with a message. */
interface Count {
  readonly compaction: Thread["compaction"]
  readonly tokens: number
}

/** The sums over the first messages of a thread: their most tokens, and the estimate of as many as were estimated. */
interface Sum {
  readonly messages: WeakRef<ReadonlyArray<Message>>
  length: number
  most: number
  estimated: number
  tokens: number
}

/** The most by which a provider's count corrects the estimate. */
const mostRatio = 4

const media = /"type":"(?:image|file)"/u

class OwnCompactor implements Compactor {
  readonly maxTokens: number
  readonly #due: number
  readonly #goal: number
  readonly #strategies: ReadonlyArray<Strategy>
  readonly #tokens = new WeakMap<object, number>()
  /** The characters of messages; the tokens of those with images or files, which have more. */
  readonly #most = new WeakMap<Message, number>()
  readonly #counts = new WeakMap<Message, Count>()
  #isCounted = false
  /** The sums of threads without a compaction, by their first messages. */
  readonly #sums = new WeakMap<Message, Sum>()

  constructor(options: CompactionOptions) {
    const { maxTokens, at, goal, strategies } = checked(options)
    this.maxTokens = maxTokens
    this.#due = maxTokens * at
    this.#goal = goal
    this.#strategies = strategies
  }

  isDue(
    { thread, aside, tasks, children }: Pick<CompactionSource, "thread" | "aside" | keyof Noted>,
    { instructions, tools }: Pick<CompactionSource, "instructions" | "tools">
  ): boolean {
    const { messages, compaction } = thread
    let whole: number | undefined
    if (compaction === undefined) {
      // A thread is the former one with further messages: its sum is that of the former one with theirs. Nothing is called for it.
      const [first] = messages
      const known = first && this.#sums.get(first)
      const former = known?.messages.deref()
      let same = 0
      if (former === messages) same = known?.length ?? 0
      else if (former !== undefined) while (same < (known?.length ?? 0) && former[same] === messages[same]) same++
      const begun = known !== undefined && same === known.length && same <= messages.length ? known : undefined
      const sum = { length: 0, most: 0, estimated: 0, tokens: 0, ...begun, messages: new WeakRef(messages) }
      if (first !== undefined) this.#sums.set(first, sum)
      for (; sum.length < messages.length; sum.length++) {
        const message = messages[sum.length] as Message
        let most = this.#most.get(message)
        if (most === undefined) {
          const text = JSON.stringify(message)
          most = media.test(text) ? this.#of(message) : text.length
          this.#most.set(message, most)
        }
        sum.most += most
      }
      if (aside === undefined && tasks === undefined && children === undefined) {
        // Most requests are short by their characters, which are more than their tokens.
        const rest =
          (instructions?.length ?? 0) + (tools.length === 0 ? 0 : (this.#tokens.get(tools) ?? this.#ofTools(tools)))
        let since = rest
        let count: Count | undefined
        for (let place = messages.length - 1; this.#isCounted && place >= 0 && count === undefined; place--) {
          const message = messages[place] as Message
          count = this.#counts.get(message)
          if (count === undefined) since += this.#most.get(message) ?? 0
        }
        if (sum.most + rest < this.#due && (count === undefined ? 0 : count.tokens + since) < this.#due) return false
      }
      for (; sum.estimated < messages.length; sum.estimated++)
        sum.tokens += this.#of(messages[sum.estimated] as Message)
      whole = sum.tokens
    }
    const { total, counted } = this.#size({ thread, aside, tasks, children, instructions, tools }, whole)
    return Math.max(total, counted) >= this.#due
  }

  plan(source: CompactionSource, cause: Parameters<Compactor["plan"]>[1]): ReturnType<Compactor["plan"]> {
    const bounds = { maxTokens: this.maxTokens, goal: this.#goal, strategies: this.#strategies }
    return new Planner(source, this.#sizes(source), bounds, cause).plan()
  }

  counted(thread: Thread, tokens: number): void {
    const last = thread.messages.at(-1)
    if (last === undefined) return
    this.#counts.set(last, { compaction: thread.compaction, tokens })
    this.#isCounted = true
  }

  #sizes(source: CompactionSource): Sizes {
    const { aside = [], instructions, tools } = source
    const { total, counted } = this.#size(source)
    return {
      instructions: instructions === undefined ? 0 : tokensOf(instructions),
      tools: this.#ofTools(tools),
      aside: aside.reduce((sum, message) => sum + this.#of(message), 0),
      of: (message) => this.#of(message),
      ratio: Math.min(mostRatio, Math.max(1, counted / Math.max(1, total)))
    }
  }

  /** The estimated tokens of a request, and what the provider has counted with the estimate of the rest. */
  #size(source: CompactionSource, whole?: number): { readonly total: number; readonly counted: number } {
    const { thread, aside = [], instructions, tools } = source
    let total = (instructions === undefined ? 0 : tokensOf(instructions)) + this.#ofTools(tools)
    if (whole === undefined) for (const message of sentMessages(thread)) total += this.#of(message)
    else total += whole
    for (const message of trailingNote(thread, source)) total += this.#of(message)
    for (const message of aside) total += this.#of(message)
    return { total, counted: this.#counted(thread) }
  }

  /** The last count of a provider, with the estimate of the messages since; 0 without one since the compaction. */
  #counted({ messages, compaction }: Thread): number {
    let tokens = 0
    for (let place = messages.length - 1; this.#isCounted && place >= (compaction?.upTo ?? 0); place--) {
      const message = messages[place]
      if (message === undefined) continue
      const count = this.#counts.get(message)
      if (count !== undefined) return count.compaction === compaction ? count.tokens + tokens : 0
      tokens += this.#of(message)
    }
    return 0
  }

  #of(message: Message): number {
    return this.#known(message, messageTokens)
  }

  #ofTools(tools: ReadonlyArray<SizedTool>): number {
    return this.#known(tools, toolTokens)
  }

  #known<Counted extends object>(value: Counted, count: (value: Counted) => number): number {
    const known = this.#tokens.get(value)
    if (known !== undefined) return known
    const tokens = count(value)
    this.#tokens.set(value, tokens)
    return tokens
  }
}

/** Makes a compactor. **Errors**: throws a `ValidationError` (`invalid_options`). */
export const make = (options: CompactionOptions): Compactor => new OwnCompactor(options)

const checked = ({
  maxTokens,
  window,
  share = 0.8,
  at = 0.85,
  goal = 0.5,
  strategies = [prune(), summarise()]
}: CompactionOptions) => {
  const bound = maxTokens ?? (window === undefined ? NaN : Math.floor(window * share))
  const bad = (field: string, reason: string): never => {
    throw new ValidationError("invalid_options", [{ field: [field], reason }])
  }
  if (!(bound >= 100)) bad("maxTokens", "must_be_a number of tokens from 100 on; or give the window of the model")
  if (!(at > 0 && at <= 1)) bad("at", "must_be_a share of the bound, more than 0 and at most 1")
  if (!(goal > 0 && goal < at)) bad("goal", "must_be_a share of the bound, more than 0 and less than `at`")
  return { maxTokens: bound, at, goal, strategies }
}
