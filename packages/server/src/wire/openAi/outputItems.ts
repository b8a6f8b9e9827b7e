/** The items of the output of an OpenAI response. */
import type { Citation, ProviderCall, ReplyImage } from "./replyParts.ts"

/** The state of an item. */
export type ItemStatus = "in_progress" | "completed" | "incomplete"

/** A text of the model. */
export interface MessageItem {
  readonly type: "message"
  readonly id: string
  readonly role: "assistant"
  readonly status: ItemStatus
  readonly content: ReadonlyArray<{
    readonly type: "output_text"
    readonly text: string
    readonly annotations: ReadonlyArray<Citation>
    readonly logprobs: ReadonlyArray<never>
  }>
}

/** The summary of the model's reasoning. */
export interface ReasoningItem {
  readonly type: "reasoning"
  readonly id: string
  readonly summary: ReadonlyArray<{ readonly type: "summary_text"; readonly text: string }>
}

/** A call that the client answers. */
export interface CallItem {
  readonly type: "function_call"
  readonly id: string
  readonly call_id: string
  readonly name: string
  readonly arguments: string
  readonly status: ItemStatus
}

/** A call that the provider ran, whatever its tool is: no other item of the protocol has a name, arguments and a result. */
interface ProviderCallItem {
  readonly type: "mcp_call"
  readonly id: string
  readonly server_label: "provider"
  readonly name: string
  readonly arguments: string
  readonly status: ItemStatus | "failed"
  readonly output: string | null
  readonly error: { readonly type: "mcp_tool_execution_error"; readonly content: string } | null
  readonly approval_request_id: null
}

/** An image that the model made. */
interface ImageItem {
  readonly type: "image_generation_call"
  readonly id: string
  readonly status: "in_progress" | "completed"
  readonly result: string | null
  readonly output_format?: string
}

/** An item of the output. */
export type ResponseItem = MessageItem | ReasoningItem | CallItem | ProviderCallItem | ImageItem

/** An event of the stream, without its number. */
export interface ResponseEvent {
  readonly type: `response.${string}`
  readonly [field: string]: unknown
}

/** The content of a message item. */
export const textPart = (text: string, annotations: ReadonlyArray<Citation> = []): MessageItem["content"][number] => ({
  type: "output_text",
  text,
  annotations,
  logprobs: []
})

/** An item that is added and done at once: its forms, and the events between. */
export interface WholeItem {
  readonly added: ResponseItem
  readonly events: ReadonlyArray<ResponseEvent>
  readonly done: ResponseItem
}

/** The item of a call that the provider ran. */
export const providerCallItem = (id: string, index: number, call: ProviderCall): WholeItem => {
  const { name, arguments: args, result, isError } = call
  const added: ProviderCallItem = {
    type: "mcp_call",
    id,
    server_label: "provider",
    name,
    arguments: "",
    status: "in_progress",
    output: null,
    error: null,
    approval_request_id: null
  }
  const end = isError ? "failed" : result === undefined ? "incomplete" : "completed"
  const at = { item_id: id, output_index: index }
  return {
    added,
    events: [
      { type: "response.mcp_call.in_progress", ...at },
      { type: "response.mcp_call_arguments.done", ...at, arguments: args },
      ...(end === "incomplete" ? [] : [{ type: `response.mcp_call.${end}` as const, ...at }])
    ],
    done: {
      ...added,
      arguments: args,
      status: end,
      output: isError ? null : (result ?? null),
      error: isError ? { type: "mcp_tool_execution_error", content: result ?? "" } : null
    }
  }
}

/** The item of an image with its data. */
export const imageItem = (id: string, index: number, { mediaType }: ReplyImage, base64: string): WholeItem => {
  const [, format = ""] = mediaType.split("/")
  const added: ImageItem = { type: "image_generation_call", id, status: "in_progress", result: null }
  return {
    added,
    events: [{ type: "response.image_generation_call.completed", item_id: id, output_index: index }],
    done: { ...added, status: "completed", result: base64, ...(format === "*" ? {} : { output_format: format }) }
  }
}
