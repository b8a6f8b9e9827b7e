/**
 * The content of a tool message: the text or the parts of a result, and its bound.
 *
 * RCONT1. Each text and each JSON value of a result with parts is written by the encoder, as a result without parts is.
 * RCONT2. An image or a file that no provider can read fails the call with `encoding_failed`, as does a part that cannot be
 *         stored.
 * RCONT3. A failure whose error has parts has the images and files of the error, after the text of the failure.
 * TOUT5. No tool message has more characters than `maxToolResultCharacters`, nor images and files of more than
 *        `maxFileBytes`, whatever the encoder returns.
 */
import { type Finding, isRecord, ToolError } from "../errors/index.ts"
import { wellFormed } from "../json/index.ts"
import { ignoreRejection } from "../async/index.ts"
import {
  defaultMaxToolResultCharacters,
  describe,
  errorText,
  json,
  type ResultLimits,
  tooLarge,
  type ToolResultEncoder
} from "../values/index.ts"
import {
  defaultMaxFileBytes,
  encodedParts,
  isMedia,
  messageFindings,
  reasonOf,
  resultParts,
  resultSize,
  resultText,
  type ToolMessage,
  unstorable,
  type ChatBlobs
} from "../model/index.ts"
import type { OnToolError } from "../options/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"

/** The content of a tool message. */
export type Content = ToolMessage["content"]

/** The options for outcomes: the encoder of results with its limits, and the error policies. */
export interface OutcomeRules {
  readonly toolResultEncoder: ToolResultEncoder
  readonly maxToolResultCharacters?: number | undefined
  readonly maxFileBytes?: number | undefined
  /** The blobs of the chat, if its store keeps blobs. */
  readonly blobs?: ChatBlobs | undefined
  readonly onToolError?: OnToolError | undefined
  readonly onToolTimeout?: OnToolError | undefined
}

/** The content of a value; `wrong` is a value that the encoder returned instead of a text. Throws what the encoder throws. */
export const contentBy = (
  value: unknown,
  encoder: ToolResultEncoder
): { readonly content: Content } | { readonly wrong: unknown } => {
  const parts = resultParts(value)
  if (parts !== undefined) return { content: contentOf(parts, encoder) }
  const text = encoded(value, encoder)
  return typeof text === "string" ? { content: text.toWellFormed() } : { wrong: text }
}

/** The content of parts (RCONT1, RCONT2). */
const contentOf = (parts: NonNullable<ReturnType<typeof resultParts>>, encoder: ToolResultEncoder): Content => {
  const content = encodedParts(parts, (one) => {
    const text = encoded(one, encoder)
    if (typeof text !== "string") throw new TypeError(wrongText(text))
    return text
  })
  const found = unstorable(content)
  if (found.length > 0) throw new TypeError(`a part cannot be stored: ${reasonOf(found)}; return plain parts`)
  const [problem] = messageFindings({ role: "tool", toolCallId: "", content }, [])
  if (problem !== undefined) throw new TypeError(problemText(problem))
  return wellFormed(content)
}

const encoded = (value: unknown, encoder: ToolResultEncoder): unknown => {
  const text: unknown = encoder.encode(value)
  ignoreRejection(text)
  return text
}

/** The message about a value that the encoder returned instead of a text. */
export const wrongText = (wrong: unknown): string => `the encoder returned ${describe(wrong)}; return a string`

const problemText = ({ field, reason }: Finding): string =>
  `part ${String(field.at(-1))} of the result: ${reason.replaceAll("_", " ")}; ` +
  "return the base64 text of its bytes and their media type, or its http or https URL"

/** The error of a call whose content is too large, or `undefined`. */
export const excessOf = (
  content: Content,
  rules: OutcomeRules,
  call: Parameters<typeof tooLarge>[2]
): ReturnType<typeof tooLarge> => {
  const limits = limitsOf(rules)
  return tooLarge(resultSize(content, limits), limits, call)
}

const limitsOf = ({
  maxToolResultCharacters = defaultMaxToolResultCharacters,
  maxFileBytes = defaultMaxFileBytes
}: OutcomeRules): ResultLimits => ({ maxToolResultCharacters, maxFileBytes })

/** The content of a failure (RCONT3). Never throws. */
export const failureContent = (error: unknown, rules: OutcomeRules): Content => {
  const parts = partsOf(error)
  if (parts === undefined) return failureText(error, rules)
  const text = failureText(resultText(parts), rules)
  const files = parts.filter(isMedia)
  const content = [{ type: "text", text } as const, ...files]
  return files.length > 0 && excessOf(content, rules, { toolCallId: "" }) === undefined ? content : text
}

/** The parts of an error that has valid parts. */
const partsOf = (error: unknown): Exclude<Content, string> | undefined => {
  try {
    const parts = resultParts(error)
    const content = parts === undefined ? "" : contentOf(parts, json)
    return typeof content === "string" ? undefined : content
  } catch {
    return undefined
  }
}

/** The encoder's text for a failure, or the default text when the encoder returns none that fits. */
const failureText = (error: unknown, rules: OutcomeRules): string => {
  try {
    if (error instanceof ToolError && error.reason === "encoding_failed") return errorText(error)
    const text = encoded(HandlerResult.error(error), rules.toolResultEncoder)
    return typeof text === "string" && text.length <= limitsOf(rules).maxToolResultCharacters
      ? text.toWellFormed()
      : errorText(error)
  } catch {
    return errorText(error)
  }
}

/** The fields of an event about content: its text, and its parts if it has parts. */
export const inEvent = (content: Content): { readonly content: string; readonly parts?: Exclude<Content, string> } =>
  typeof content === "string" ? { content } : { content: resultText(content), parts: content }

/** The content with a text after a blank line. */
export const withText = (content: Content, added: string): Content => {
  const text = added.toWellFormed()
  return typeof content === "string" ? `${content}\n\n${text}` : [...content, { type: "text", text: `\n${text}` }]
}

/** A result, its event or its halt, with the references of its content in place of the images and files (BLOBREF2). */
export const referringIn = <A extends object>(given: A, content: Exclude<Content, string>): A => {
  const references = content.filter(isMedia)
  const placed = (value: unknown): unknown => {
    if (!Array.isArray(value) || value.filter(isImageOrFile).length !== references.length) return value
    let at = 0
    return value.map((part: unknown) => (isImageOrFile(part) ? references[at++] : part))
  }
  const fields = Object.entries(given).filter(([field]) => fieldsWithParts.has(field))
  return { ...given, ...Object.fromEntries(fields.map(([field, value]) => [field, placed(value)])) }
}

/** The fields of results that may have the parts of the content. */
const fieldsWithParts: ReadonlySet<string> = new Set(["value", "reason", "result", "parts"])

const isImageOrFile = (part: unknown): boolean =>
  isRecord(part) && (part["type"] === "image" || part["type"] === "file")
