/**
 * The request body of a client of AG-UI. Of its messages only the new content is used: the server has the conversation.
 *
 * AGUIIN1. Everything that a client sends has a bound. A part that the server cannot read is refused, and never left out.
 */
import type { ContentPart } from "@troupe/chat/messages"
import type { Decision } from "@troupe/chat/tools"
import * as z from "zod"
import { HttpError, quoted } from "../../errors/index.ts"
import { type CallResult, checkedContent, filePart } from "../index.ts"

const Part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  source: z.looseObject({ type: z.string(), value: z.string(), mimeType: z.string().optional() }).optional(),
  filename: z.string().optional(),
  metadata: z.unknown().optional(),
  mimeType: z.string().optional(),
  data: z.string().optional(),
  url: z.string().optional()
})
type Part = z.infer<typeof Part>

const Content = z.union([z.string(), z.array(Part), z.record(z.string(), z.unknown())])

const AgUiInput = z.looseObject({
  id: z.string().min(1),
  role: z.string().max(64),
  content: Content.nullish(),
  toolCallId: z.string().optional(),
  error: z.string().nullish()
})

/** A message in the client's form. */
export type AgUiInput = z.infer<typeof AgUiInput>

const Answer = z.looseObject({
  interruptId: z.string().max(1_024),
  status: z.enum(["resolved", "cancelled"]),
  payload: z.unknown().optional()
})
type Answer = z.infer<typeof Answer>

const ClientTool = z.looseObject({
  name: z.string().min(1).max(256),
  description: z.string().nullish(),
  parameters: z.record(z.string(), z.unknown()).nullish()
})

const ContextEntry = z.object({ description: z.string(), value: z.string() })

/** The most tools, entries of the context, and answers of a request. */
const most = 128

/** The body of `POST /ag-ui`. */
export const AgUiRequest = z.looseObject({
  threadId: z.string(),
  runId: z.string().min(1).max(256),
  protocolVersion: z.string().max(64).nullish(),
  messages: z.array(AgUiInput),
  resume: z.array(Answer).max(most).nullish(),
  tools: z.array(ClientTool).max(most).nullish(),
  context: z.array(ContextEntry).max(most).nullish(),
  state: z.unknown().optional(),
  forwardedProps: z.unknown().optional()
})
export type AgUiRequest = z.infer<typeof AgUiRequest>

/** Throws an `HttpError` (413) for tools, a context, a state or properties that are longer than a message may be. */
export const checkLengths = (body: AgUiRequest, mostCharacters: number): void => {
  for (const name of ["tools", "context", "state", "forwardedProps"] as const) {
    if ((JSON.stringify(body[name]) ?? "").length <= mostCharacters) continue
    throw new HttpError("message_too_long", `\`${name}\` has more than ${mostCharacters} characters; send less`, {
      issues: [{ field: [name], reason: `has more than ${mostCharacters} characters` }]
    })
  }
}

/** The most characters of the id of a person's message. */
const longestId = 256

/** The user's content. Throws an `HttpError` (413, 422). */
export const contentOf = ({ id, content }: AgUiInput, mostCharacters: number): string | ReadonlyArray<ContentPart> => {
  if (id.length > longestId) throw unreadable(`The id of a message has at most ${longestId} characters`, "id")
  return checkedContent(
    typeof content === "string" && content !== "" ? [{ type: "text", text: content }] : partsOf(content),
    mostCharacters
  )
}

const partsOf = (content: AgUiInput["content"]): ReadonlyArray<ContentPart> =>
  (Array.isArray(content) ? content : []).flatMap((part): ReadonlyArray<ContentPart> => {
    const { type, text } = part
    if (type === "text" && text !== undefined) return text === "" ? [] : [{ type: "text", text }]
    const source = sourceOf(part)
    if (source === undefined || source.type === "file")
      throw unreadable(`A part of the type ${quoted(type)} has text, or the data or the URL of a file`, "content")
    const mediaType = source.mimeType ?? (type === "image" ? "image/*" : "application/octet-stream")
    const url = source.type === "data" ? `data:${mediaType};base64,${source.value}` : source.value
    return [filePart(url, mediaType, filenameOf(part))]
  })

/** The source of a file. A part of the type `binary`, of earlier versions, has it in fields of its own. */
const sourceOf = ({ type, source, data, url, mimeType }: Part): Part["source"] => {
  if (type !== "binary") return source
  if (data !== undefined) return { type: "data", value: data, mimeType }
  return url === undefined ? undefined : { type: "url", value: url, mimeType }
}

const Named = z.looseObject({ filename: z.string() })

const filenameOf = ({ filename, metadata }: Part): string | undefined =>
  filename ?? Named.safeParse(metadata).data?.filename

const unreadable = (message: string, field: string): HttpError =>
  new HttpError("invalid_input", message, { issues: [{ field: ["messages", field], reason: message }] })

/** The results of the client's own tools, for the calls since the model's last message. Throws an `HttpError` (422). */
export const resultsIn = (messages: ReadonlyArray<AgUiInput>): ReadonlyMap<string, CallResult> =>
  new Map<string, CallResult>(
    messages
      .slice(messages.findLastIndex(({ role }) => role === "assistant") + 1)
      .flatMap(({ role, toolCallId, content, error }) => {
        if (role !== "tool" || toolCallId === undefined) return []
        return [[toolCallId, typeof error === "string" ? { error } : { value: resultOf(content) }] as const]
      })
  )

/** The ids of all messages with results, by the id of their call. */
export const resultIdsIn = (messages: ReadonlyArray<AgUiInput>): ReadonlyMap<string, ReadonlyArray<string>> => {
  const ids = new Map<string, Array<string>>()
  for (const { id, role, toolCallId } of messages) {
    if (role !== "tool" || toolCallId === undefined) continue
    ids.set(toolCallId, [...(ids.get(toolCallId) ?? []), id])
  }
  return ids
}

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

/** The id of the call that an interrupt is about. */
export const interruptedCall = (interruptId: string): string | undefined =>
  /^(?:approval|question):(?<id>.*)$/su.exec(interruptId)?.groups?.["id"]

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
