/** How a reader attaches to a chat, and the values it reads. */

import type { Event } from "../events/index.ts"
import type { ChatSnapshot } from "./liveView.ts"

/**
 * A place in what a chat says. Opaque: give back the one that came with the last item that was read.
 *
 * **Details**: places only grow for as long as the chat's address lives: over turns, and over restarts of its process.
 * `chat.stop()` ends that life, as the end of the program does; the next one has places of its own, and a cursor of another life is
 * answered with a snapshot, never with the wrong events.
 */
export type Cursor = string

/**
 * What a reader gets who does not keep up.
 *
 * - `"coalesce"`: what is unread waits, fragments of the same text as one, for as long as the chat's log has it; then a
 *   snapshot
 * - `"snapshot"`: past `maxUnread` what is unread is dropped for one fresh snapshot
 */
export type WhenSlow = "coalesce" | "snapshot"

/**
 * How a chat is followed.
 *
 * **Details**: without a `cursor` a snapshot comes first, and then what is said from here on; with one, what came after it;
 * with `"turn"`, the running turn from its first event, or, where none runs, what is said from here on.
 *
 * **Units and defaults**: `whenSlow` is `"coalesce"`. `maxUnread` counts events, each fragment as one, and is 1,000; only
 * `"snapshot"` looks at it. `signal` detaches.
 */
export interface AttachOptions {
  /** A cursor that came with an item, or `"turn"`. */
  readonly cursor?: Cursor | undefined
  readonly whenSlow?: WhenSlow | undefined
  readonly maxUnread?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/**
 * What a reader gets. `cursor` is the place behind it.
 *
 * - `event`: what the chat said; fragments that came in a row before they were read are one
 * - `snapshot`: where the chat stands, in the place of everything before: at the beginning, after a restart of the chat's
 *   process, and when the log does not have what comes after the reader's place
 */
export type Attached =
  | { readonly type: "event"; readonly cursor: Cursor; readonly event: Event }
  | { readonly type: "snapshot"; readonly cursor: Cursor; readonly snapshot: ChatSnapshot }
