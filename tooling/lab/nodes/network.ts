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

const wayOf = (from: string, to: string): string => `${from} > ${to}`

export const makeNetwork = () => {
  const links = new Map<string, Links>()
  const cuts = new Map<string, Passage>()
  const senders = new Map<number, string>()
  const proxies = (): ReadonlyArray<TcpProxy> =>
    Array.from(links.values(), ({ inner, toDatabase }) => [inner, toDatabase]).flat()

  const passage = (from: string | undefined, to: string): Passage => {
    if (from !== undefined) return cuts.get(wayOf(from, to)) ?? "pass"
    return [...cuts.keys()].some((way) => way.endsWith(wayOf("", to))) ? "silent" : "pass"
  }
  const update = (): void => {
    for (const proxy of proxies()) proxy.update()
  }
  const lose = (from: string, to: string): void => links.get(to)?.inner.lose((port) => senders.get(port) === from)

  /** Cuts two nodes from each other, or a node from PostgreSQL. */
  const cut = (one: string, other: string, kind: CutKind): void => {
    cuts.set(wayOf(one, other), kind).set(wayOf(other, one), kind)
    update()
  }

  return {
    cut,
    /** Adds a node that listens at an address. */
    attach: async (name: string, listenOn: string, databaseAddress: string): Promise<Links> => {
      const [inner, toDatabase] = [await TcpProxy.listen(listenOn), await TcpProxy.listen(databaseAddress)]
      inner.set((port) => passage(senders.get(port), name))
      toDatabase.set(() => passage(name, database))
      links.set(name, { inner, toDatabase })
      return { inner, toDatabase }
    },
    /** A node has opened a connection from this port. */
    opened: (name: string, port: number): void => {
      senders.set(port, name)
      update()
    },
    /** Ends a cut. */
    heal: (one: string, other: string, before: Before): void => {
      if (before === "reset") cut(one, other, "cut")
      if (before === "lost") {
        lose(one, other)
        lose(other, one)
      }
      cuts.delete(wayOf(one, other))
      cuts.delete(wayOf(other, one))
      update()
    },
    close: (): void => {
      for (const proxy of proxies()) {
        proxy.close()
        proxy.cut()
      }
    }
  }
}
