/**
 * Converts the result of an MCP tool to a handler result.
 *
 * MCPR1. An image, audio or a file of the result is a part, in the order of the server. It is never base64 text for the model.
 * MCPR2. A structured result is preferred to the texts that repeat it. A result of texts only is one text.
 * MCPR3. The data of an image, audio or a file is sent once: a structured result that repeats it has a short text instead.
 */
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/client"
import { error, ok } from "@troupe/chat"
import type { ContentPart } from "@troupe/chat/messages"
import type { HandlerResult } from "@troupe/chat/results"

type Part = ContentPart | { readonly type: "json"; readonly value: unknown }

/** The handler result of an MCP tool's result. */
export const handlerResult = (
  result: Pick<CallToolResult, "content" | "isError" | "structuredContent">
): HandlerResult => {
  const { content, isError = false, structuredContent } = result
  const parts = content.map(partOf)
  const hasFiles = parts.some(({ type }) => type === "image" || type === "file")
  if (isError) return error(hasFiles ? parts : textOf(parts) || "The tool failed without saying why")
  if (structuredContent === undefined) return ok(hasFiles ? parts : textOf(parts))
  if (!hasFiles) return ok(structuredContent)
  const value = withoutData(structuredContent, content)
  return ok([{ type: "json", value }, ...parts.filter((part) => !repeats(part, structuredContent))])
}

/** The structured result with a short text in place of the data of these blocks (MCPR3). */
const withoutData = (structured: unknown, content: ReadonlyArray<ContentBlock>): unknown => {
  const types = new Map(content.flatMap(dataOf))
  return JSON.parse(
    JSON.stringify(structured, (_, value: unknown) => {
      const type = typeof value === "string" ? types.get(value.replace(/^data:[^,]{0,200};base64,/i, "")) : undefined
      return type === undefined ? value : `[the ${type} of this result]`
    })
  )
}

/** The data of a block, and its media type. */
const dataOf = (block: ContentBlock): ReadonlyArray<readonly [data: string, mediaType: string]> => {
  if ((block.type === "image" || block.type === "audio") && block.data !== "") return [[block.data, block.mimeType]]
  if (block.type !== "resource" || !("blob" in block.resource) || block.resource.blob === "") return []
  return [[block.resource.blob, block.resource.mimeType ?? "file"]]
}

/** The text of parts without files: texts, and links as JSON. */
const textOf = (parts: ReadonlyArray<Part>): string =>
  parts
    .map((part) => (part.type === "text" ? part.text : JSON.stringify("value" in part ? part.value : part)))
    .join("\n")

/** Whether a part is the JSON text of a structured result. */
const repeats = (part: Part, structured: unknown): boolean => {
  if (part.type !== "text") return false
  try {
    return JSON.stringify(JSON.parse(part.text)) === JSON.stringify(structured)
  } catch {
    return false
  }
}

/** A block as a part of a message: a link is JSON text. */
export const contentPart = (block: ContentBlock): ContentPart => {
  const part = partOf(block)
  return part.type === "json" ? { type: "text", text: textOf([part]) } : part
}

const partOf = (block: ContentBlock): Part => {
  switch (block.type) {
    case "text":
      return { type: "text", text: block.text }
    case "image":
    case "audio":
      return mediaOf(block.data, block.mimeType)
    case "resource": {
      const { resource } = block
      if ("text" in resource) return { type: "text", text: resource.text }
      return mediaOf(resource.blob, resource.mimeType ?? "application/octet-stream", resource.uri)
    }
    case "resource_link": {
      const { uri, name, title, description, mimeType, size } = block
      return { type: "json", value: { type: "resource_link", uri, name, title, description, mimeType, size } }
    }
  }
}

const mediaOf = (data: string, mediaType: string, uri?: string): Part => {
  const base64 = padded(data)
  if (mediaType.startsWith("image/") && base64 !== "") return { type: "image", image: { base64, mediaType } }
  return { type: "file", file: { base64 }, mediaType, ...(uri === undefined ? {} : { filename: nameIn(uri) }) }
}

/** Base64 text as providers accept it: MCP allows line breaks, and no padding. */
const padded = (data: string): string => {
  const plain = data.replaceAll(/[\s=]/g, "")
  return plain.padEnd(Math.ceil(plain.length / 4) * 4, "=")
}

/** The last segment of a URI. */
const nameIn = (uri: string): string => uri.split("/").findLast((segment) => segment !== "") ?? uri
