/** Converts messages to the content of an MCP result. */
import type { CallToolResult, ContentBlock } from "@modelcontextprotocol/server"
import type { ContentPart, Message } from "@troupe/chat/messages"

/** The result of a call: its text, images and files. */
export const resultOf = ({
  content,
  outcome
}: Extract<Message.Message, { readonly role: "tool" }>): CallToolResult => ({
  content: typeof content === "string" ? [{ type: "text", text: content }] : content.map(blockOf),
  ...(outcome === "completed" ? {} : { isError: true })
})

/** A failure that the model of the client reads. */
export const failure = (text: string): CallToolResult => ({ content: [{ type: "text", text }], isError: true })

const blockOf = (part: ContentPart): ContentBlock => {
  switch (part.type) {
    case "image":
      return "base64" in part.image
        ? { type: "image", data: part.image.base64, mimeType: part.image.mediaType }
        : linkOf(part.image, undefined)
    case "file": {
      const { file, mediaType, filename = "file" } = part
      if (!("base64" in file)) return linkOf(file, mediaType, filename)
      if (mediaType.startsWith("audio/")) return { type: "audio", data: file.base64, mimeType: mediaType }
      const resource = { uri: `file:///${encodeURIComponent(filename)}`, blob: file.base64, mimeType: mediaType }
      return { type: "resource", resource }
    }
    default:
      return { type: "text", text: part.text }
  }
}

const linkOf = (
  source: { readonly url: string } | { readonly blob: string },
  mimeType: string | undefined,
  name = "image"
): ContentBlock =>
  "url" in source
    ? { type: "resource_link", uri: source.url, name, ...(mimeType === undefined ? {} : { mimeType }) }
    : { type: "text", text: `[${name}]` }
