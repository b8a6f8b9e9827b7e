/**
 * A Troupe on many nodes, as one of its nodes shows it.
 *
 * Owns: nothing; it leads each operation to the home of its conversation. Does not own the node, which `stop` ends.
 *
 * CLTROUPE1. An operation on a conversation is done by its home, and by no other node. Lists, and reads of the log, are answered
 *            by the store.
 *
 * @module
 */
import type { RunningTroupe } from "@troupe/chat"
import { SessionError } from "@troupe/chat/errors"
import { Thread } from "@troupe/chat/messages"
import { Codec } from "@troupe/chat/store"
import type { Server } from "@troupe/server"
import { HttpError } from "@troupe/server/HttpError"
import { ClusterChatRef, type ClusterChatParts, pathPart } from "../chats/index.ts"

/** The parts of a node that its Troupe shows. */
export interface ClusterTroupeParts {
  readonly clustered: Server.Clustered
  readonly chats: ClusterChatParts
  readonly bound: string
  readonly newId: () => string
  readonly stop: () => Promise<void>
}

/**
 * A started Troupe on many nodes: the operations of `RunningTroupe`, wherever a conversation lives. `Server.make` takes it.
 *
 * **Details**: `chat` returns a `ChatRef`. `stream`, `zombies`, `isAlive` and `system` are those of this node.
 */
export class ClusterTroupe implements Server.Clustered {
  readonly #parts: ClusterTroupeParts
  /** The Troupe of this node. */
  readonly local: RunningTroupe
  /** Whether this node is the home of the chat now. */
  readonly isHome: Server.Clustered["isHome"]
  /** Answers for a server of this node, here or at the home of a chat. */
  readonly serve: Server.Clustered["serve"]
  /** How many nodes there are. */
  readonly nodes: Server.Clustered["nodes"]
  /** The nodes, for the observer. */
  readonly nodeList: Server.Clustered["nodeList"]

  /** Created by `Cluster.start`. */
  constructor(parts: ClusterTroupeParts) {
    const { clustered } = parts
    this.#parts = parts
    this.local = clustered.local
    this.isHome = clustered.isHome
    this.serve = clustered.serve
    this.nodes = clustered.nodes
    this.nodeList = clustered.nodeList
  }

  /** The address of this node for other nodes. */
  get address(): string {
    return this.#parts.clustered.address
  }

  /** The address that this node listens on. */
  get bound(): string {
    return this.#parts.bound
  }

  get system(): RunningTroupe["system"] {
    return this.local.system
  }

  get engine(): RunningTroupe["engine"] {
    return this.local.engine
  }

  /** Returns the chat with this id, started at its home. **Errors**: as for `RunningTroupe.chat`, and `moved` without a home. */
  async chat(id: string, options: Parameters<RunningTroupe["chat"]>[1] = {}): Promise<ClusterChatRef> {
    this.local.checks.chat(id, options)
    const { agent } = options
    const chat = this.#chat(id, agent)
    await chat.start()
    if (agent !== undefined) checkAgent(id, agent, (await chat.view()).agent)
    return chat
  }

  #chat(id: string, agent?: string): ClusterChatRef {
    return new ClusterChatRef(this.#parts.chats, id, agent)
  }

  /** Whether a chat with this id is in the store, or runs at its home. */
  async has(id: string): Promise<boolean> {
    if (await this.local.has(id)) return true
    try {
      await this.#parts.chats.client.ask("GET", pathOf(id))
      return true
    } catch (error) {
      if (error instanceof SessionError && error.reason === "unknown_chat") return false
      throw error
    }
  }

  history(...args: Parameters<RunningTroupe["history"]>): ReturnType<RunningTroupe["history"]> {
    return this.local.history(...args)
  }

  at(...args: Parameters<RunningTroupe["at"]>): ReturnType<RunningTroupe["at"]> {
    return this.local.at(...args)
  }

