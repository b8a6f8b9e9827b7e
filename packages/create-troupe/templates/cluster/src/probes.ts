/** The paths for the probes of an orchestrator, which need no authorization. */
import type { Server } from "@troupe/server"

/** Adds `/live`, which always answers, and `/ready`, which answers 503 from `close` on. */
export const withProbes = (server: Server.Server): Server.Server => {
  let isClosing = false
  return {
    ...server,
    fetch: async (request) => {
      const { pathname } = new URL(request.url)
      if (pathname === "/live") return new Response("live\n")
      if (pathname === "/ready") return isClosing ? new Response("closing\n", { status: 503 }) : new Response("ready\n")
      return server.fetch(request)
    },
    close: () => {
      isClosing = true
      return server.close()
    }
  }
}
