/** The metadata of a reply: its times, its model and its usage. */
import type { ChatResult } from "@troupe/chat/chats"
import { Usage } from "@troupe/chat/messages"
import type { UiChunk } from "./uiBlocks.ts"

/**
 * The metadata of a reply. A field whose value is unknown is absent.
 *
 * - `startedAt`: when the server accepted the message that the reply answers
 * - `endedAt`: when the last turn of the reply ended
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

/** Adds the requests of a turn to the metadata of its reply. */
export const withTurn = (before: UiMetadata, { steps }: Pick<ChatResult, "steps">): UiMetadata => {
  const responses = steps.map(({ response }) => response)
  const model = responses.findLast((response) => response.model !== undefined)?.model ?? before.model
  const {
    toolUsage: _,
    extra: __,
    ...usage
  } = responses.reduce((sum, response) => Usage.add(sum, withTotal(response.usage)), Usage.add(before.usage ?? {}, {}))
  return {
    ...before,
    ...(model === undefined ? {} : { model }),
    ...(Object.keys(usage).length === 0 ? {} : { usage })
  }
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
  if (messageMetadata === undefined || Object.keys(messageMetadata).length === 0) return ending
  const before = ending.slice(0, -1)
  const last = ending.slice(-1)
  return last[0]?.type === "finish"
    ? [...before, { ...last[0], messageMetadata }]
    : [...before, { type: "message-metadata", messageMetadata }, ...last]
}
