/**
 * Reads the end of a reply: the finish reason and the usage.
 *
 * PART4. After an error the finish reason is `error`. When the provider completed a call and gave the reason `stop` or
 *        `other`, the reason is `tool_calls`, and `rawFinishReason` is the provider's. Every other reason is the
 *        provider's. A reply without a reason is an error, unless a call in it has all of its arguments, or the text of a chat
 *        completion (`….chat`) ended with its stream and without a broken call: its reason is `other`, with a warning. Such
 *        streams end with `[DONE]`, which their packages do not pass on.
 */
import {
  InvalidResponseDataError,
  type LanguageModelV2Usage,
  type LanguageModelV4FinishReason,
  type LanguageModelV4Usage
} from "@ai-sdk/provider"
import * as z from "zod"
import type { Usage } from "@troupe/chat/messages"
import type { Response } from "@troupe/chat/models"

/** A finish reason in our words and in the provider's. */
export interface Finish {
  readonly reason: NonNullable<Response["finishReason"]>
  readonly raw: string | undefined
}

/** Reads the finish reason of any version: V2 has one word, later versions also the provider's own. */
export const finishOf = (reason: LanguageModelV4FinishReason | string): Finish =>
  typeof reason === "string"
    ? { reason: reasons[reason] ?? "other", raw: reason }
    : { reason: reasons[reason.unified] ?? "other", raw: reason.raw }

/**
 * Whether the provider gave no reason: the stream was cut off, and its package filled the gap. Current packages use
 * `interrupted` then, older ones `other` without the provider's word.
 */
export const isMissing = (reason: LanguageModelV4FinishReason | string): boolean =>
  typeof reason !== "string" &&
  (reason.unified === "interrupted" || (reason.unified === "other" && reason.raw === undefined))

/** The reason of a text that ended without a reason (PART4). */
export const unexplained: Finish = { reason: "other", raw: undefined }

/**
 * Why a reply ended; `undefined` for a reply without a reason that is an error (PART4). `isText` is whether the reply is a chat
 * completion with a text.
 */
export const reasonOf = (
  finish: Finish | undefined,
  calls: { readonly hasCompleted: boolean; readonly hasWhole: boolean; readonly hasOpen: boolean },
  isText: boolean
): Finish | undefined => {
  if (finish === undefined) {
    if (calls.hasWhole) return { reason: "tool_calls", raw: undefined }
    return isText && !calls.hasCompleted && !calls.hasOpen ? unexplained : undefined
  }
  const { reason, raw = reason } = finish
  return calls.hasCompleted && (reason === "stop" || reason === "other") ? { reason: "tool_calls", raw } : finish
}

/** Whether the provider paused its reply: it continues the reply when it gets it back. */
export const isPaused = (finish: Finish | undefined): boolean =>
  finish?.raw === "pause_turn" && finish.reason !== "tool_calls"

/**
 * Whether an error only reports a stream without a finish reason: `@ai-sdk/openai-compatible` sends such an error in place
 * of a reason, without invalid data in it.
 */
export const reportsNoFinish = (error: unknown): boolean =>
  InvalidResponseDataError.isInstance(error) && error.data === undefined

const reasons: Readonly<Record<string, NonNullable<Response["finishReason"]>>> = {
  stop: "stop",
  length: "length",
  "content-filter": "content_filter",
  "tool-calls": "tool_calls",
  error: "error"
}

/** Reads the usage of any version; a count that was not reported stays absent. */
export const usageOf = (reported: LanguageModelV4Usage | LanguageModelV2Usage | undefined): Usage.Usage => {
  const usage: { -readonly [Field in keyof Usage.Usage]: Usage.Usage[Field] } = {}
  if (reported === undefined || reported === null) return usage
  const put = (field: "inputTokens" | "outputTokens" | "cachedInputTokens" | CountedApart, count: unknown): void => {
    if (typeof count === "number" && Number.isFinite(count)) usage[field] = count
  }
  if ("totalTokens" in reported || typeof reported.inputTokens !== "object") {
    const flat = reported as LanguageModelV2Usage
    put("inputTokens", flat.inputTokens)
    put("outputTokens", flat.outputTokens)
    put("totalTokens", flat.totalTokens)
    put("reasoningTokens", flat.reasoningTokens)
    put("cachedInputTokens", flat.cachedInputTokens)
    return usage
  }
  const { inputTokens, outputTokens } = reported
  put("inputTokens", inputTokens?.total)
  put("cachedInputTokens", inputTokens?.cacheRead)
  put("cacheWriteInputTokens", inputTokens?.cacheWrite)
  put("outputTokens", outputTokens?.total)
  put("reasoningTokens", outputTokens?.reasoning)
  return usage
}

/** The usage that Anthropic reports when a reply begins; its package passes it in a part of its own. Empty for another part. */
export const startUsageOf = ({
  kind,
  providerMetadata
}: {
  readonly kind: string
  readonly providerMetadata?: unknown
}): Usage.Usage => {
  if (kind !== "anthropic.message_start") return {}
  const { data } = MessageStart.safeParse(providerMetadata)
  if (data === undefined) return {}
  const { input_tokens: input, output_tokens: output, ...cache } = data.anthropic.usage
  const read = cache.cache_read_input_tokens ?? 0
  const written = cache.cache_creation_input_tokens ?? 0
  return usageOf({
    inputTokens: { total: input + read + written, noCache: input, cacheRead: read, cacheWrite: written },
    outputTokens: { total: output ?? undefined, text: undefined, reasoning: undefined }
  })
}

const count = z.number().nullish()

const MessageStart = z.lazy(() =>
  z.object({
    anthropic: z.object({
      usage: z.object({
        input_tokens: z.number(),
        output_tokens: count,
        cache_read_input_tokens: count,
        cache_creation_input_tokens: count
      })
    })
  })
)

type CountedApart = "cacheWriteInputTokens" | "reasoningTokens" | "totalTokens"
