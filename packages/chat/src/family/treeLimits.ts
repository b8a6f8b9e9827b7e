/**
 * The limits of a tree: a chat that a user began, with all sub-agents below it.
 *
 * Owns: what each tree has used since the last input of its root. Does not own the chats.
 *
 * SUB13. One input of a root begins at most `maxTreeChildren` sub-agents, however deep they are. A further call fails with
 *        `child_refused`, and the model reads the bound. A call that runs again does not count again.
 * SUB14. All chats of a tree together send at most `maxTreeRequests` requests for one input of the root, and one more for each that runs
 *        at the same time. Then each turn of the tree ends with `max_tree_requests`. A request counts when it begins, also one that is
 *        cut off. The counts are in memory: they begin anew when a root without background tasks is unloaded, and in another program.
 * TEAM6. The agents of a tree send each other at most `maxAgentMessages` messages in a minute. A further one is refused with
 *        `too_many_messages`, so that agents which only answer each other come to an end.
 */
import type { ChatContext } from "../loop/index.ts"
import { rootOf } from "../record/index.ts"
import type { Terminal } from "../step/index.ts"

export interface TreeBounds {
  readonly maxTreeChildren: number
  readonly maxTreeRequests: number
  /** How many sub-agents one chat can call again (SUB19). */
  readonly maxKnownAgents: number
  readonly maxAgentMessages: number
}

/** What a tree has used since the turn `cause` of its root began a chain. */
interface Tree {
  readonly cause: string | undefined
  readonly children: Set<string>
  requests: number
}

const treeOf = (cause: string | undefined): Tree => ({ cause, children: new Set(), requests: 0 })

const minuteMs = 60_000

type Living = (id: string) => { readonly context: Pick<ChatContext, "turn" | "record"> | undefined } | undefined

export class TreeLimits {
  readonly bounds: TreeBounds
  readonly #living: Living
  readonly #now: () => number
  readonly #trees = new Map<string, Tree>()
  /** When the messages of the last minute were sent, by root. */
  readonly #messages = new Map<string, ReadonlyArray<number>>()

  constructor(bounds: TreeBounds, living: Living, now: () => number) {
    this.bounds = bounds
    this.#living = living
    this.#now = now
  }

  /** Why the tree may have no further message of an agent in this minute (TEAM6); otherwise the message counts. */
  messageRefusal(id: string): string | undefined {
    const root = rootOf(id)
    const now = this.#now()
    const recent = (this.#messages.get(root) ?? []).filter((at) => now - at < minuteMs)
    const { maxAgentMessages } = this.bounds
    if (recent.length >= maxAgentMessages)
      return `the agents of this conversation sent each other ${maxAgentMessages} messages in a minute, and no more may`
    this.#messages.set(root, [...recent, now])
    return undefined
  }

  /** A chat of the tree begins a request. */
  sends(id: string): void {
    this.#of(id).requests += 1
  }

  /** Counts a child of the tree; false if the tree may begin no further one (SUB13). */
  begins(child: string): boolean {
    const { children } = this.#of(child)
    if (children.has(child)) return true
    if (children.size >= this.bounds.maxTreeChildren) return false
    children.add(child)
    return true
  }

  /** Why the chats of the tree send no further request (SUB14); `undefined` if they may. */
  spent(id: string): Terminal | undefined {
    const { maxTreeRequests } = this.bounds
    if (this.#of(id).requests < maxTreeRequests) return undefined
    return { reason: "max_tree_requests", metadata: { maxTreeRequests } }
  }

  /** Forgets the tree of a root that is no longer in memory. */
  forget(id: string): void {
    this.#trees.delete(id)
    this.#messages.delete(id)
  }

  /** A turn of a chat begins a chain: that of the root begins the counts anew. */
  chainBegan(id: string, turn: string): void {
    if (id === rootOf(id)) this.#trees.set(id, treeOf(turn))
  }

  /** A turn of the root that carries on no chain begins the counts anew: an input may begin the chain while the turn runs. */
  #of(id: string): Tree {
    const root = rootOf(id)
    const known = this.#trees.get(root)
    const { turn, record } = this.#living(root)?.context ?? {}
    const cause = turn !== undefined && record?.chain === undefined ? turn.id : known?.cause
    if (known !== undefined && known.cause === cause) return known
    const tree = treeOf(cause)
    this.#trees.set(root, tree)
    return tree
  }
}
