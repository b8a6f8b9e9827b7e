import { type RunningTroupe, Troupe, type TroupeOptions } from "@troupe/chat"
import type { Adapter } from "@troupe/chat/models"
import { Clock } from "@troupe/otp"
import { onTestFinished } from "vitest"
import type { ChatLink, LinkState, TroupeLink } from "../../src/link/ChatLink.ts"
import * as Client from "../../src/client/Client.ts"
import * as Server from "../../src/server/Server.ts"
import type { ServerOptions } from "../../src/server/serverOptions.ts"

/** Turns of the event loop until something holds, for at most ten seconds: text reaches a view by a timer of the host. */
export const until = async (holds: () => boolean): Promise<void> => {
  for (const end = performance.now() + 10_000; performance.now() < end;) {
    if (holds()) return
    await new Promise<void>((resolve) => void setImmediate(resolve))
  }
  throw new Error("it never held")
}

/** A stream that a client has open, as the test sees it. */
interface OpenStream {
  readonly path: string
  /** Whether the client has let go of it. */
  readonly isOver: () => boolean
  /** Cuts it, as a network does. */
  readonly cut: () => void
}

/** A client of a server, with the network between them in the test's hand. */
export interface Linked {
  readonly troupe: RunningTroupe
  readonly server: Server.Server
  readonly link: TroupeLink
  readonly clock: Clock.TestClock
  readonly streams: ReadonlyArray<OpenStream>
  readonly asked: ReadonlyArray<string>
  /** Every request fails, until it is called with `false`. */
  readonly down: (isDown: boolean) => void
}

export const linked = async (
  adapter: Adapter.Adapter,
  options: Partial<ServerOptions> = {},
  troupeOptions: Partial<TroupeOptions> = {}
): Promise<Linked> => {
  const troupe = await Troupe.start({ adapter, ...troupeOptions })
  const server = Server.make({ troupe, authorize: () => ({ owner: "anna", may: { approve: true } }), ...options })
  const clock = Clock.test()
  const streams: Array<OpenStream> = []
  const asked: Array<string> = []
  let isDown = false
  const link = Client.connect({
    url: "http://localhost/",
    clock,
    random: () => 1,
    fetch: async (url, init) => {
      const { pathname } = new URL(url)
      asked.push(`${init.method} ${pathname}`)
      if (isDown) throw new TypeError("fetch failed")
      const response = await server.fetch(new Request(url, init))
      return response.headers.get("content-type")?.startsWith("text/event-stream") === true
        ? cuttable(pathname, response, streams)
        : response
    }
  })
  onTestFinished(async () => {
    await server.close()
    await troupe.stop()
  })
  return { troupe, server, link, clock, streams, asked, down: (value) => (isDown = value) }
}

const cuttable = (path: string, response: Response, streams: Array<OpenStream>): Response => {
  const reader = response.body?.getReader()
  let over = false
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      streams.push({
        path,
        isOver: () => over,
        cut: () => {
          over = true
          controller.error(new TypeError("terminated"))
          void reader?.cancel()
        }
      })
    },
    pull: async (controller) => {
      const read = await reader?.read()
      if (over) return
      if (read?.done === false) controller.enqueue(read.value)
      else {
        over = true
        controller.close()
      }
    },
    cancel: () => {
      over = true
      return reader?.cancel()
    }
  })
  return new Response(body, response)
}

/** Every state of a link, for as long as the test runs. */
export const watched = (chat: ChatLink): { readonly states: ReadonlyArray<LinkState>; readonly leave: () => void } => {
  const states: Array<LinkState> = []
  const leave = chat.subscribe(() => states.push(chat.getState()))
  return { states, leave }
}
