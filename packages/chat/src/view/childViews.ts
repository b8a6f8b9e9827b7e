/**
 * The running children of a chat's calls, as the chat's view shows them.
 *
 * Owns: which child belongs to which call. Does not own the children, nor what they do.
 *
 * NEST1. The events of a child are in the stream of its parent while its call runs: after the reply that has the call, and before the
 *        tool events of the call. After them the stream has no event of the child.
 * NEST2. A call shows its child while the child runs: neither after its end, nor while the call waits for a person. A chat without such children has no object of this class.
 */
import type { ChildView, ToolCallView } from "../call/index.ts"
import type { Event } from "../events/index.ts"
import type { PartialReply } from "../json/index.ts"
import type { SubagentCall } from "../tool/index.ts"

/** A child of a call. */
export interface FollowedChild {
  readonly chat: string
  readonly agent: string
  /** Its present state; `undefined` before it has a process. */
  readonly context: () => (Pick<ChildView, "toolCalls"> & { readonly partial: PartialReply }) | undefined
}

/** Called by a child: for each of its events, for each change of its state, and for each change of its calls. */
export interface Follower {
  readonly event: (event: Event) => void
  readonly changed: () => void
  readonly callsChanged: () => void
}

export class ChildViews {
  readonly #children = new Map<string, FollowedChild>()

  /** The call of this id runs a child. */
  follow(toolCallId: string, child: FollowedChild): void {
    this.#children.set(toolCallId, child)
  }

  /** Whether the call still runs this child (NEST1). */
  has(toolCallId: string, child: FollowedChild): boolean {
    return this.#children.get(toolCallId) === child
  }

  /** The call is over. */
  ended(toolCallId: string): void {
    this.#children.delete(toolCallId)
  }

  /** The calls with their children. */
  shownIn(calls: ReadonlyArray<ToolCallView>): ReadonlyArray<ToolCallView> {
    return this.#children.size === 0 ? calls : calls.map((call) => this.#withChild(call))
  }

  #withChild(call: ToolCallView): ToolCallView {
    const isOver = call.status === "done" || call.status === "suspended"
    const followed = isOver ? undefined : this.#children.get(call.id)
    const context = followed?.context()
    if (followed === undefined || context === undefined) return call
    const { chat, agent } = followed
    const { text, reasoning } = context.partial
    const said = reasoning === undefined ? { text } : { text, reasoning }
    return { ...call, child: { chat, agent, ...said, toolCalls: context.toolCalls } }
  }
}

/** The functions of a parent that a child calls. */
interface Parent {
  readonly pass: (event: Event) => void
  readonly view: {
    readonly follow: (toolCallId: string, child: FollowedChild) => () => boolean
    readonly shownChanged: () => void
    readonly callsChanged: (toolCallId: string) => void
  }
}

/** A child: its id, and its view. */
interface Child {
  readonly id: string
  readonly view: {
    readonly snapshot: () => { readonly context: ReturnType<FollowedChild["context"]> } | undefined
    follower: Follower | undefined
  }
}

/** Passes the events of a child to its parent, and shows the child there. */
export const followChild = (
  parent: Parent | undefined,
  child: Child | undefined,
  { agent, toolCall: { id: toolCallId } }: Pick<SubagentCall, "agent" | "toolCall">
): void => {
  if (parent === undefined || child === undefined) return
  const { id: chat, view } = child
  const isFollowed = parent.view.follow(toolCallId, { chat, agent, context: () => view.snapshot()?.context })
  view.follower = {
    event: (event) => {
      if (!isFollowed()) return
      parent.pass({ type: "child_event", toolCallId, chat, agent, event })
      parent.view.shownChanged()
    },
    changed: () => {
      if (isFollowed()) parent.view.shownChanged()
    },
    callsChanged: () => {
      if (isFollowed()) parent.view.callsChanged(toolCallId)
    }
  }
}
