/** A Troupe behind a real socket, for one test. */
import { type RunningTroupe, Troupe, type TroupeOptions } from "@troupe/chat"
import { onTestFinished } from "vitest"
import * as Node from "../../src/node/Node.ts"
import * as Server from "../../src/server/Server.ts"
import type { ServerOptions } from "../../src/server/serverOptions.ts"

export interface Serving {
  readonly url: string
  readonly troupe: RunningTroupe
  readonly post: (path: string, body: unknown, init?: RequestInit) => Promise<Response>
}

/** Everybody is one owner; the chat `c` is the Troupe's `anna/c`. */
export const serving = async (options: TroupeOptions, more: Partial<ServerOptions> = {}): Promise<Serving> => {
  const troupe = await Troupe.start(options)
  const server = Server.make({
    troupe,
    authorize: () => ({ owner: "anna", may: { approve: true } }),
    limits: { requestsPerMinute: 1_000_000 },
    ...more
  })
  const { url, close } = await Node.listen(server, { graceMs: 1_000 })
  onTestFinished(async () => {
    await close()
    await troupe.stop()
  })
  return {
    url,
    troupe,
    post: (path, body, init = {}) =>
      fetch(`${url}${path}`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify(body),
        ...init
      })
  }
}
