/** The parts of a message, sorted by what shows them. */
import type { Message } from "@troupe/chat/messages"
import type { Source } from "./sources.tsx"

/** A message's content. `files` are the names of images and files. */
export interface Content {
  readonly text: string
  readonly reasoning: string
  readonly sources: ReadonlyArray<Source>
  readonly files: ReadonlyArray<string>
}

type Part = NonNullable<Extract<Message.Message, { readonly role: "assistant" }>["parts"]>[number]

/** Sorts the parts of a message. The reasoning of a reply that was cut short is in its metadata. */
export const contentOf = (message: Message.Message): Content => {
  const { content, role, metadata } = message
  const inContent: ReadonlyArray<Part> = typeof content === "string" ? [{ type: "text", text: content }] : content
  const parts = (role === "assistant" ? message.parts : undefined) ?? inContent
  const texts = inContent.flatMap((part) => (part.type === "text" ? [part.text] : []))
  const thoughts = parts.flatMap((part) => (part.type === "reasoning" ? [part.text] : []))
  const cut = metadata?.["reasoning"]
  return {
    text: texts.join(role === "user" ? "\n" : ""),
    reasoning: thoughts.length === 0 && typeof cut === "string" ? cut : thoughts.join("\n\n"),
    sources: parts.flatMap((part) => (part.type === "source" ? [part] : [])),
    files: parts.flatMap((part) =>
      part.type === "image" ? ["image"] : part.type === "file" ? [part.filename ?? part.mediaType] : []
    )
  }
}
