/** The findings about messages, with their paths. */
import { type Finding, isRecord } from "../errors/index.ts"
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
