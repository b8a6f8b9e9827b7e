/**
 * The hook for the answer of a chat whose replies are JSON.
 *
 * ANSWER1. While a reply streams, its object so far is shown; afterwards the object that the schema makes of it.
 *          Both may be in a code fence, with the word `json` or without a word.
 * ANSWER2. A reply is validated once, when it is in the thread. An outdated result of a validation is discarded.
 *
 * @module
 */
import type { StructuredOutput } from "@troupe/chat/models"
import type { Tool } from "@troupe/chat/tools"
import { useEffect, useMemo, useState } from "react"
import type { Conversation } from "./Conversation.ts"

/** A finding about a reply: the path of the bad value, and the expected value. */
interface AnswerFinding {
  readonly field: ReadonlyArray<string>
  readonly reason: string
}

/** The answer of a chat in the form of a schema. */
export interface Answer<A> {
  /** The answer so far, which nothing has validated. */
  readonly partial: ReturnType<typeof StructuredOutput.partial<A>>["value"]
  /** The answer, once the reply is complete and fits the schema. */
  readonly object: A | undefined
  /** Why the reply does not fit; empty if it does, or is not complete. */
  readonly findings: ReadonlyArray<AnswerFinding>
}

/**
 * Reads the last reply of a chat as JSON of this schema: a zod schema, any Standard Schema, or a JSON Schema object, which
 * gives an object that nothing validates.
 *
 * **Details**: the chat must ask for JSON: with the `schema` or `responseFormat` of the Troupe, or of `send`. Replies that
 * only call tools are no answers.
 *
 * **Gotchas**: create the schema outside of the component, so that it is the same in each render.
 */
export const useAnswer = <A>(
  { messages, partial }: Pick<Conversation, "messages" | "partial">,
  schema: Tool.Parameters<A>
): Answer<A> => {
  const text = finalText(messages.at(-1))
  const read = useMemo(() => (text === undefined ? nothing : readAnswer(text, schema)), [text, schema])
  const [late, setLate] = useState<{ readonly of: unknown; readonly answer: Read }>()
  useEffect(() => {
    if (!isPromise(read)) return undefined
    let isOver = false
    void read.then((answer) => (isOver ? undefined : setLate({ of: read, answer })))
    return () => {
      isOver = true
    }
  }, [read])
  const { value, object, findings } = !isPromise(read) ? read : late?.of === read ? late.answer : nothing
  const streamed = partial.object ?? value
  return useMemo(
    () => ({ partial: streamed as Answer<A>["partial"], object: object as A | undefined, findings }),
    [streamed, object, findings]
  )
}

/** A reply: its JSON, and what the schema makes of it. */
interface Read {
  readonly value?: unknown
  readonly object?: unknown
  readonly findings: ReadonlyArray<AnswerFinding>
}

const nothing: Read = { findings: [] }

const isPromise = (read: Read | Promise<Read>): read is Promise<Read> => read instanceof Promise

/** The text of a final reply. */
const finalText = (message: Conversation["messages"][number] | undefined): string | undefined => {
  if (message?.role !== "assistant" || message.toolCalls !== undefined) return undefined
  const { content } = message
  return typeof content === "string" ? content : content.map((part) => (part.type === "text" ? part.text : "")).join("")
}

/** A text without the code fence around it (ANSWER1). */
const unfenced = (text: string): string => /^```(?:json)?[ \t\r]*\n([^]*)```$/i.exec(text.trim())?.[1] ?? text

const readAnswer = (text: string, schema: Tool.Parameters): Read | Promise<Read> => {
  let value: unknown
  try {
    value = JSON.parse(unfenced(text))
  } catch (error) {
    return { findings: [{ field: ["outputText"], reason: `is no JSON: ${String(error)}` }] }
  }
  if (!isStandard(schema)) return { value, object: value, findings: [] }
  const result = schema["~standard"].validate(value)
  return result instanceof Promise ? result.then((settled) => checked(value, settled)) : checked(value, result)
}

type Standard = Extract<Tool.Parameters, { readonly "~standard": { readonly validate: unknown } }>

type Result = Awaited<ReturnType<Standard["~standard"]["validate"]>>

const isStandard = (schema: Tool.Parameters): schema is Standard => "~standard" in schema

const checked = (value: unknown, result: Result): Read =>
  result.issues === undefined
    ? { value, object: result.value, findings: [] }
    : {
        value,
        findings: result.issues.map(({ path = [], message }) => ({
          field: path.map((step) => String(typeof step === "object" ? step.key : step)),
          reason: message
        }))
      }
