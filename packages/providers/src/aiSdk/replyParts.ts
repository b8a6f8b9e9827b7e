/**
 * The parts of one reply, in the order in which they began.
 *
 * Owns: the parts so far, and the blocks of text and of reasoning that are open. Does not own the events of the reply.
 *
 * RPARTS1. Each block of text or of reasoning is a part of its own, with the provider's last metadata of it. A text without
 *          characters and without metadata is no part.
 * RPARTS2. Every other part is kept: calls by their id, generated files, sources, calls that the provider ran and their
 *          results. A part of an unknown kind is kept as it came.
 * RPARTS3. All parts are plain JSON. A part that only its own provider understands has the name of that provider.
 * PART6. The message of a reply without an error has all parts of the reply, in its order.
 */
import type {
  LanguageModelV2StreamPart,
  LanguageModelV3StreamPart,
  LanguageModelV4File,
  LanguageModelV4StreamPart
} from "@ai-sdk/provider"
import type { Message } from "@troupe/chat/messages"
import { carried, type ProviderData } from "./providerOptions.ts"

/** A stream part of any specification version. */
export type StreamPart = LanguageModelV4StreamPart | LanguageModelV3StreamPart | LanguageModelV2StreamPart

/** One part of a reply. */
export type AssistantPart = ReturnType<typeof Message.parts>[number]

type StreamPartOf<Type extends string> = Extract<StreamPart, { readonly type: Type }>

/** A block of text or of reasoning. */
interface Block {
  readonly type: "text" | "reasoning"
  readonly id: string
  text: string
  data: ProviderData | undefined
  /** The sources that the provider names for a text. */
  citations?: unknown
}

/** Collects the parts of one reply. */
export class ReplyParts {
  readonly #provider: string
  readonly #parts: Array<Block | AssistantPart> = []
  readonly #open = { text: new Map<string, Block>(), reasoning: new Map<string, Block>() }

  /** `provider` is the name of the provider that makes the reply. */
  constructor(provider: string) {
    this.#provider = provider
  }

  /** Begins a block. */
  begin(type: Block["type"], id: string, data: ProviderData | undefined): void {
    this.#begin({ type, id, text: "", data })
  }

  /** Adds to a block, which begins if it is not open. */
  add(type: Block["type"], id: string, delta: string, data: ProviderData | undefined): void {
    const block = this.#open[type].get(id) ?? this.#begin({ type, id, text: "", data })
    block.text += delta
    block.data = data ?? block.data
  }

  /** Ends a block. */
  end(type: Block["type"], id: string, data: ProviderData | undefined, citations?: unknown): void {
    const block = this.#open[type].get(id)
    if (block === undefined) return
    block.data = data ?? block.data
    block.citations = citations
    this.#open[type].delete(id)
  }

  /** Adds a call of ours, once. */
  call(toolCallId: string): void {
    const isKnown = this.#parts.some((part) => part.type === "tool_call" && part.toolCallId === toolCallId)
    if (!isKnown) this.#parts.push({ type: "tool_call", toolCallId })
  }

  /** Adds a call that the provider runs. */
  providerCall({ toolCallId: id, toolName: name, input, providerMetadata }: StreamPartOf<"tool-call">): void {
    const call = { type: "provider_tool_call", id, name, arguments: parsed(input) } as const
    this.#parts.push({ ...call, provider: this.#provider, ...carried(providerMetadata) })
  }

  /** Adds any other part; a preliminary result is replaced by a later one, and not kept. */
  other(part: StreamPart): void {
    if (part.type === "tool-result" && "preliminary" in part && part.preliminary) return
    this.#parts.push(otherPart(part, this.#provider))
  }

  /** The id of the only text; `undefined` when there are several. */
  get onlyText(): string | undefined {
    const texts = this.#parts.filter(isBlock).filter(({ type, text }) => type === "text" && text !== "")
    return texts.length === 1 ? texts[0]?.id : undefined
  }

  /** All parts; `undefined` for one text without metadata and then the calls, in the order in which they were started. */
  whole(started: Iterable<string>): ReadonlyArray<AssistantPart> | undefined {
    const parts = this.#parts.flatMap(ended)
    const [first, ...rest] = parts
    const calls = first?.type === "text" && first.metadata === undefined ? rest : parts
    const ids = calls.map((part) => (part.type === "tool_call" ? part.toolCallId : undefined))
    const inOrder = [...started].filter((id) => ids.includes(id))
    return ids.every((id, at) => id !== undefined && id === inOrder[at]) ? undefined : parts
  }

  #begin(block: Block): Block {
    this.#parts.push(block)
    this.#open[block.type].set(block.id, block)
    return block
  }
}

const isBlock = (part: Block | AssistantPart): part is Block => "data" in part && part.type !== "custom"

const ended = (part: Block | AssistantPart): ReadonlyArray<AssistantPart> => {
  if (!isBlock(part)) return [part]
  const { type, text, data, citations } = part
  const cited = citations === undefined ? {} : { citations: plain(citations) }
  const metadata = { ...carried(data).metadata, ...cited }
  if (Object.keys(metadata).length > 0) return [{ type, text, metadata }]
  return type === "text" && text === "" ? [] : [{ type, text }]
}

const otherPart = (part: StreamPart, provider: string): AssistantPart => {
  switch (part.type) {
    case "file":
      return { type: "file", mediaType: part.mediaType, file: contentOf(part), ...carried(metadataOf(part)) }
    case "reasoning-file": {
      const data = { mediaType: part.mediaType, ...contentOf(part) }
      return { type: "custom", kind: part.type, data, provider, ...carried(part.providerMetadata) }
    }
    case "source":
      return sourcePart(part)
    case "tool-result": {
      const { toolCallId, toolName: name, result, isError, providerMetadata } = part
      return {
        type: "provider_tool_result",
        toolCallId,
        name,
        result: plain(result),
        ...(isError === true ? { isError } : {}),
        provider,
        ...carried(providerMetadata)
      }
    }
    case "custom":
      return { type: "custom", kind: part.kind, provider, ...carried(part.providerMetadata) }
    default:
      return { type: "custom", kind: part.type, data: plain(part), provider }
  }
}

const sourcePart = (part: StreamPartOf<"source">): AssistantPart => {
  const { id, title, providerMetadata } = part
  const source =
    part.sourceType === "url"
      ? { url: part.url }
      : { mediaType: part.mediaType, ...(part.filename === undefined ? {} : { filename: part.filename }) }
  return { type: "source", id, source, ...(title === undefined ? {} : { title }), ...carried(providerMetadata) }
}

/** Older versions have no metadata of files. */
const metadataOf = (part: StreamPartOf<"file">): ProviderData | undefined =>
  "providerMetadata" in part ? part.providerMetadata : undefined

/** The content of a generated file: older versions have the data itself. */
const contentOf = ({
  data
}: {
  readonly data: LanguageModelV4File["data"] | string | Uint8Array
}): { readonly url: string } | { readonly base64: string } => {
  if (typeof data === "string" || data instanceof Uint8Array) return { base64: base64Of(data) }
  return data.type === "url" ? { url: data.url.href } : { base64: base64Of(data.data) }
}

const base64Of = (data: string | Uint8Array): string => {
  if (typeof data === "string") return data
  let binary = ""
  for (const byte of data) binary += String.fromCharCode(byte)
  return btoa(binary)
}

/** The value as JSON has it. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value ?? null)) as unknown

/** The arguments of a call that the provider runs. */
const parsed = (input: unknown): unknown => {
  if (typeof input !== "string") return plain(input ?? {})
  try {
    return JSON.parse(input)
  } catch {
    return {}
  }
}
