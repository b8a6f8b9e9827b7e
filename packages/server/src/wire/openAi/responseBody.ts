/** The object of an OpenAI response. */
import type { ChatResult } from "@troupe/chat/chats"
import { finishReasonOf, usageOf } from "./openAiReply.ts"
import type { OpenAiError } from "./openAiError.ts"
import type { ResponsePlace } from "./responseIds.ts"
import type { ResponseItem } from "./outputItems.ts"
import type { ResponsesRequest } from "./responsesRequest.ts"

/** The fields that do not change while a response runs. */
export interface ResponseHead {
  readonly id: string
  readonly object: "response"
  readonly created_at: number
  readonly model: string
  readonly [field: string]: unknown
}

/** Where a response stands. */
export interface ResponseState {
  readonly status: "in_progress" | "completed" | "incomplete" | "failed" | "cancelled"
  readonly output: ReadonlyArray<ResponseItem>
  readonly error?: { readonly code: string; readonly message: string }
  readonly incomplete?: string
  readonly usage?: ReturnType<typeof responseUsageOf>
}

type Place = Pick<ResponsePlace, "created" | "model"> & { readonly conversation?: string }

/** The head of a response. A response that is read later has no request. */
export const headOf = (
  id: string,
  { created, model, conversation }: Place,
  request?: ResponsesRequest
): ResponseHead => ({
  id,
  object: "response",
  created_at: created,
  model,
  background: request?.background ?? false,
  conversation: conversation === undefined ? null : { id: conversation },
  instructions: request?.instructions ?? null,
  max_output_tokens: request?.max_output_tokens ?? null,
  metadata: request?.metadata ?? {},
  parallel_tool_calls: request?.parallel_tool_calls ?? true,
  previous_response_id: request?.previous_response_id ?? null,
  reasoning: { effort: request?.reasoning?.effort ?? null, summary: request?.reasoning?.summary ?? null },
  store: conversation !== undefined,
  temperature: request?.temperature ?? null,
  text: { format: request?.text?.format ?? { type: "text" } },
  tool_choice: request?.tool_choice ?? "auto",
  tools: request?.tools ?? [],
  top_p: request?.top_p ?? null,
  truncation: "disabled"
})

/** The whole response. */
export const responseBody = (head: ResponseHead, { status, output, error, incomplete, usage }: ResponseState) => ({
  ...head,
  status,
  output,
  error: error ?? null,
  incomplete_details: incomplete === undefined ? null : { reason: incomplete },
  usage: usage ?? null
})

/** The usage of all requests of the run. */
const responseUsageOf = (result: ChatResult) => {
  const { prompt_tokens, completion_tokens, total_tokens, ...details } = usageOf(result)
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: { cached_tokens: details.prompt_tokens_details?.cached_tokens ?? 0 },
    output_tokens: completion_tokens,
    output_tokens_details: { reasoning_tokens: details.completion_tokens_details?.reasoning_tokens ?? 0 },
    total_tokens
  }
}

/** The state of a run that is over; `failed` makes the error of one that failed. */
export const endedState = (
  result: ChatResult,
  output: ReadonlyArray<ResponseItem>,
  failed: (result: ChatResult) => OpenAiError
): ResponseState => {
  const reason = finishReasonOf(result)
  const usage = responseUsageOf(result)
  if (reason === "length") return { status: "incomplete", incomplete: "max_output_tokens", output, usage }
  if (reason === "content_filter") return { status: "incomplete", incomplete: "content_filter", output, usage }
  if (reason !== undefined) return { status: "completed", output, usage }
  if (result.haltedReason === "cancelled") return { status: "cancelled", output, usage }
  return failedState(failed(result), output)
}

/** The state of a run that failed. */
export const failedState = ({ error }: OpenAiError, output: ReadonlyArray<ResponseItem>): ResponseState => ({
  status: "failed",
  error: { code: error.code, message: error.message },
  output
})
