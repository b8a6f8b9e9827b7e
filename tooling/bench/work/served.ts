/** Servers without limits, as benches and the laboratory use them. */
import { Troupe, type TroupeOptions } from "@troupe/chat"
import type { Store } from "@troupe/chat/store"
import { System } from "@troupe/otp"
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"

const unbounded = 1_000_000_000

/** The owner of all conversations. */
export const owner = "bench"

/** A server of a Troupe for one owner, who may approve calls. */
export const unlimited = (options: Omit<Server.ServerOptions, "authorize">): Server.Server =>
  Server.make({
    authorize: () => ({ owner, may: { approve: true } }),
    ...options,
    limits: { conversations: unbounded, requestsPerMinute: unbounded, streams: unbounded, ...options.limits }
  })

/** Only the server is measured: a store in memory would grow with every conversation. */
const forgetful: Store.Store = { load: () => undefined, save: () => {}, delete: () => {} }

/** Serves a Troupe that stores nothing; `close` ends both, and the system. */
export const servedTroupe = async (options: TroupeOptions, listening: Parameters<typeof listen>[1] = {}) => {
  const troupe = await Troupe.start({ store: forgetful, ...options })
  const { url, close } = await listen(unlimited({ troupe }), { connections: unbounded, ...listening })
  return {
    url,
    system: troupe.system,
    close: async (): Promise<void> => {
      await close()
      await troupe.stop()
      await System.stop(troupe.system)
    }
  }
}
