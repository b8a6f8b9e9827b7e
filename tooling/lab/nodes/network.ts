/**
 * The network of a storm: a proxy in front of each node for the other nodes, and one between each node and PostgreSQL.
 *
 * Owns: the proxies, and which connections are cut. Does not own the nodes. A node reports the port of each connection that it
 * opens, so that its connections to another node are known at the proxy of that node.
 *
 * A node opens a connection while another node is cut from the same proxy:
 *   1. the proxy accepts it, and does not know its sender: it passes nothing on.
 *   2. the report of the sender arrives, and the proxy decides again.
 */
import { type Passage, TcpProxy } from "../../../packages/store/test/double/TcpProxy.ts"
import { database } from "../check/nodes.ts"

/** How a connection is cut: no byte passes and no end is seen, or it is reset. */
export type CutKind = Exclude<Passage, "pass">

/** What happens to the connections of before a cut at its end: they go on, are reset, or stay silent for good. */
export type Before = "kept" | "reset" | "lost"

/** The ways to and from a node. */
export interface Links {
  /** For the other nodes. */
  readonly inner: TcpProxy
  /** To PostgreSQL. */
  readonly toDatabase: TcpProxy
}

export class Network {
  readonly #links = new Map<string, Links>()
  readonly #cuts = new Map<string, Passage>()
  readonly #senders = new Map<number, string>()

  /** Adds a node that listens at an address. */
  async attach(name: string, listenOn: string, databaseAddress: string): Promise<Links> {
    const [inner, toDatabase] = [await TcpProxy.listen(listenOn), await TcpProxy.listen(databaseAddress)]
    inner.set((port) => this.#passage(this.#senders.get(port), name))
    toDatabase.set(() => this.#passage(name, database))
    this.#links.set(name, { inner, toDatabase })
    return { inner, toDatabase }
  }

  /** A node has opened a connection from this port. */
  opened(name: string, port: number): void {
    this.#senders.set(port, name)
    this.#update()
  }

  /** Cuts two nodes from each other, or a node from PostgreSQL. */
  cut(one: string, other: string, kind: CutKind): void {
    this.#cuts.set(wayOf(one, other), kind).set(wayOf(other, one), kind)
    this.#update()
  }

  /** Ends a cut. */
  heal(one: string, other: string, before: Before): void {
    if (before === "reset") this.cut(one, other, "cut")
    if (before === "lost") this.#lose(one, other)
    this.#cuts.delete(wayOf(one, other))
    this.#cuts.delete(wayOf(other, one))
    this.#update()
  }

  #lose(one: string, other: string): void {
    if (other === database) return this.#links.get(one)?.toDatabase.lose(() => true)
    for (const [from, to] of [
      [one, other],
      [other, one]
    ] as const) {
      this.#links.get(to)?.inner.lose((port) => this.#senders.get(port) === from)
    }
  }

  close(): void {
    for (const proxy of this.#proxies()) {
      proxy.close()
      proxy.cut()
    }
  }

  #passage(from: string | undefined, to: string): Passage {
    if (from !== undefined) return this.#cuts.get(wayOf(from, to)) ?? "pass"
    return [...this.#cuts.keys()].some((way) => way.endsWith(wayOf("", to))) ? "silent" : "pass"
  }

  #update(): void {
    for (const proxy of this.#proxies()) proxy.update()
  }

  #proxies(): ReadonlyArray<TcpProxy> {
    return Array.from(this.#links.values(), ({ inner, toDatabase }) => [inner, toDatabase]).flat()
  }
}

const wayOf = (from: string, to: string): string => `${from} > ${to}`
