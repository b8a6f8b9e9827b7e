/** The request body of a client of AG-UI. Only its new content is used: the server has the conversation. */
import type { ContentPart } from "@troupe/chat/messages"
import type { Decision } from "@troupe/chat/tools"
import * as z from "zod"
import { checkedContent, filePart } from "../index.ts"

const Part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  source: z.looseObject({ type: z.string(), value: z.string(), mimeType: z.string().optional() }).optional(),
  filename: z.string().optional()
})

const AgUiInput = z.looseObject({
  id: z.string().min(1).max(256),
  role: z.string(),
  content: z.union([z.string(), z.array(Part)]).nullish(),
  toolCallId: z.string().optional(),
  error: z.string().optional()
})

/** A message in the client's form. */
export type AgUiInput = z.infer<typeof AgUiInput>

const Answer = z.looseObject({
  interruptId: z.string(),
  status: z.enum(["resolved", "cancelled"]),
  payload: z.unknown().optional()
})
type Answer = z.infer<typeof Answer>

/** The body of `POST /ag-ui`. */
export const AgUiRequest = z.looseObject({
  threadId: z.string(),
  runId: z.string().min(1).max(256),
  messages: z.array(AgUiInput),
  resume: z.array(Answer).nullish()
})
export type AgUiRequest = z.infer<typeof AgUiRequest>

/** The user's content. Throws an `HttpError` (413, 422). */
export const contentOf = ({ content }: AgUiInput, mostCharacters: number): string | ReadonlyArray<ContentPart> =>
  checkedContent(
    typeof content === "string" && content !== "" ? [{ type: "text", text: content }] : partsOf(content),
    mostCharacters
  )

const partsOf = (content: AgUiInput["content"]): ReadonlyArray<ContentPart> =>
  (Array.isArray(content) ? content : []).flatMap(({ type, text, source, filename }): ReadonlyArray<ContentPart> => {
    if (type === "text" && text !== undefined && text !== "") return [{ type: "text", text }]
    if (source === undefined || source.type === "file") return []
    const mediaType = source.mimeType ?? (type === "image" ? "image/*" : "application/octet-stream")
    return [
      filePart(source.type === "data" ? `data:${mediaType};base64,${source.value}` : source.value, mediaType, filename)
    ]
  })

/** The results of the client's own tools, for the calls since the model's last message. */
export const resultsIn = (messages: ReadonlyArray<AgUiInput>): ReadonlyMap<string, unknown> =>
  new Map(
    messages
      .slice(messages.findLastIndex(({ role }) => role === "assistant") + 1)
      .flatMap(({ role, toolCallId, content, error }) => {
        if (role !== "tool" || toolCallId === undefined) return []
        return [[toolCallId, error === undefined ? resultOf(content) : new Error(error)] as const]
      })
  )

/** A result: its text, or its parts if it has an image or a file. */
const resultOf = (content: AgUiInput["content"]): unknown => {
  if (typeof content === "string") return content
  const parts = partsOf(content)
  const texts = parts.flatMap((part) => (part.type === "text" ? [part.text] : []))
  return texts.length === parts.length ? texts.join("") : parts
}

/** The answers to interrupts: decisions about calls, and an answer to a question, by the id of the call. */
export interface AgUiAnswers {
  readonly decisions: ReadonlyMap<string, Decision>
  readonly answers: ReadonlyMap<string, string>
}

/** Reads the answers to interrupts. A cancelled interrupt is a denial, or no answer. */
export const answersIn = (resume: ReadonlyArray<Answer>): AgUiAnswers => ({
  decisions: new Map(
    resume.flatMap((answer) => {
      const id = idBehind("approval:", answer)
      return id === undefined ? [] : [[id, decisionOf(answer)] as const]
    })
  ),
  answers: new Map(
    resume.flatMap((answer) => {
      const id = idBehind("question:", answer)
      return id === undefined || answer.status === "cancelled" ? [] : [[id, answerOf(answer.payload)] as const]
    })
  )
})

const idBehind = (prefix: string, { interruptId }: Answer): string | undefined =>
  interruptId.startsWith(prefix) ? interruptId.slice(prefix.length) : undefined

const Verdict = z.looseObject({
  approved: z.boolean(),
  reason: z.string().optional(),
  arguments: z.record(z.string(), z.unknown()).optional()
})

/** Only an explicit approval allows a call. */
const decisionOf = ({ status, payload }: Answer): Decision => {
  if (status === "cancelled") return { type: "deny", reason: "Nobody decided" }
  const { data } = Verdict.safeParse(payload)
  if (data?.approved === true)
    return { type: "allow", ...(data.arguments === undefined ? {} : { arguments: data.arguments }) }
  return { type: "deny", ...(data?.reason === undefined ? {} : { reason: data.reason }) }
}

const answerOf = (payload: unknown): string => (typeof payload === "string" ? payload : (JSON.stringify(payload) ?? ""))