  /** As `RunningTroupe.blob`: answered by the store, or by the home of the chat while the store does not have the bytes yet. */
  async blob(id: string, blob: string): ReturnType<RunningTroupe["blob"]> {
    const stored = await this.local.blob(id, blob)
    if (stored !== undefined) return stored
    try {
      return await this.#parts.chats.client.bytes(`${pathOf(id)}/blobs/${blob}`)
    } catch (error) {
      const isUnknown = error instanceof SessionError && error.reason === "unknown_chat"
      if (isUnknown || (error instanceof HttpError && error.code === "not_found")) return undefined
      throw error
    }
  }

  list(...args: Parameters<RunningTroupe["list"]>): ReturnType<RunningTroupe["list"]> {
    return this.local.list(...args)
  }

  /** As `RunningTroupe.waiting`: answered by the store, whatever nodes are the homes of the conversations. */
  waiting(...args: Parameters<RunningTroupe["waiting"]>): ReturnType<RunningTroupe["waiting"]> {
    return this.local.waiting(...args)
  }

  async fork(id: string, options: Parameters<RunningTroupe["fork"]>[1] = {}): Promise<ClusterChatRef> {
    this.local.checks.id(id)
    this.local.checks.names(options, ["at", "id", "agent"])
    const { at, agent, id: to = this.#parts.newId() } = options
    this.local.checks.chat(to, { agent })
    await this.#parts.chats.client.ask("POST", `${pathOf(id)}/fork`, { at, id: to, agent })
    return this.#chat(to)
  }

  async begin(
    thread: Parameters<RunningTroupe["begin"]>[0],
    options: Parameters<RunningTroupe["begin"]>[1] = {}
  ): Promise<ClusterChatRef> {
    this.local.checks.names(options, ["id", "agent"])
    const { id = this.#parts.newId(), agent } = options
    this.local.checks.chat(id, { agent })
    const messages = Thread.from(thread).messages.map((message) => Codec.toJson("Message", message).data)
    await this.#parts.chats.client.ask("POST", `/host/${pathPart("id", id)}/begin`, { messages, agent })
    return this.#chat(id)
  }

  /** Resets a conversation to an earlier entry, and returns the record it continues from. */
  async rewind(...[id, seq, options = {}]: Parameters<RunningTroupe["rewind"]>): ReturnType<RunningTroupe["rewind"]> {
    this.local.checks.chat(id, {})
    this.local.checks.names(options, ["cancel"])
    const body = { seq, cancel: options.cancel }
    const { seq: newest } = (await this.#parts.chats.client.ask("POST", `${pathOf(id)}/rewind`, body)) as {
      readonly seq: number
    }
    const record = await this.local.at(id, newest)
    if (record === undefined) throw new SessionError("unknown_commit", `The chat ${id} was deleted meanwhile`)
    return record
  }

  /** As `RunningTroupe.delete`: a conversation that does not exist is deleted already. */
  async delete(id: string): Promise<void> {
    this.local.checks.id(id)
    try {
      await this.#parts.chats.client.ask("DELETE", pathOf(id))
    } catch (error) {
      if (!(error instanceof SessionError && error.reason === "unknown_chat")) throw error
    }
  }

  stream(...args: Parameters<RunningTroupe["stream"]>): ReturnType<RunningTroupe["stream"]> {
    return this.local.stream(...args)
  }

  isAlive(id: string): boolean {
    return this.local.isAlive(id)
  }

  zombies(): ReturnType<RunningTroupe["zombies"]> {
    return this.local.zombies()
  }

  /** Leaves the cluster: its chats go to other nodes, and nothing of the node still runs afterwards. */
  stop(): Promise<void> {
    return this.#parts.stop()
  }
}

const checkAgent = (id: string, agent: string, has: string | undefined): void => {
  if (has === agent) return
  const message = `The chat ${id} has ${has === undefined ? "no agent" : `the agent ${has}`}; call chat.handoff("${agent}") to hand it over`
  throw new SessionError("other_agent", message, { metadata: { id, agent: has } })
}

const pathOf = (id: string): string => `/chats/${pathPart("id", id)}`
