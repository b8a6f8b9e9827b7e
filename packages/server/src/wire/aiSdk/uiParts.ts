/** Converts messages to the messages and parts of the AI SDK's user interfaces. */
import { type ContentPart, Message } from "@troupe/chat/messages"
import type { Outcome } from "@troupe/chat/results"
import type { PendingApproval } from "@troupe/chat/tools"
import {
  isQuestion,
  isSaid,
  messageName,
  reasoningTexts,
  replyName,
  type StepMessages,
  stepsOf,
  valueOf
} from "../index.ts"

/** The state of a tool call. */
type ToolState =
  | { readonly state: "input-available" }
  | { readonly state: "approval-requested"; readonly approval: { readonly id: string; readonly requestReason: string } }
  | { readonly state: "output-available"; readonly output: unknown }
  | { readonly state: "output-error"; readonly errorText: string }
  | {
      readonly state: "output-denied"
      readonly approval: { readonly id: string; readonly approved: false; readonly reason: string }
    }

/** A tool call. */
export type ToolPart = {
  readonly type: `tool-${string}`
  readonly toolCallId: string
  readonly input: unknown
  /** The server runs the tool: clients neither answer the call nor wait for an answer. */
  readonly providerExecuted?: true
} & ToolState

/** One part of a message. */
export type UiPart =
  | { readonly type: "step-start" }
  | { readonly type: "text"; readonly text: string; readonly state: "done" }
  | { readonly type: "reasoning"; readonly text: string; readonly state: "done" }
  | { readonly type: "file"; readonly mediaType: string; readonly url: string; readonly filename?: string }
  | ToolPart

/** A message. */
export interface UiMessage {
  readonly id: string
  readonly role: "user" | "assistant"
  readonly parts: ReadonlyArray<UiPart>
}

/**
 * Data of calls that the thread does not have: the tools whose calls the client answers, and the calls that wait for a
 * decision.
 */
export interface UiCalls {
  readonly manual: ReadonlySet<string>
  readonly approvals: ReadonlyArray<PendingApproval>
}

/** Converts the messages of a thread. `partial` is the text of an interrupted reply. */
export const uiMessages = (
  messages: ReadonlyArray<Message.Message>,
  calls: UiCalls,
  partial = ""
): ReadonlyArray<UiMessage> => {
  const all: Array<UiMessage> = []
  let name = replyName("m")
  let reply: Array<Message.Message> = []
  const replied = (last: string) => {
    const begun: ReadonlyArray<UiPart> = last === "" ? [] : [{ type: "step-start" }, ...textParts(last)]
    const parts = [...stepsOf(reply).flatMap((step) => stepParts(step, calls)), ...begun]
    if (parts.length > 0) all.push({ id: name, role: "assistant", parts })
    reply = []
  }
  for (const [index, message] of messages.entries()) {
    if (!isSaid(message)) reply.push(message)
    else {
      replied("")
      const id = messageName(message, index)
      all.push({ id, role: "user", parts: userParts(message.content) })
      name = replyName(id)
    }
  }
  replied(partial)
  return all
}

/** The parts of a step. */
export const stepParts = ({ said, behind }: StepMessages, { manual, approvals }: UiCalls): ReadonlyArray<UiPart> => [
  { type: "step-start" },
  ...reasoningTexts(said).map((text): UiPart => ({ type: "reasoning", text, state: "done" })),
  ...textParts(Message.text(said)),
  ...(said.toolCalls ?? []).map((call): ToolPart => {
    const { id, name, arguments: input, rawArguments } = call
    const result = behind.find((message) => message.role === "tool" && message.toolCallId === id)
    const waiting = approvals.find(({ toolCall }) => toolCall.id === id)
    return {
      type: `tool-${name}`,
      toolCallId: id,
      input: input ?? rawArguments ?? null,
      ...(manual.has(name) ? {} : { providerExecuted: true as const }),
      ...(result?.role === "tool" ? answered(result) : waiting === undefined ? pending : asked(waiting))
    }
  }),
  ...behind.filter(isQuestion).flatMap((message) => textParts(Message.text(message)))
]

const pending: ToolState = { state: "input-available" }

const asked = ({ toolCall, reason }: PendingApproval): ToolState => ({
  state: "approval-requested",
  approval: { id: toolCall.id, requestReason: reason }
})

const answered = (message: Extract<Message.Message, { role: "tool" }>): ToolState =>
  answerState(message.toolCallId, Message.text(message), message.outcome)

/** The state of a call with a result. */
export const answerState = (id: string, content: string, outcome: Outcome | undefined): ToolState => {
  if (outcome === undefined || outcome === "completed") return { state: "output-available", output: valueOf(content) }
  if (outcome !== "denied") return { state: "output-error", errorText: content }
  return { state: "output-denied", approval: { id, approved: false, reason: content } }
}

const textParts = (text: string): ReadonlyArray<UiPart> => (text === "" ? [] : [{ type: "text", text, state: "done" }])

const userParts = (content: Extract<Message.Message, { role: "user" }>["content"]): ReadonlyArray<UiPart> =>
  typeof content === "string" ? textParts(content) : content.flatMap(userPart)

const userPart = (part: ContentPart): ReadonlyArray<UiPart> => {
  switch (part.type) {
    case "text":
      return textParts(part.text)
    case "image": {
      const { image } = part
      if (!("base64" in image)) return [{ type: "file", mediaType: mediaTypeOf(image.url, "image/*"), url: image.url }]
      const { mediaType, base64 } = image
      return [{ type: "file", mediaType, url: `data:${mediaType};base64,${base64}` }]
    }
    case "file": {
      const { file, mediaType, filename } = part
      const url = "base64" in file ? `data:${mediaType};base64,${file.base64}` : file.url
      return [{ type: "file", mediaType, url, ...(filename === undefined ? {} : { filename }) }]
    }
    case "reasoning":
      return []
  }
}

const mediaTypeOf = (url: string, otherwise: string): string =>
  /^data:(?<type>[^;,]+)/u.exec(url)?.groups?.["type"] ?? otherwise
