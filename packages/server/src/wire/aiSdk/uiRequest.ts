/** The request body of a client of the AI SDK. Only its new content is used: the server has the conversation. */
import { type ContentPart, Message } from "@troupe/chat/messages"
import type { Decision } from "@troupe/chat/tools"
import * as z from "zod"
import { type CallResult, checkedAnswer, checkedContent, checkedResult, filePart, named } from "../index.ts"
import { dataIn } from "./uiData.ts"

const Part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  url: z.string().optional(),
  mediaType: z.string().optional(),
  filename: z.string().optional(),
  toolCallId: z.string().optional(),
  state: z.string().optional(),
  output: z.unknown().optional(),
  errorText: z.string().optional(),
  preliminary: z.boolean().optional(),
  approval: z
    .looseObject({ id: z.string(), approved: z.boolean().optional(), reason: z.string().optional() })
    .optional()
})
type Part = z.infer<typeof Part>

const UiInput = z.looseObject({
  id: z.string().max(256).optional(),
  role: z.enum(["system", "user", "assistant"]),
  metadata: z.unknown().optional(),
  parts: z.array(Part)
})

/** A message in the client's form. */
export type UiInput = z.infer<typeof UiInput>

/** The body of `POST /api/chat`: the client's whole history in `messages`, or only the last `message`. */
export const UiRequest = z.looseObject({
  id: z.string(),
  messages: z.array(UiInput).optional(),
  message: UiInput.optional(),
  trigger: z.enum(["submit-message", "regenerate-message"]).default("submit-message"),
  messageId: z.string().nullish(),
  whenBusy: z.enum(["queue", "steer", "interrupt", "reject"]).optional(),
  tools: z.unknown().optional(),
  system: z.unknown().optional()
})
export type UiRequest = z.infer<typeof UiRequest>

/** The content of a part of the user; `undefined` for a part that no model gets. */
const contentPart = ({ type, text, url, mediaType, filename }: Part): ContentPart | undefined => {
  if (type === "text" && text !== undefined && text !== "") return { type: "text", text }
  return type === "file" && url !== undefined
    ? filePart(url, mediaType ?? "application/octet-stream", filename)
    : undefined
}

/** The user's message, with its data (UIDATA1). Throws an `HttpError` (413, 422). */
export const userMessage = ({ id, metadata, parts }: UiInput, mostCharacters: number): ReturnType<typeof named> => {
  checkedAnswer(metadata, mostCharacters)
  const content = parts.flatMap((part) => contentPart(part) ?? [])
  const data = dataIn(parts, (part) => contentPart(part) !== undefined, mostCharacters)
  return named(Message.user(checkedContent(content, mostCharacters)), id, metadata ?? undefined, data)
}

/** The client's decisions about calls, and the results of its own tools. */
export interface UiAnswers {
  readonly decisions: ReadonlyMap<string, Decision>
  readonly results: ReadonlyMap<string, CallResult>
}

/** The answers in a message of the model. Throws an `HttpError` (413, 422). */
export const answersIn = ({ parts }: UiInput, mostCharacters: number): UiAnswers => {
  const tools = parts.filter(({ type }) => type.startsWith("tool-") || type === "dynamic-tool")
  const decisions = new Map(tools.flatMap(decisionIn))
  const results = new Map(tools.flatMap(resultIn))
  for (const decision of decisions.values()) checkedAnswer(decision, mostCharacters)
  for (const result of results.values()) checkedResult(result, mostCharacters)
  return { decisions, results }
}

const decisionIn = ({ toolCallId, approval }: Part): ReadonlyArray<readonly [string, Decision]> => {
  if (toolCallId === undefined || approval?.approved === undefined) return []
  const { approved, reason } = approval
  return [[toolCallId, approved ? { type: "allow" } : { type: "deny", ...(reason !== undefined && { reason }) }]]
}

const resultIn = ({
  toolCallId,
  state,
  output,
  errorText,
  preliminary
}: Part): ReadonlyArray<readonly [string, CallResult]> => {
  if (toolCallId === undefined || preliminary === true) return []
  if (state === "output-available") return [[toolCallId, { value: output ?? null }]]
  return state === "output-error" ? [[toolCallId, { error: errorText ?? "The tool failed" }]] : []
}
