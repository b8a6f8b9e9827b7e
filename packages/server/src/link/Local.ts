/**
 * A user interface's link to chats of its own program, without a server.
 *
 * @module
 */
import { Observation } from "@troupe/chat/observe"
import type { RunningTroupe } from "@troupe/chat"
import type { ChatLink, TroupeLink } from "./ChatLink.ts"
import { WeakCache } from "./weakCache.ts"
import { localChat } from "./localChat.ts"

/**
 * The link to a Troupe of this program.
 *
 * **Details**: watching a chat starts or loads it. A link that is not referenced is garbage-collected.
 */
export const local = (troupe: RunningTroupe): TroupeLink => {
  const chats = new WeakCache<ChatLink>()
  return {
    chat: (id) => chats.get(id, () => localChat(troupe, id)),
    list: (options) => troupe.list(options),
    waiting: (options) => troupe.waiting(options),
    memories: async ({ query, limit, after, scope = "" } = {}) =>
      query === undefined
        ? troupe.memories.list(scope, { limit, after })
        : { memories: await troupe.memories.recall(scope, query, limit) },
    forget: (id, { scope = "" } = {}) => troupe.memories.forget(scope, id),
    remove: (id) => troupe.delete(id),
    observer: Observation.make(troupe)
  }
}
