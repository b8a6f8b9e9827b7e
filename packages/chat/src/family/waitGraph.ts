/**
 * Which chats wait for which others.
 *
 * Owns: the calls that run, each as an edge from the chat that waits to the chat that answers. Does not own the calls.
 *
 * ASK2. A call that would make a cycle of chats that wait for each other is refused at once, and its error names the cycle.
 *       The end of a background task has no waiting chat.
 */
import { agentIn, isChildId, shortIdOf } from "../record/index.ts"

interface Edge {
  readonly to: string
  /** Whether the chat still waits: the work of a call can become a background task. */
  readonly waits: () => boolean
}

export class WaitGraph {
  /** By the chat that waits, so that a call looks only at the chats that its own would wait for. */
  readonly #edges = new Map<string, Set<Edge>>()

  /** A call waits from now on; returns the function that ends it. */
  begin(from: string, to: string, waits: () => boolean = () => true): () => void {
    const edge = { to, waits }
    const edges = this.#edges.get(from) ?? new Set()
    this.#edges.set(from, edges.add(edge))
    return () => {
      edges.delete(edge)
      if (edges.size === 0 && this.#edges.get(from) === edges) this.#edges.delete(from)
    }
  }

  /** The chats of the cycle that a call would make, from the one that asks back to it; `undefined` if there is none. */
  cycle(from: string, to: string): ReadonlyArray<string> | undefined {
    const paths: Array<ReadonlyArray<string>> = [[to]]
    const seen = new Set([to])
    for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
      const last = path.at(-1) ?? to
      if (last === from) return [from, ...path]
      for (const edge of this.#edges.get(last) ?? []) {
        if (seen.has(edge.to) || !edge.waits()) continue
        seen.add(edge.to)
        paths.push([...path, edge.to])
      }
    }
    return undefined
  }
}

/** The chats of a cycle, as a model reads them. */
export const cycleText = (cycle: ReadonlyArray<string>): string => {
  const names = cycle.map((id) => (isChildId(id) ? shortIdOf(id, agentIn(id)) : "the first chat"))
  return `these agents would wait for each other: ${names.join(" → ")}`
}
