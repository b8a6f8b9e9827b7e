/**
 * Responses: the results of one model request.
 *
 * PAUSE1. A reply that its provider paused is no answer: the turn sends a further request, whose last message is that reply,
 *         unless a bound of the turn holds. An adapter marks such a reply with `metadata.paused: true` of its message.
 *
 * @module
 */
import * as z from "zod"
import { openRecord } from "../values/index.ts"
import { AssistantMessage } from "./messageShapes.ts"
import { text as messageText } from "./Message.ts"
import { ToolCall } from "./ToolCall.ts"
import { Usage } from "./Usage.ts"

/**
 * Why the model stopped.
 *
 * - `stop`: the reply is complete
 * - `length`: the output limit was reached
 * - `tool_calls`: it waits for tool results
 * - `content_filter`: the provider withheld the rest
 * - `error`: the request failed after it had begun
 * - `other`: anything else
 */
export const FinishReason = z.enum(["stop", "length", "tool_calls", "content_filter", "error", "other"])
export type FinishReason = z.infer<typeof FinishReason>

const responseSchema = z.lazy(() =>
  z
    .object({
      id: z.string().optional(),
      requestId: z.string().optional(),
      model: z.string().optional(),
      message: AssistantMessage.optional(),
      outputText: z.string(),
      toolCalls: z.array(ToolCall).readonly(),
      finishReason: FinishReason.nullable(),
      rawFinishReason: z.string().optional(),
      usage: Usage,
      metadata: openRecord
    })
    .readonly()
)

/**
 * The outcome of one model request, folded from its events.
 *
 * **Details**: `finishReason` is `null` when the adapter reported none. `metadata.error` holds the error of a request that
 * failed after its stream had opened.
 */
export interface Response extends z.infer<typeof responseSchema> {}
export const Response: z.ZodType<Response> = responseSchema

/** The text of a response: the streamed text, else the text of its message. */
export const text = (response: Response): string =>
  response.outputText !== "" || response.message === undefined ? response.outputText : messageText(response.message)

/** Whether the model is to continue after this response: it waits for tool results, or its provider paused it (PAUSE1). */
export const goesOn = ({ finishReason, message }: Pick<Response, "finishReason" | "message">): boolean =>
  finishReason === "tool_calls" || (finishReason !== "error" && message?.metadata?.["paused"] === true)
