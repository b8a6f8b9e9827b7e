/** Reads the AI SDK's UI message stream as its client does: every chunk is checked by the client's own schema. */
import { readUIMessageStream, type UIMessage, type UIMessageChunk, uiMessageChunkSchema } from "ai"
import { expect } from "vitest"
import { streamOf } from "./streamOf.ts"

export const plain = <A>(value: A): A => JSON.parse(JSON.stringify(value)) as A

/** The chunks of a body as far as it came. */
export const chunksOf = (body: string): ReadonlyArray<UIMessageChunk> =>
  body
    .split("\n\n")
    .filter((frame) => frame.startsWith("data: {"))
    .map((frame) => JSON.parse(frame.slice("data: ".length)) as UIMessageChunk)

/** The message that a client makes of chunks, each of a form that it reads. */
export const messageOf = async (
  chunks: ReadonlyArray<UIMessageChunk>,
  message?: UIMessage
): Promise<UIMessage | undefined> => {
  const schema = uiMessageChunkSchema()
  for (const chunk of chunks) {
    const checked = await schema.validate?.(chunk)
    expect({ chunk, isKnown: checked?.success }).toEqual({ chunk, isKnown: true })
  }
  let last = message
  for await (const next of readUIMessageStream({
    stream: streamOf(chunks),
    ...(message === undefined ? {} : { message })
  }))
    last = next
  return last === undefined ? undefined : plain({ ...last, parts: last.parts.map(withoutId) })
}

/** The client keeps the id of a block of reasoning, which a message does not have. */
const withoutId = (part: UIMessage["parts"][number]) => {
  if (part.type !== "reasoning") return part
  const { id: _, ...rest } = part as typeof part & { readonly id?: string }
  return rest
}

/** The conversation as a client loads it. */
export const kept = async (url: string, id = "c") => {
  const { messages } = (await (await fetch(`${url}/api/chat/${id}/messages`)).json()) as {
    readonly messages: ReadonlyArray<UIMessage>
  }
  return messages
}

/** A message without the times of its metadata, which differ from run to run. */
export const withoutTimes = (message: UIMessage | undefined): UIMessage | undefined => {
  if (message === undefined) return undefined
  const { startedAt: _, endedAt: __, ...metadata } = (message.metadata ?? {}) as Readonly<Record<string, unknown>>
  return { ...message, metadata }
}
