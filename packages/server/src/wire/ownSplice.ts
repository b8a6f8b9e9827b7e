/** Joins the answers of a server's own routes: a snapshot precedes the events of the next home. */
import type { Splice } from "../http/index.ts"

const failed = JSON.stringify({
  type: "failed",
  error: { code: "moved", message: "The conversation moves; ask again", retryAfterMs: 1_000 }
})

/** The id of a frame that has one. */
const idOf = (frame: string): string | undefined =>
  frame.startsWith("id: ") ? frame.slice("id: ".length, frame.indexOf("\n")) : undefined

/** A splice of events. A reader of numbered events goes on after the last one that it has. */
export const ownSplice = (): Splice => {
  let cursor: string | undefined
  return {
    push: (frame) => {
      cursor = idOf(frame) ?? cursor
      return frame
    },
    again: (headers) =>
      cursor === undefined
        ? headers
        : [...headers.filter(([name]) => name !== "last-event-id"), ["last-event-id", cursor]],
    failed: () => `data: ${failed}\n\n`
  }
}
