/**
 * The nodes of the cluster, for the observers of this node.
 *
 * Owns: the last known status of each node, and the requests for the next one. Does not own the membership, which the
 * placement has, nor the connections.
 *
 * NODES1. Without a reader nothing is requested and no timer runs. At most one request to each node is open.
 * NODES2. A list is returned after at most three times `patienceMs`, whatever the nodes and the placement do. A node that has not
 *         answered for `silentMs`, or that was not reached, is `silent` until it answers.
 * NODES3. A node that is no longer a member is `gone`, and listed for `goneMs`. A list has at most `mostNodes`, and the members
 *         come before those that are gone.
 *
 * @module
 */
import { Store } from "@troupe/chat/store"
import type { Clock } from "@troupe/otp"
import type { NodeStatus } from "@troupe/server/ChatLink"
import type { InnerClient } from "../inner/index.ts"
import type { Placement } from "../placement/index.ts"
import { noteText } from "./note.ts"

/** The part of a status that a node states about itself. */
export type OwnStatus = Required<Omit<NodeStatus, "node" | "hasChat">>

/** The parts that a list needs. */
export interface NodeListParts {
  readonly placement: Pick<Placement, "address" | "nodes" | "homeOf">
  readonly client: Pick<InnerClient, "request">
  readonly clock: Clock.Clock
  /** The status of this node. */
  readonly own: () => OwnStatus
}

const patienceMs = 250
const silentMs = 2_000
const goneMs = 60_000

/** As many as there are shards: no more nodes can be homes. */
const mostNodes = 256

interface Entry {
  readonly node: string
  known: OwnStatus | undefined
  isSilent: boolean
  /** The open request, and when it began. */
  asking: { readonly began: number; readonly answer: Promise<void> } | undefined
  goneAt: number | undefined
}

export class NodeList {
  readonly #parts: NodeListParts
  readonly #entries = new Map<string, Entry>()
  #members: Promise<void> | undefined

  constructor(parts: NodeListParts) {
    this.#parts = parts
  }

  /** The status of this node, as it answers other nodes. */
  own(): OwnStatus {
    return this.#parts.own()
  }

  /** The nodes, by their addresses. With the id of a chat, its home is marked, as far as this node knows it. NODES2 */
  readonly read = async (id?: string): Promise<ReadonlyArray<NodeStatus>> => {
    await this.#within(this.#refreshed())
    await this.#within(Promise.all(this.#listed().map((entry) => this.#answered(entry))))
    const home = id === undefined ? undefined : await this.#within(this.#homeOf(id))
    return this.#listed().map((entry) => ({
      ...this.#statusOf(entry),
      ...(entry.node === home && { hasChat: true })
    }))
  }

  /** Whether a node is a member, as far as is known within `patienceMs`. */
  async has(node: string): Promise<boolean> {
    await this.#within(this.#refreshed())
    const entry = this.#entries.get(node)
    return entry !== undefined && entry.goneAt === undefined
  }

  /** NODES3 */
  #listed(): ReadonlyArray<Entry> {
    return [...this.#entries.values()]
      .toSorted((one, other) => Number(one.goneAt !== undefined) - Number(other.goneAt !== undefined))
      .slice(0, mostNodes)
      .toSorted((one, other) => (one.node < other.node ? -1 : 1))
  }

  #statusOf({ node, known, isSilent, asking, goneAt }: Entry): NodeStatus {
    const { placement, clock } = this.#parts
    if (node === placement.address) return { node, ...this.own() }
    const isLate = asking !== undefined && clock.now() - asking.began >= silentMs
    const state = goneAt !== undefined ? "gone" : isSilent || isLate ? "silent" : (known?.state ?? "alive")
    return { ...known, node, state }
  }

  /** The home that the requests of a chat are sent to. A request to a former home corrects it. */
  async #homeOf(id: string): Promise<string | undefined> {
    try {
      return await this.#parts.placement.homeOf(Store.bucketOf(id))
    } catch {
      return undefined
    }
  }

  /** Reads the members. When the placement fails, those that are known stay. */
  #refreshed(): Promise<void> {
    this.#members ??= this.#refresh().finally(() => (this.#members = undefined))
    return this.#members
  }

  async #refresh(): Promise<void> {
    const { placement, clock } = this.#parts
    let members: ReadonlyArray<string>
    try {
      members = await placement.nodes()
    } catch {
      return
    }
    const now = clock.now()
    for (const node of members) {
      const entry = this.#entries.get(node)
      if (entry !== undefined) entry.goneAt = undefined
      else this.#entries.set(node, { node, known: undefined, isSilent: false, asking: undefined, goneAt: undefined })
    }
    const present = new Set(members)
    for (const entry of this.#entries.values()) {
      if (present.has(entry.node)) continue
      entry.goneAt ??= now
      if (now - entry.goneAt >= goneMs) this.#entries.delete(entry.node)
    }
  }

  /** Asks a member for its status, unless a request is open (NODES1). */
  async #answered(entry: Entry): Promise<void> {
    if (entry.goneAt !== undefined || entry.node === this.#parts.placement.address) return
    entry.asking ??= { began: this.#parts.clock.now(), answer: this.#ask(entry) }
    await entry.asking.answer
  }

  /** Never rejects: the failure is the state `silent`. */
  async #ask(entry: Entry): Promise<void> {
    try {
      const note = noteText({ type: "status" })
      const answer = await this.#parts.client.request(entry.node, { method: "GET", path: "/status", note })
      entry.known = statusOf(await answer.json())
      entry.isSilent = false
    } catch {
      entry.isSilent = true
    } finally {
      entry.asking = undefined
    }
  }

  async #within<A>(work: Promise<A>): Promise<A | undefined> {
    const { clock } = this.#parts
    let timer: unknown
    const late = new Promise<undefined>((resolve) => (timer = clock.setTimeout(() => resolve(undefined), patienceMs)))
    try {
      return await Promise.race([work, late])
    } finally {
      clock.clearTimeout(timer)
    }
  }
}

/** Reads the status that a node has sent. Throws for another answer, such as a refusal. */
const statusOf = (json: unknown): OwnStatus => {
  const { role, state, buckets, epoch, chats } = Object(json) as Partial<OwnStatus>
  if (state !== "alive" && state !== "draining") throw new TypeError("The answer of a node is no status")
  return {
    role: role === "gateway" ? role : "home",
    state,
    buckets: Number(buckets),
    epoch: Number(epoch),
    chats: Number(chats)
  }
}
