/** Makes the `Call` that a route's handler gets. */
import type { LocalChatRef, RunningTroupe } from "@troupe/chat"
import type { LiveTurn } from "@troupe/chat/chats"
import { SessionError } from "@troupe/chat/errors"
import { System } from "@troupe/otp"
import { type ChatId, checkedId } from "../link/index.ts"
import { isMoved, refused } from "./failure.ts"
import { Cut, FrameStream, responseOf, streamOf } from "./frameStream.ts"
import { jsonBody } from "./jsonBody.ts"
import type { OpenStreams } from "./openStreams.ts"
import {
  checkRoom,
  fileBytesIn,
  type Permitted,
  type Shown,
  type Usage,
  type Wait,
  withBlobUrls,
  withOwnChildren
} from "../access/index.ts"
import { inPieces, pieceBytes } from "./chunks.ts"
import { type Call, Elsewhere, type Frames, type OwnedChats, type Route, type StreamOptions } from "./route.ts"
import { clientHasLeft, takenFor, type TurnReaders } from "./turnReaders.ts"

/** The values that all calls of a server share. */
export interface CallHome {
  readonly troupe: RunningTroupe
  readonly cluster: Call["cluster"]
  readonly streams: OpenStreams
  readonly limits: {
    readonly bodyBytes: number
    readonly historyBytes: number
    readonly messageCharacters: number
    readonly fileBytes: number
  }
  readonly closing: AbortSignal
  /** The functions that are called when the server closes. */
  readonly ends: Set<() => Promise<unknown>>
  readonly chatId: ChatId
  /** Checks an id of the caller. Default: the ids of clients. */
  readonly checkId?: ((id: string) => string) | undefined
  readonly shown: Shown
  /** The path that the server is mounted at. */
  readonly basePath: string
  readonly bodyOf: Call["bodyOf"]
  readonly clientTools: boolean
  readonly posts: Call["posts"]
  readonly models: Call["models"]
  readonly readers: TurnReaders
  /** Whether this program is the home of the chat. Default: it is the home of all. */
  readonly isHome?: ((id: string) => boolean) | undefined
  /** Whether the route's stream has no end of its own. */
  readonly isEndless?: boolean | undefined
}

/** The body of a request that may have to be forwarded after its route has read it. */
export interface RequestBody {
  /** The body for the route. */
  readonly stream: ReadableStream<Uint8Array<ArrayBuffer>> | null
  /** Drops the bytes: the request will not be forwarded. */
  readonly forget: () => void
}

/** The caller, and its permissions. */
interface Asking {
  readonly owner: string
  readonly may: Permitted
  /** The Troupe's ids of the chats that the request was forwarded for: a route may name them here. */
  readonly via?: ReadonlyArray<string> | undefined
  /** The body of the request, if it may have to be forwarded. */
  readonly kept?: RequestBody | undefined
  readonly follows?: boolean | undefined
  readonly again?: boolean | undefined
  readonly begun?: string | undefined
}

/** A call with its callbacks. */
export interface MadeCall {
  /** Returns the answer of a route as it is sent. */
  readonly handled: (route: Pick<Route, "handle">) => Promise<Response>
  /** Called when the request is answered or forwarded. */
  readonly settle: () => void
  /** Whether the answer waits for a turn, as far as the route has shown. */
  readonly isWaiting: () => boolean
  /** The name of the turn that the request has begun. */
  readonly begun: () => string | undefined
  /** The Troupe's id of the chat that the request has opened last. */
  readonly opened: () => string | undefined
}

/** The turns whose inputs are counted while they wait, however often they are sent. */
const countedInputs = new WeakSet<LiveTurn>()

