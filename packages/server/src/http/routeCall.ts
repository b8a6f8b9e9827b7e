/** Makes the `Call` that a route's handler gets. */
import type { RunningTroupe } from "@troupe/chat"
import { System } from "@troupe/otp"
import { type ChatId, checkedId } from "../link/index.ts"
import { refused } from "./failure.ts"
import { FrameStream, responseOf, streamOf } from "./frameStream.ts"
import { jsonBody } from "./jsonBody.ts"
import type { OpenStreams } from "./openStreams.ts"
import type { Owner, Owners, Permitted, Shown } from "../access/index.ts"
import { inPieces, pieceBytes } from "./chunks.ts"
import type { Call, Frames, OwnedChats, StreamOptions } from "./route.ts"
import type { TurnReaders } from "./turnReaders.ts"

/** The values that all calls of a server share. */
export interface CallHome {
  readonly troupe: RunningTroupe
  readonly owners: Owners
  readonly streams: OpenStreams
  readonly limits: { readonly bodyBytes: number; readonly historyBytes: number; readonly messageCharacters: number }
  readonly closing: AbortSignal
  /** The functions that are called when the server closes. */
  readonly ends: Set<() => Promise<unknown>>
  readonly chatId: ChatId
  readonly shown: Shown
  readonly clientTools: boolean
  readonly models: Call["models"]
  readonly readers: TurnReaders
}

/** The caller, and its permissions. */
interface Asking {
  readonly owner: string
  readonly may: Permitted
}

/**
 * A call with its callbacks: `counted` makes the sent answer of a route's, `settle` notifies it that the route has
 * answered.
 */
export interface MadeCall {
  readonly call: Call
  readonly counted: (response: Response) => Promise<Response>
  readonly settle: () => void
}

/** Throws an `HttpError` (429) when the limit of requests is exceeded. */
export const makeCall = (
  home: CallHome,
  request: Request,
  url: URL,
  params: Readonly<Record<string, string>>,
  { owner: name, may }: Asking,
  failed: (error: unknown) => void
): MadeCall => {
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

  const stream = (frames: Frames, { headers, last, reads }: StreamOptions = {}): Response => {
    try {
      claimStream()
    } catch (error) {
      if (typeof frames !== "function") void frames[Symbol.asyncIterator]().return?.()
      throw error
    }
    const streaming: FrameStream = new FrameStream(frames, {
      last,
      failed,
      hold: (characters) => owners.hold(owner, characters),
      release: (characters) => void (owner.bytes -= characters),
      ended: (disconnected) => {
        owner.streams -= 1
        leave?.(disconnected)
        request.signal.removeEventListener("abort", gone)
        home.streams.delete(streaming)
      }
    })
    claimed = false
    const leave = reads === undefined ? undefined : home.readers.read(reads)
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
    body: (schema, history) => jsonBody(request, schema, { ...limits, history }),
    stream,
    claimStream,
    closing,
    whenClosing: (end) => {
      home.ends.add(end)
      return () => void home.ends.delete(end)
    },
    limits,
    shown: home.shown,
    clientTools: home.clientTools,
    models: home.models,
    readers: home.readers
  }

  /** Returns an answer as a whole, with its length. A large answer is counted until it is taken, and sent in pieces. */
  const counted = async (response: Response): Promise<Response> => {
    if (response.body === null || streamOf(response) !== undefined) return response
    const bytes = new Uint8Array(await response.arrayBuffer())
    const { status, headers } = response
    const { byteLength } = bytes
    headers.set("content-length", String(byteLength))
    if (byteLength <= pieceBytes) return new Response(bytes, { status, headers })
    // A request that may have changed something is not refused its answer.
    if (request.method === "GET") owners.hold(owner, byteLength)
    else owner.bytes += byteLength
    const release = (): void => void (owner.bytes -= byteLength)
    return new Response(inPieces(bytes, request.signal, release), { status, headers })
  }

  return { call, counted, settle: giveBack }
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
