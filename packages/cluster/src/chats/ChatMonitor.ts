/**
 * A monitor of the process of a chat, on any node.
 *
 * CLUSTER16. A monitor reports the end of the chat's process exactly once: its exit reason (`shutdown` when the
 *            chat was stopped or has left its node), `noproc` when it had no process, `noconnection` when its node is gone.
 */
import type { NodeClient } from "./nodeClient.ts"

/** The end of a chat's process. */
export interface ChatDown {
  /** The id of the conversation. */
  readonly id: string
  /** The exit reason as a text, or `noproc`, `noconnection`. */
  readonly reason: string
}

/** A monitor of a chat's process. */
export interface ChatMonitor {
  /** Resolves with the end of the process, exactly once; never after `demonitor`. */
  readonly down: Promise<ChatDown>
  /** Ends the monitor. */
  readonly demonitor: () => void
}

/** Resolves when the monitor is set. */
export const monitorChat = async (client: NodeClient, id: string, path: string): Promise<ChatMonitor> => {
  const left = new AbortController()
  const { promise: down, resolve } = Promise.withResolvers<ChatDown>()
  const set = Promise.withResolvers<void>()
  const watch = async (): Promise<void> => {
    let reason = "noconnection"
    try {
      const { frames } = await client.open(path, left.signal)
      for await (const { data } of frames) {
        set.resolve()
        if (data["type"] !== "down") continue
        reason = String(data["reason"])
        break
      }
    } catch {
      // The node is gone, or was not reached: that is the reason.
    }
    if (!left.signal.aborted) resolve({ id, reason })
    set.resolve()
  }
  void watch()
  await set.promise
  return { down, demonitor: () => left.abort() }
}
