/**
 * The metadata of a reply: its times, its model and its usage.
 *
 * UIMETA1. The metadata of a reply does not depend on its readers: it is the same in the sender's stream, in a stream that
 *          begins later, and in the loaded messages, also after a restart.
 * UIMETA2. The usage of a request is added once to that of its reply.
 */
import type { ChatResult } from "@troupe/chat/chats"
import { type Message, Usage } from "@troupe/chat/messages"
import { replyParts } from "../index.ts"
import type { UiChunk } from "./uiBlocks.ts"

/**
 * The metadata of a reply. A field whose value is unknown is absent.
 *
 * - `startedAt`: when the server accepted the message that the reply answers
 * - `endedAt`: when the model's last message of the reply ended
 * - `model`: the model of the last request that reported one
 * - `usage`: the tokens and costs of all requests of the reply
 *
 * **Units and defaults**: times are in milliseconds since the epoch.
 */
export interface UiMetadata {
  readonly startedAt?: number
  readonly endedAt?: number
  readonly model?: string
  readonly usage?: UiUsage
}

/** The usage without the data of providers. */
type UiUsage = Omit<Usage.Usage, "toolUsage" | "extra">

/** The metadata of a reply, from what is stored with its messages, or from the last turn if nothing is stored (UIMETA1, UIMETA2). */
export const metadataOf = (
  messages: ReadonlyArray<Message.Message>,
  result: Pick<ChatResult, "steps"> | undefined,
  begunAt?: number
): UiMetadata | undefined => {
  const stored = replyParts(messages)
  const requests = stored.length === 0 ? (result?.steps ?? []).map(({ response }) => response) : stored
  const startedAt = stored.find((part) => part.startedAt !== undefined)?.startedAt ?? begunAt
  const endedAt = startedAt === undefined ? undefined : stored.at(-1)?.endedAt
  const model = requests.findLast((request) => request.model !== undefined)?.model
  const {
    toolUsage: _,
    extra: __,
    ...usage
  } = requests.reduce<Usage.Usage>((sum, request) => Usage.add(sum, withTotal(request.usage)), {})
  const metadata = {
    ...(startedAt !== undefined && { startedAt }),
    ...(endedAt !== undefined && { endedAt }),
    ...(model !== undefined && { model }),
    ...(Object.keys(usage).length > 0 && { usage })
  }
  return Object.keys(metadata).length === 0 ? undefined : metadata
}

const withTotal = (usage: Usage.Usage): Usage.Usage => {
  const totalTokens = Usage.totalTokens(usage)
  return totalTokens === undefined ? usage : { ...usage, totalTokens }
}

/** The last chunks of a stream, with the metadata: in the chunk `finish`, or before a last chunk of another type. */
export const withMetadata = (
  ending: ReadonlyArray<UiChunk>,
  messageMetadata: UiMetadata | undefined
): ReadonlyArray<UiChunk> => {
  if (messageMetadata === undefined) return ending
  const before = ending.slice(0, -1)
  const last = ending.slice(-1)
  return last[0]?.type === "finish"
    ? [...before, { ...last[0], messageMetadata }]
    : [...before, { type: "message-metadata", messageMetadata }, ...last]
}
