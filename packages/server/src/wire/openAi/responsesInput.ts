/**
 * The input of OpenAI's responses: where it continues, and what of it is new.
 *
 * RESPIN1. The server has the conversation: of an input that repeats items of a stored response, only what follows the last
 *          of them is new. Everything before is ignored.
 */
import { type ContentPart, Message, ToolCall } from "@troupe/chat/messages"
import { beginningOf, HttpError, quoted } from "../../errors/index.ts"
import { checkedAnswer, checkedContent, checkedLength, filePart } from "../index.ts"
import { placeIn, type ResponsePlace, toolCallIdIn } from "./responseIds.ts"
import { answerOf } from "./replyParts.ts"
import type { ResponsesItem, ResponsesPart, ResponsesRequest } from "./responsesRequest.ts"

type UserContent = Parameters<typeof Message.user>[0]

/** A request's input. */
export interface ResponsesInput {
  /** The instructions, with those that are items of the input. */
  readonly instructions: string | undefined
  /** The response that the input continues. */
  readonly previous: ResponsePlace | undefined
  /** The items that the server does not have. */
  readonly added: ReadonlyArray<ResponsesItem>
}

const isInstruction = ({ role }: ResponsesItem): boolean => role === "system" || role === "developer"

const isOutput = ({ type }: ResponsesItem): boolean => type === "function_call_output"

/** The items that only the model says. Of another server's, the text, the calls and the images are read. */
const answerTypes: ReadonlySet<unknown> = new Set(["function_call", "reasoning", "mcp_call", "image_generation_call"])

const isAnswer = ({ type, role }: ResponsesItem): boolean => answerTypes.has(type) || role === "assistant"

/** The place that an item names. */
const placeOf = ({ id, call_id: call }: ResponsesItem): ResponsePlace | undefined =>
  placeIn(id ?? "") ?? placeIn(call ?? "")

/** Reads the input. Throws an `HttpError` (404, 413) for an item that is not known, and for instructions that are too long. */
export const responsesInput = (body: ResponsesRequest, mostCharacters: number): ResponsesInput => {
  const items: ReadonlyArray<ResponsesItem> =
    typeof body.input === "string" ? [{ role: "user", content: body.input }] : body.input
  const said = items.filter((item) => !isInstruction(item))
  const instructions = [body.instructions ?? "", ...items.filter(isInstruction).map(textOf)].filter((one) => one !== "")
  for (const text of instructions) checkedLength(text, mostCharacters)
  const known = said.findLastIndex((item) => !isOutput(item) && placeOf(item) !== undefined)
  const added = said.slice(known + 1)
  const previous = body.previous_response_id ?? undefined
  return {
    instructions: instructions.length === 0 ? undefined : instructions.join("\n\n"),
    previous: previous === undefined ? placeAt(said[known], added) : knownResponse(previous),
    added: added.filter((item) => !isReference(item))
  }
}

const placeAt = (known: ResponsesItem | undefined, added: ReadonlyArray<ResponsesItem>): ResponsePlace | undefined => {
  const foreign = added.find(isReference)
  if (foreign !== undefined) throw new HttpError("not_found", `There is no item ${JSON.stringify(foreign.id)} here`)
  if (known !== undefined) return placeOf(known)
  return added.map((item) => (isOutput(item) ? placeOf(item) : undefined)).find((place) => place !== undefined)
}

const isReference = ({ type, role, id }: ResponsesItem): boolean =>
  type === "item_reference" || ((type ?? undefined) === undefined && role === undefined && typeof id === "string")

/** The place of a response. Throws an `HttpError` (404) for an id that this server did not make. */
export const knownResponse = (id: string): ResponsePlace => {
  const place = placeIn(id)
  if (place === undefined || !id.startsWith("resp_"))
    throw new HttpError("not_found", "There is no such response here; those with store: false are not kept")
  return place
}

/** The items after the last answer. */
const behindAnswers = (items: ReadonlyArray<ResponsesItem>): ReadonlyArray<ResponsesItem> =>
  items.slice(items.findLastIndex(isAnswer) + 1)

/** The results of calls, with the model's ids. Throws an `HttpError` (413, 422). */
export const resultsIn = (added: ReadonlyArray<ResponsesItem>, mostCharacters: number) =>
  behindAnswers(added)
    .filter(isOutput)
    .map((item) => ({
      id: toolCallIdIn(callIdOf(item)),
      value: resultOf(item, mostCharacters),
      field: ["input"]
    }))

/** The user's messages after the last answer, as one; `undefined` if there is none. Throws an `HttpError` (413, 422). */
export const saidIn = (added: ReadonlyArray<ResponsesItem>, mostCharacters: number): UserContent | undefined => {
  const messages = behindAnswers(added).filter(isUser)
  return messages.length === 0 ? undefined : checkedContent(messages.flatMap(partsOf), mostCharacters)
}

const isUser = ({ role }: ResponsesItem): boolean => role === "user"

