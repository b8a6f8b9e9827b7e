/**
 * The live side of the state `compacting`: whether a request is too long, the plan, and the request for a summary.
 *
 * Owns: the plan of the running compaction, and the usage of compactions since the last step. Does not own the state, which is the chart's, nor the thread.
 *
 * COMPACT1. The request for a summary is a request as any other: with its retries, deadlines, span and cost. Its usage is in the
 *           budget of the turn and in that of the conversation.
 * COMPACT3. A turn that compacts by hand waits for the running turn, compacts also below the bound, and sends no request but that for a
 *           summary. A chat that waits, or was interrupted, refuses it.
 * COMPACT2. When that request fails, the turn continues without a summary, or ends with the provider's error.
 */
import type { CompactionPlan, CompactionSource } from "../compaction/index.ts"
import { AdapterError, type PreflightError } from "../errors/index.ts"
import { emit, outletIn, StreamCollector } from "../events/index.ts"
import { type Compaction, user } from "../model/index.ts"
import type { Usage } from "../model/index.ts"
import * as Usages from "../model/Usage.ts"
import type { StepResult } from "../record/index.ts"
import type { RunOptions } from "../options/index.ts"
import { adapterIn, requestOf, type RunnableRequest } from "../request/index.ts"
import { held, type Held, original } from "../values/index.ts"
import type { StepData, StepLive } from "./stepState.ts"

/**
 * What the turn has done about a request that is too long.
 *
 * - `at`: for how many messages of the thread a compaction was planned last
 * - `failed`: whether a request for a summary has failed
 * - `byHand`: whether a person or the host asked for the compaction
 * - `exceeded`: whether the provider has refused a request as too long; `refusal` is that refusal, until the compaction has ended
 */
export interface Compacting {
  readonly at?: number | undefined
  readonly failed?: boolean | undefined
  readonly byHand?: boolean | undefined
  readonly exceeded?: boolean | undefined
  readonly refusal?: Held<PreflightError> | undefined
}

/** A step whose request may be too long: its thread, and what the turn has done about it. */
export interface CompactionOpening extends StepData {
  /** The call whose question waits for its answer. */
  readonly question?: string | undefined
  readonly compacting?: Compacting | undefined
  /** Whether the request for a summary is about to be sent. */
  readonly asks?: boolean | undefined
}

const sourceOf = (
  { thread, aside, tasks, children, question }: CompactionOpening,
  options: RunOptions
): CompactionSource => ({
  thread,
  aside,
  tasks,
  children,
  question,
  instructions: options.instructions,
  tools: options.tools
})

/** Whether a refusal of this chart's own leads to a compaction, or a provider's that has not led to one in this turn. */
export const leadsToCompaction = (error: PreflightError, compacting: Compacting | undefined): boolean =>
  error instanceof AdapterError &&
  error.reason === "context_length_exceeded" &&
  (isDue(error) || compacting?.exceeded !== true)

/** What the chart notes about a refusal that leads to a compaction. */
export const compactingAfter = (error: Held<PreflightError>, former: Compacting | undefined): Compacting =>
  isDue(original(error)) ? { ...former, refusal: undefined } : { ...former, exceeded: true, refusal: error }

const isDue = ({ metadata }: PreflightError): boolean => metadata["due"] === true

/** What comes of a compaction: the request for a summary, or its end. */
export type CompactionStep =
  | { readonly type: "compaction.asks" }
  | {
      readonly type: "compaction.ended"
      readonly compaction?: Compaction | undefined
      readonly usage?: Usage | undefined
      readonly failed?: boolean | undefined
      readonly error?: Held<PreflightError> | undefined
    }

class CompactionRun {
  readonly #options: RunOptions
  readonly #plan: CompactionPlan
  readonly #collector: StreamCollector
  readonly #outlet

  constructor(opening: CompactionOpening, options: RunOptions) {
    const { refusal, failed, byHand } = opening.compacting ?? {}
    this.#options = options
    this.#collector = new StreamCollector(undefined, options.maxToolArgumentCharacters)
    const cause = { exceeded: refusal !== undefined, failed, byHand }
    this.#plan = options.compaction?.plan(sourceOf(opening, options), cause) ?? { type: "nothing" }
    this.#outlet = outletIn(options.system)
    this.#outlet.drive(() => {})
  }

