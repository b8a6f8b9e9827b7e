/** Makes what a route is called with. */
import type { RunningTroupe } from "@troupe/chat"
import { System } from "@troupe/otp"
import { type ChatId, checkedId } from "./chatId.ts"
import { refused } from "./failure.ts"
import { FrameStream, responseOf } from "./frameStream.ts"
import { jsonBody } from "./jsonBody.ts"
import type { OpenStreams } from "./openStreams.ts"
import type { Owner, Owners } from "./owners.ts"
import type { Permitted } from "./permitted.ts"
import type { Call, Frames, OwnedChats, StreamOptions } from "./route.ts"

/** What calls have in common. */
export interface CallHome {
  readonly troupe: RunningTroupe
  readonly owners: Owners
  readonly streams: OpenStreams
  readonly limits: { readonly bodyBytes: number; readonly messageCharacters: number }
  readonly closing: AbortSignal
  /** What is ended when the server closes. */
  readonly ends: Set<() => Promise<unknown>>
  readonly chatId: ChatId
}

/** Who asks, and what they may do. */
interface Asking {
  readonly owner: string
  readonly may: Permitted
}

/** A call; `settle` says that its route has answered. Throws an `HttpError` (429) for one request too many. */
export const makeCall = (
  home: CallHome,
  request: Request,
  url: URL,
  params: Readonly<Record<string, string>>,
  { owner: name, may }: Asking,
  failed: (error: unknown) => void
): { readonly call: Call; readonly settle: () => void } => {
  const { troupe, owners, limits, closing } = home
  const owner = owners.request(name)
  let claimed = false

  const claimStream = (): void => {
    if (claimed) return
    owners.openStream(owner)
    claimed = true
  }

  const giveBack = (): void => {
    if (!claimed) return
    claimed = false
    owner.streams -= 1
  }

  const stream = (frames: Frames, { headers, last }: StreamOptions = {}): Response => {
    try {
      claimStream()
    } catch (error) {
      if (typeof frames !== "function") void frames[Symbol.asyncIterator]().return?.()
      throw error
    }
    const streaming: FrameStream = new FrameStream(frames, {
      last,
      failed,
      ended: () => {
        owner.streams -= 1
        request.signal.removeEventListener("abort", gone)
        home.streams.delete(streaming)
      }
    })
    claimed = false
    const gone = (): void => streaming.cancel()
    home.streams.add(streaming)
    request.signal.addEventListener("abort", gone, { once: true })
    if (request.signal.aborted) gone()
    if (closing.aborted) streaming.close()
    return responseOf(streaming, { ...streamHeaders, ...headers })
  }

  const call: Call = {
    request,
    url,
    params,
    owner: name,
    may,
    troupe,
    chats: ownedChats(home, owner, name),
    body: (schema) => jsonBody(request, schema, limits.bodyBytes),
    stream,
    claimStream,
    closing,
    whenClosing: (end) => {
      home.ends.add(end)
      return () => void home.ends.delete(end)
    },
    limits
  }
  return { call, settle: giveBack }
}

const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no"
} as const

const ownedChats = ({ troupe, owners, chatId }: CallHome, owner: Owner, name: string): OwnedChats => {
  const innerId = (id: string): string => chatId(name, checkedId(id))
  const prefix = chatId(name, "")
  return {
    innerId,
    prefix,
    outerId: (inner) => (inner.startsWith(prefix) ? inner.slice(prefix.length) : inner),
    chat: async (id) => {
      const inner = innerId(id)
      return owners.chat(owner, inner, () => troupe.chat(inner))
    },
    existing: async (id) => {
      const inner = innerId(id)
      if (!(await troupe.has(inner))) throw refused("unknown_chat")
      return owners.chat(owner, inner, () => troupe.chat(inner))
    },
    begun: async (id, begin) => {
      const inner = innerId(id ?? System.uuid(troupe.system, "server"))
      return owners.chat(owner, inner, () => begin(inner))
    }
  }
}
