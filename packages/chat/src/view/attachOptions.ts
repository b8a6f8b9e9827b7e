/** The options of an attached reader, and the items it reads. */

import type { Event } from "../events/index.ts"
import type { CallReport } from "./callFeed.ts"
import type { ChatView } from "./ChatView.ts"
import type { ChatSnapshot } from "./liveView.ts"

/**
 * A place in the events of a chat. Opaque: pass the cursor of the last item that was read.
 *
 * **Details**: places only grow while the chat's address exists: across turns, and restarts of its process. They end with
 * `chat.stop()` and with the program. Afterwards the chat has new places, and an old cursor gets a snapshot, never the
 * wrong events.
 */
export type Cursor = string

/**
 * How a slow reader is handled.
 *
 * - `"coalesce"`: unread events are kept, with fragments of the same text merged, as long as the chat's log has them; then
 *   a snapshot replaces them
 * - `"snapshot"`: past `maxUnread` a fresh snapshot replaces the unread events
 */
type WhenSlow = "coalesce" | "snapshot"

/** The options of an attached reader. */
export interface AttachOptions {
  /**
   * The place from which events are read. Default: a snapshot comes first, and then new events. With the cursor of an item, the
   * events after it; with `"turn"`, the running turn from its first event, or new events if no turn runs.
   */
  readonly cursor?: Cursor | undefined
  /**
   * What happens when the reader is slower than the chat: `"coalesce"` merges unread fragments of a text; `"snapshot"` replaces
   * more than `maxUnread` events by a snapshot. Default: `"coalesce"`.
   */
  readonly whenSlow?: WhenSlow | undefined
  /**
   * How many events may be unread before a snapshot replaces them, each fragment as one. Only `"snapshot"` uses it. Default:
   * 1,000.
   */
  readonly maxUnread?: number | undefined
  /** Detaches the reader when it is aborted. Default: none. */
  readonly signal?: AbortSignal | undefined
}

/**
 * An item of a reader. `cursor` is the place after it.
 *
 * - `event`: an event of the chat; consecutive unread fragments are merged into one
 * - `snapshot`: the state of the chat, which replaces all events before: at the beginning, after a restart of the chat's
 *   process, and when the log does not have the events after the reader's place
 */
export type ChatItem =
  | { readonly type: "event"; readonly cursor: Cursor; readonly event: Event }
  | { readonly type: "snapshot"; readonly cursor: Cursor; readonly view: ChatView }

/** An item of a reader of a chat of this program: its snapshots also have the values themselves. */
export type Attached =
  | Extract<ChatItem, { readonly type: "event" }>
  | (Extract<ChatItem, { readonly type: "snapshot" }> & { readonly snapshot: ChatSnapshot })

/** The state of a tool call, for a reader of a chat of this program with the option `calls`. It has no place, and no cursor. */
export interface CallItem {
  /** The tag of the item. */
  readonly type: "call"
  /** The newest state; those since the last item are skipped. */
  readonly call: CallReport
}

/** A turn of this program, as `send` returns it. */
export interface AttachedTurn {
  readonly id: string
  /** The id of its chat. */
  readonly chat: string | undefined
  /** Whether the turn is over. */
  readonly over: boolean
  /** The error of a failed turn. */
  readonly failure: { readonly error: unknown } | undefined
  /** Resolves when the turn is over; never rejects. */
  readonly ended: Promise<void>
  /** The turn that the input of this one has joined. */
  readonly leader: AttachedTurn | undefined
}

/** The options of a reader of a chat of this program. */
export interface LocalAttachOptions extends AttachOptions {
  /**
   * Reads the events of this turn from its first one, whenever it begins, and ends with it; rejects with the turn's error. A snapshot
   * comes when the turn begins to wait for a person's answer, and in place of the events of a turn that was over before. The
   * turn is one of this chat, and `cursor` is left out beside it. Default: all turns.
   */
  readonly turn?: AttachedTurn | undefined
  /** Whether the states of the tool calls come between the events. Default: `false`. */
  readonly calls?: boolean | undefined
}