  /** What follows the plan, or the reply of the model. */
  next({ step }: CompactionOpening): CompactionStep {
    const plan = this.#plan
    if (plan.type !== "ask") return endOf(plan)
    if (step === undefined) return { type: "compaction.asks" }
    const reply = step.ending?.type === "answered" && step.reply !== undefined ? original(step.reply) : undefined
    const usage = reply?.usage
    if (reply === undefined || reply.finishReason === "error" || reply.outputText.trim() === "") {
      return { ...endOf(plan.after(undefined)), usage, failed: true }
    }
    return {
      ...endOf(plan.after({ text: reply.outputText, usage: reply.usage, model: reply.model ?? undefined })),
      usage
    }
  }

  /** The request for a summary. */
  get request(): RunnableRequest | undefined {
    const plan = this.#plan
    if (plan.type !== "ask") return undefined
    const { instructions, text, maxTokens, model = this.#options.model } = plan.request
    const { engine, toolChoice: _, responseFormat: __, onEvent: ___, ...rest } = this.#options
    const options = { ...rest, engine, instructions, tools: [], maxTokens, model }
    return {
      adapter: adapterIn(engine),
      request: requestOf({ engine, thread: { messages: [user(text)] }, options }),
      options,
      collector: this.#collector,
      outlet: this.#outlet,
      read: () => {
        const reply = held(this.#collector.toResponse(this.#options.requestId))
        return { id: undefined, reply, count: 0, hasUnknownTool: false }
      }
    }
  }
}

const endOf = (plan: CompactionPlan): Extract<CompactionStep, { readonly type: "compaction.ended" }> => {
  switch (plan.type) {
    case "compacted":
      return { type: "compaction.ended", compaction: plan.compaction }
    case "too_large":
      return { type: "compaction.ended", error: held<PreflightError>(plan.error) }
    case "nothing":
      return { type: "compaction.ended" }
    case "ask":
      return endOf(plan.after(undefined))
  }
}

/** The compactions of a chat. */
export class Compactions {
  /** Why the next request is not sent. */
  refusal: AdapterError | undefined
  #run: CompactionRun | undefined
  #usage = Usages.empty

  /** A turn begins: the one before may have stopped in its compaction. */
  drop(): void {
    this.refusal = undefined
    this.#run = undefined
  }

  /** Whether a compaction comes before a request that is due for one: none does after a plan for the same messages. */
  delays({ thread, compacting }: CompactionOpening): boolean {
    const message = "A compaction is due"
    this.refusal =
      compacting?.at === thread.messages.length
        ? undefined
        : new AdapterError("context_length_exceeded", { message, metadata: { due: true } })
    return this.refusal !== undefined
  }

  get request(): RunnableRequest | undefined {
    return this.#run?.request
  }

  /** Compacts a thread, up to its next request for a summary. */
  compact(opening: CompactionOpening, { options, outlet }: StepLive, send: (event: CompactionStep) => void): void {
    this.refusal = undefined
    if (opening.step === undefined && opening.asks !== true) this.#run = undefined
    this.#run ??= new CompactionRun(opening, options)
    if (opening.asks === true) return options.family?.sends()
    const event = this.#run.next(opening)
    if (event.type === "compaction.asks") return send(event)
    this.#run = undefined
    if (opening.compacting?.byHand !== true) this.#usage = Usages.add(this.#usage, event.usage ?? Usages.empty)
    const { compaction } = event
    if (compaction === undefined) return send(event)
    emit(outlet, [{ type: "thread_compacted", compaction }], () => send(event))
  }

  /** A step with the usage of the compactions before it. */
  added(result: StepResult): StepResult {
    const usage = this.#usage
    this.#usage = Usages.empty
    return usage === Usages.empty
      ? result
      : { ...result, childUsage: Usages.add(usage, result.childUsage ?? Usages.empty) }
  }
}
