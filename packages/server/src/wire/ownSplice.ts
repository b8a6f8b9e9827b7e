/** Joins the answers of a server's own routes: a snapshot precedes the events of the next home. */
import type { Splice } from "../http/index.ts"

const failed = JSON.stringify({
  type: "failed",
  error: { code: "moved", message: "The conversation moves; ask again", retryAfterMs: 1_000 }
})

/** The newest id of a frame that has one. */
const newestId = (frames: string): string | undefined => {
  const from = Math.max(frames.lastIndexOf("\nid: "), frames.startsWith("id: ") ? -1 : -2)
  if (from === -2) return undefined
  return frames.slice(from + 1 + "id: ".length, frames.indexOf("\n", from + 1))
}

/** A splice of events. A reader of numbered events goes on after the last one that it has. */
export const ownSplice = (): Splice => {
  let cursor: string | undefined
  return {
    push: (frames) => {
      cursor = newestId(frames) ?? cursor
      return frames
    },
    again: (headers) =>
      cursor === undefined
        ? headers
        : [...headers.filter(([name]) => name !== "last-event-id"), ["last-event-id", cursor]],
    failed: () => `data: ${failed}\n\n`
  }
}