/** The items before the user's last messages, which are the conversation of another server, and these messages. */
export const splitHistory = (added: ReadonlyArray<ResponsesItem>) => {
  const end = added.findLastIndex((item) => !isUser(item)) + 1
  return { earlier: added.slice(0, end), said: added.slice(end) }
}

/** Converts items to messages. Throws an `HttpError` (413, 422). */
export const messagesOf = (
  items: ReadonlyArray<ResponsesItem>,
  mostCharacters: number
): ReadonlyArray<Message.Message> => {
  const messages: Array<Message.Message> = []
  let text: ReadonlyArray<string> = []
  let calls: ReadonlyArray<ToolCall.ToolCall> = []
  let images: ReadonlyArray<ContentPart> = []
  const answered = (): void => {
    if (text.length === 0 && calls.length === 0 && images.length === 0) return
    messages.push(answerOf(checkedLength(text.join("\n\n"), mostCharacters), calls, images))
    text = []
    calls = []
    images = []
  }
  for (const item of items) {
    if (item.type === "reasoning" || item.type === "mcp_call") continue
    if (item.type === "image_generation_call") {
      if (calls.length > 0) answered()
      images = [...images, ...checkedLength(imagesOf(item), mostCharacters)]
    } else if (item.type === "function_call") calls = [...calls, callOf(item, mostCharacters)]
    else if (item.role === "assistant") {
      if (calls.length > 0) answered()
      text = [...text, textOf(item)]
    } else {
      answered()
      messages.push(messageOf(item, mostCharacters))
    }
  }
  answered()
  return messages
}

/** The image of an item, if it has its data. */
const imagesOf = ({ result, output_format: format }: ResponsesItem): ReadonlyArray<ContentPart> =>
  typeof result === "string" && result !== ""
    ? [{ type: "image", image: { base64: result, mediaType: `image/${format ?? "png"}` } }]
    : []

const messageOf = (item: ResponsesItem, mostCharacters: number): Message.Message => {
  if (isOutput(item)) return Message.toolResult(callIdOf(item), resultOf(item, mostCharacters))
  if (isUser(item)) return Message.user(checkedContent(partsOf(item), mostCharacters))
  throw unknownItem(item)
}

const unknownItem = ({ type }: ResponsesItem): HttpError =>
  new HttpError("invalid_input", "An item of the input is a message, a function_call or a function_call_output", {
    issues: [{ field: ["input"], reason: `no items of the type ${beginningOf(JSON.stringify(type ?? null), 100)}` }]
  })

/** Throws an `HttpError` (422) for an item that is neither a message, an answer nor the result of a call. */
export const checkItems = (items: ReadonlyArray<ResponsesItem>): void => {
  const other = items.find((item) => !isUser(item) && !isAnswer(item) && !isOutput(item))
  if (other !== undefined) throw unknownItem(other)
}

const callIdOf = ({ call_id: id }: ResponsesItem): string => {
  if (id !== undefined) return id
  throw new HttpError("invalid_input", "A call and its output have a call_id", {
    issues: [{ field: ["input", "call_id"], reason: "is missing" }]
  })
}

const callOf = (item: ResponsesItem, mostCharacters: number): ToolCall.ToolCall => {
  const { name = "", arguments: rawArguments = "" } = checkedAnswer(item, mostCharacters)
  return { id: callIdOf(item), name, arguments: ToolCall.parseArguments(rawArguments), rawArguments }
}

const resultOf = ({ output }: ResponsesItem, mostCharacters: number): string | ReadonlyArray<ContentPart> =>
  typeof output === "object" && output !== null && output.length > 0
    ? checkedContent(output.map(partOf), mostCharacters)
    : checkedLength(typeof output === "string" ? output : "", mostCharacters)

const textOf = ({ content }: ResponsesItem): string =>
  typeof content === "string" ? content : (content ?? []).map(({ text }) => text ?? "").join("")

const partsOf = ({ content }: ResponsesItem): ReadonlyArray<ContentPart> =>
  typeof content === "string" ? [{ type: "text", text: content }] : (content ?? []).map(partOf)

const partOf = (part: ResponsesPart): ContentPart => {
  const { type, text, image_url: image, file_data: data, file_url: url, filename, detail } = part
  if ((type === "input_text" || type === "output_text" || type === "text") && typeof text === "string") {
    return { type: "text", text }
  }
  if (type === "input_image" && typeof image === "string") {
    const read = filePart(image, "image/*")
    return read.type === "image" && typeof detail === "string" && detail !== "original" ? { ...read, detail } : read
  }
  const file = data ?? url
  if (type === "input_file" && typeof file === "string")
    return filePart(file, "application/octet-stream", filename ?? undefined)
  throw new HttpError(
    "invalid_input",
    "A part is input_text, an input_image with its image_url, or an input_file with its file_data or file_url",
    { issues: [{ field: ["input", "content"], reason: `no parts of the type ${quoted(type)}` }] }
  )
}
