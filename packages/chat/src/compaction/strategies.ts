/** The strategies of a compaction, as data. */

/** What a strategy of the program sees. */
interface StrategyView {
  /** The places where the thread may be cut, in order. */
  readonly cuts: ReadonlyArray<number>
  /** How many of the first messages requests leave out so far. */
  readonly upTo: number
  /** The estimated tokens of the messages from a place to another. */
  readonly tokens: (from: number, to: number) => number
  /** The tokens that the request should have afterwards. */
  readonly goal: number
}

/** Which results of calls are shortened. */
interface PruneOptions {
  /** How many of the last steps with calls stay whole. Default: 4. */
  readonly keepSteps?: number
  /** The characters of the head and the tail. Default: 1,000. */
  readonly characters?: number
}

/** Which messages stay. */
interface WindowOptions {
  /** The tokens of the last messages that stay. Default: three tenths of the bound. */
  readonly keepTokens?: number | undefined
}

/** Which messages stay, and how the summary of the others is written. */
interface SummariseOptions extends WindowOptions {
  /** The most tokens of the summary. Default: an eighth of the bound, and at most 2,000. */
  readonly maxTokens?: number | undefined
  /** The model that writes the summary. Default: that of the chat. */
  readonly model?: string | undefined
  /** What the summary has. Default: the goal, constraints, decisions, facts, files, and next steps. */
  readonly instructions?: string | undefined
}

/**
 * One way to make requests smaller.
 *
 * - `prune`: results of calls, except those of the last `keepSteps` steps, become their head and tail
 * - `summarise`: a model writes a summary of the messages before the last `keepTokens`
 * - `window`: the messages before the last `keepTokens` are left out
 * - a function: returns how many of the first messages are left out, and the text in their place
 */
export type Strategy =
  | ({ readonly type: "prune" } & Required<PruneOptions>)
  | ({ readonly type: "summarise" } & SummariseOptions)
  | ({ readonly type: "window" } & WindowOptions)
  | ((view: StrategyView) => { readonly upTo: number; readonly summary?: string | undefined } | undefined)

/** Shortens old results of calls to their head and tail. The tool `read_result` reads the rest. */
export const prune = ({ keepSteps = 4, characters = 1_000 }: PruneOptions = {}): Strategy => ({
  type: "prune",
  keepSteps,
  characters
})

/** Asks a model for a summary of the earlier messages, which extends the summary before. */
export const summarise = (options: SummariseOptions = {}): Strategy => ({ type: "summarise", ...options })

/** Leaves out the earlier messages. */
export const window = (options: WindowOptions = {}): Strategy => ({ type: "window", ...options })
