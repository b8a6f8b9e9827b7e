/** The findings about messages, with their paths. */
import { type Finding, isRecord, shortened } from "../errors/index.ts"
import { ContentPart, type FilePart, type ImagePart } from "./messageShapes.ts"
import { sourceProblem } from "./mediaSource.ts"

type Path = ReadonlyArray<string | number>

/** The problem of the source of an image or a file. */
type ProblemOf = (part: ImagePart | FilePart) => string | undefined

const roles: ReadonlySet<unknown> = new Set(["system", "user", "assistant", "tool"])

/** The findings about a list of messages. */
export const messagesFindings = (
  list: ReadonlyArray<unknown>,
  path: Path = ["messages"],
  problemOf: ProblemOf = sourceProblem
): ReadonlyArray<Finding> => list.flatMap((value, index) => messageFindings(value, [...path, index], problemOf))

/** The findings about a message. */
export const messageFindings = (
  value: unknown,
  path: Path,
  problemOf: ProblemOf = sourceProblem
): ReadonlyArray<Finding> => {
  if (!isRecord(value)) return [{ field: [...path, "role"], reason: "unknown" }]
  const { role, content, toolCallId } = value
  const found: Array<Finding> = roles.has(role) ? [] : [{ field: [...path, "role"], reason: "unknown" }]
  if (Array.isArray(content)) {
    if (content.every((part): part is ContentPart => ContentPart.safeParse(part).success)) {
      content.forEach((part, index) => {
        const reason = part.type === "image" || part.type === "file" ? problemOf(part) : undefined
        if (reason !== undefined) found.push({ field: [...path, "content", index], reason })
      })
    } else {
      found.push({ field: [...path, "content"], reason: "invalid_part_type" })
    }
  } else if (typeof content !== "string") {
    found.push({ field: [...path, "content"], reason: "invalid_type" })
  }
  if (role === "tool" && typeof toolCallId !== "string") {
    found.push({ field: [...path, "tool_call_id"], reason: "required" })
  }
  return found
}

/** What to write instead of a value that is no thread and no list of messages; `undefined` for a list without texts. */
export const messagesAdvice = (value: unknown): string | undefined => {
  if (typeof value === "string") return `instead of a text write ${asUser(value, "[", "]")}`
  if (isRecord(value)) {
    if ("role" in value) return "instead of one message write a list: [message]"
    if ("messages" in value) return messagesAdvice(value["messages"])
  }
  if (!Array.isArray(value)) return `write a list of messages, for example ${asUser("Hello", "[", "]")}`
  if (value.length === 0) return `write at least one message, for example ${asUser("Hello", "[", "]")}`
  const index = value.findIndex((said) => typeof said === "string")
  return index < 0 ? undefined : `instead of the text at messages.${index} write ${asUser(String(value[index]))}`
}

const shownCharacters = 40

const asUser = (said: string, before = "", after = ""): string =>
  `${before}user(${JSON.stringify(shortened(said, shownCharacters))})${after}, with import { user } from "@troupe/chat"`
