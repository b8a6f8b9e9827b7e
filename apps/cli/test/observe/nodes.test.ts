import { PassThrough } from "node:stream"
import { stripVTControlCharacters } from "node:util"
import type { Observation } from "@troupe/chat/observe"
import type { NodeStatus, ObserverLink, Watched } from "@troupe/server/ChatLink"
import { expect, onTestFinished, test } from "vitest"
import { runReport } from "../../src/observe/observerReport.ts"
import { runObserver } from "../../src/observe/observerTerminal.ts"
import { plainPaint } from "../../src/output/paint.ts"

/** A value that a test changes. */
class Put<A> implements Watched<A> {
  readonly #watchers = new Set<() => void>()
  #state: A
  #error: Error | undefined

  constructor(state: A) {
    this.#state = state
  }

  get watchers(): number {
    return this.#watchers.size
  }

  readonly getState = (): A => this.#state
  readonly getError = (): Error | undefined => this.#error
  readonly subscribe = (changed: () => void): (() => void) => {
    this.#watchers.add(changed)
    return () => void this.#watchers.delete(changed)
  }

  put(state: A, error?: Error): void {
    this.#state = state
    this.#error = error
    for (const changed of this.#watchers) changed()
  }
}

const nothing: Watched<never> = { getState: () => undefined, subscribe: () => () => {} }

const observedAt = (node: string | undefined, label: string): Observation.Observed => ({
  node,
  at: 0,
  processes: 1,
  tree: [{ id: "<0.7.0>", label, kind: "machine", status: "idle", queueLength: 0, memory: 1_000, children: [] }],
  zombies: 0,
  crashes: 0,
  restarts: 0,
  deadLetters: 0
})

const status = (node: string, more: Partial<NodeStatus> = {}): NodeStatus => ({
  node,
  state: "alive",
  role: "home",
  buckets: 2_048,
  epoch: 4,
  chats: 1,
  ...more
})

/** A client of a cluster of `a:1`, which it has reached, and `b:1`. */
const cluster = () => {
  const killed: Array<string> = []
  const of = (node: string) => {
    const tree = new Put(observedAt(node, `Chat of ${node}`))
    const link: Observation.Observation = {
      tree,
      process: () => nothing,
      timeline: () => nothing,
      kill: async (id) => void killed.push(`${node} ${id}`)
    }
    return { tree, link }
  }
  const nodes = { "a:1": of("a:1"), "b:1": of("b:1") }
  const list = new Put<ReadonlyArray<NodeStatus>>([status("a:1"), status("b:1", { state: "draining", buckets: 12 })])
  const link: ObserverLink = {
    ...nodes["a:1"].link,
    nodes: () => list,
    node: (address) => (address === "b:1" ? nodes["b:1"] : nodes["a:1"]).link
  }
  return { link, list, killed, a: nodes["a:1"].tree, b: nodes["b:1"].tree }
}

/** A terminal, with the newest frame. */
const terminal = (observer: ObserverLink) => {
  const keys = Object.assign(new PassThrough(), { setRawMode: () => true })
  const screen = Object.assign(new PassThrough(), { columns: 100, rows: 30 })
  const signal = new AbortController()
  let frame = ""
  let changed = (): void => {}
  screen.on("data", (chunk: Buffer) => {
    frame = stripVTControlCharacters(chunk.toString())
    changed()
  })
  const surroundings = { url: "http://a", input: keys, output: screen, paint: plainPaint, signal: signal.signal }
  const left = runObserver({ observer, ...surroundings })
  onTestFinished(() => signal.abort())
  return {
    left,
    type: (text: string) => void keys.write(text),
    sees: async (text: string): Promise<string> => {
      while (!frame.includes(text)) await new Promise<void>((resolve) => (changed = resolve))
      return frame
    }
  }
}

const [right, left] = ["\u001b[C", "\u001b[D"]

test("the nodes are shown as they change, and the arrows lead from one's tree to the other's", async () => {
  const { link, list, a, b } = cluster()
  const { type, sees, left: over } = terminal(link)
  const frame = await sees("● a:1 alive, home, 2048 buckets, epoch 4, 1 chats")
  expect(frame).toContain("  b:1 draining, home, 12 buckets")
  expect(frame).toContain("Chat of a:1 <0.7.0>")
  type(right)
  expect(await sees("● b:1 draining")).toContain("Chat of b:1 <0.7.0>")
  list.put([status("a:1"), status("b:1", { state: "silent" })])
  b.put(b.getState(), new Error("The node gave no answer"))
  const last = await sees("The node gave no answer")
  expect(last).toContain("● b:1 silent")
  expect(last).toContain("Chat of b:1 <0.7.0>")
  list.put([status("a:1"), status("c:1")])
  expect(await sees("● b:1 gone")).toContain("Chat of b:1")
  type(left)
  await sees("● c:1")
  type(left)
  expect(await sees("● a:1")).toContain("Chat of a:1 <0.7.0>")
  type("q")
  await over
  expect([a, b, list].map(({ watchers }) => watchers)).toEqual([0, 0, 0])
})

test("OBST2 a kill is of the process and the node in the question", async () => {
  const { link, killed } = cluster()
  const { type, sees } = terminal(link)
  await sees("● a:1")
  type(right)
  await sees("● b:1")
  type("k")
  await sees("Kill Chat of b:1 <0.7.0> at b:1? y kills")
  type("y")
  await sees("k kill")
  expect(killed).toEqual(["b:1 <0.7.0>"])
})

test("OBST4 without a cluster the nodes are not requested", async () => {
  const { link, list } = cluster()
  const { sees } = terminal({ ...link, tree: new Put(observedAt(undefined, "Chat of one machine")) })
  expect(await sees("Chat of one machine")).not.toContain("node")
  expect(list.watchers).toBe(0)
})

test("without a terminal each node is a line, and each change of one; --once ends after the nodes", async () => {
  const { link, list } = cluster()
  const lines: Array<string> = []
  const signal = new AbortController()
  const observing = { observer: link, write: (line: string) => void lines.push(line), signal: signal.signal }
  const over = runReport({ ...observing, once: false })
  list.put([...list.getState()])
  list.put([status("a:1", { buckets: 4_096 }), status("b:1", { state: "gone", buckets: 0 })])
  signal.abort()
  await over
  expect(lines.filter((line) => line.startsWith("node "))).toEqual([
    "node a:1 alive, home, 2048 buckets, epoch 4, 1 chats",
    "node b:1 draining, home, 12 buckets, epoch 4, 1 chats",
    "node a:1 alive, home, 4096 buckets, epoch 4, 1 chats",
    "node b:1 gone, home, 0 buckets, epoch 4, 1 chats"
  ])
  lines.length = 0
  const once = runReport({ ...observing, signal: new AbortController().signal, once: true })
  list.put([...list.getState()])
  await once
  expect(lines.at(-1)).toBe("node b:1 gone, home, 0 buckets, epoch 4, 1 chats")
  expect(list.watchers).toBe(0)
})