/** `usage` is what the request uses of its owner's limits. */
export const makeCall = (
  home: CallHome,
  request: Request,
  url: URL,
  params: Readonly<Record<string, string>>,
  { owner: name, may, via = [], kept, follows = false, again = false, begun: before }: Asking,
  usage: Usage,
  failed: (error: unknown) => void
): MadeCall => {
  const { troupe, limits, closing, isEndless } = home
  let claimed = false
  let begun = before
  let opened: string | undefined
  let wait: Wait | undefined

  const claimStream = (): void => {
    if (claimed) return
    usage.openStream()
    claimed = true
  }

  const giveBack = (): void => {
    if (!claimed) return
    claimed = false
    usage.closeStream()
  }

  const stream = (frames: Frames, { headers, reads, ...sent }: StreamOptions = {}): Response => {
    try {
      claimStream()
    } catch (error) {
      if (typeof frames !== "function") void frames[Symbol.asyncIterator]().return?.()
      throw error
    }
    const streaming: FrameStream = new FrameStream(frames, {
      ...sent,
      isCut: follows && via.length > 0,
      isEndless,
      failed,
      hold: usage.hold,
      release: usage.release,
      ended: (disconnected) => {
        usage.closeStream()
        leave?.(disconnected)
        request.signal.removeEventListener("abort", gone)
        home.streams.delete(streaming)
      }
    })
    claimed = false
    const leave = reads === undefined ? undefined : home.readers.read(reads)
    const gone = (): void => streaming.cancel(!clientHasLeft(request.signal))
    home.streams.add(streaming)
    request.signal.addEventListener("abort", gone, { once: true })
    if (request.signal.aborted) gone()
    if (closing.aborted) streaming.close()
    return responseOf(streaming, { headers: { ...streamHeaders, ...headers } })
  }

  const chats = ownedChats(home, usage, name, via, kept, (inner) => {
    opened = inner
    if (!follows || via.length > 0) kept?.forget()
  })
  const isFollowed = (error: unknown): boolean => follows && isMoved(error)
  const call: Call = {
    request,
    url,
    params,
    owner: name,
    may,
    troupe,
    cluster: home.cluster,
    chats,
    body: (schema, history) => {
      const { headers } = request
      return jsonBody({ headers, body: kept === undefined ? request.body : kept.stream }, schema, {
        ...limits,
        history,
        keeps: (more) => wait?.add(more),
        admits: (sent) => checkRoom(troupe, chats.prefix, limits.fileBytes, () => fileBytesIn(sent))
      })
    },
    stream,
    claimStream,
    closing,
    whenClosing: (end) => {
      home.ends.add(end)
      return () => void home.ends.delete(end)
    },
    limits,
    shown: withBlobUrls(withOwnChildren(home.shown, chats.outerId), (blob, chat = opened ?? "") => {
      return `${home.basePath}/chats/${encodeURIComponent(chats.outerId(chat))}/blobs/${blob}`
    }),
    bodyOf: home.bodyOf,
    isFollowed,
    cutIfMoved: (error) => {
      if (isFollowed(error)) throw new Cut("the chat has moved")
    },
    isAgain: again,
    begun: before,
    accepted: async (chat, turn, called = turn.id) => {
      await takenFor(request, chat, turn)
      begun = called
      if (wait === undefined || turn.status !== "pending" || countedInputs.has(turn)) return
      countedInputs.add(turn)
      void turn.delivery.then(wait.end)
      wait = undefined
    },
    inputId: (named) => named ?? before ?? (follows ? System.uuid(troupe.system, "server") : undefined),
    stepMark: follows ? stepFrame : "",
    clientTools: home.clientTools,
    posts: home.posts,
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
    if (request.method === "GET") usage.hold(byteLength)
    else usage.add(byteLength)
    const release = (): void => usage.release(byteLength)
    return new Response(inPieces(bytes, request.signal, release), { status, headers })
  }

  // A request for a whole completion has a stream. One with `?wait` gets its stream when its chat is known.
  return {
    handled: async (route) => {
      wait = usage.wait()
      return counted(await route.handle(call))
    },
    settle: () => {
      giveBack()
      wait?.end()
    },
    isWaiting: () => claimed || url.searchParams.has("wait"),
    begun: () => begun,
    opened: () => opened
  }
}

/** A comment, which no client reads. */
const stepFrame = ": step\n\n"

const streamHeaders = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-cache, no-transform",
  "x-accel-buffering": "no"
} as const

const ownedChats = (
  { troupe, chatId, limits, checkId = checkedId, isHome = () => true }: CallHome,
  usage: Usage,
  name: string,
  via: ReadonlyArray<string>,
  kept: RequestBody | undefined,
  answersHere: (inner: string) => void
): OwnedChats => {
  const named = (id: string): string => chatId(name, checkId(id))
  const prefix = chatId(name, "")
  let isOpened = false
  const here = (inner: string): string => {
    if (!isHome(inner)) throw new Elsewhere(inner)
    return inner
  }

  /** The request is answered here. */
  const opened = (inner: string, open: () => Promise<LocalChatRef>): Promise<LocalChatRef> =>
    usage.chat(inner, async () => {
      const chat = await open()
      isOpened = true
      answersHere(inner)
      return chat
    })

  /** The chat, started here. When its home changes before it has started, nothing was processed, and the request is forwarded. */
  const started = async (inner: string, agent?: string): Promise<LocalChatRef> => {
    try {
      const chat = await opened(inner, () => troupe.chat(inner, { agent }))
      // A program without a cluster may have the same store: the request is decided about the newest entry (REF14).
      await chat.look()
      return chat
    } catch (error) {
      const hasLeft = error instanceof SessionError && error.reason === "moved"
      throw hasLeft && kept !== undefined ? new Elsewhere(inner) : error
    }
  }

  /**
   * A new id, of a chat of this program if one of the first tries is. A request that was forwarded, or that is answered here, needs
   * one of this program.
   */
  const fresh = (): string => {
    const most = via.length > 0 || isOpened ? mostTries : fewTries
    for (let tries = 1; ; tries++) {
      const inner = named(System.uuid(troupe.system, "server"))
      if (tries >= most || isHome(inner)) return inner
    }
  }

  const begun: OwnedChats["begun"] = async (id, begin) => {
    const inner = here(id === undefined ? fresh() : named(id))
    return opened(inner, () => begin(inner))
  }

  return {
    innerId: (id) => {
      const inner = named(id)
      return via.includes(inner) ? inner : here(inner)
    },
    prefix,
    outerId: (inner) => (inner.startsWith(prefix) ? inner.slice(prefix.length) : inner),
    chat: async (id, agent) => started(here(named(id)), agent),
    existing: async (id) => {
      const inner = here(named(id))
      if (!(await troupe.has(inner))) throw refused("unknown_chat")
      return started(inner)
    },
    begun,
    forked: async (from, { id, ...options }) => {
      await checkRoom(troupe, prefix, limits.fileBytes, () => troupe.fileBytes(from))
      return begun(id, (to) => troupe.fork(from, { ...options, id: to }))
    }
  }
}

/** How many generated ids are tried for one of this program, and how many by a program that is known to be a home. */
const fewTries = 64
const mostTries = 10_000
