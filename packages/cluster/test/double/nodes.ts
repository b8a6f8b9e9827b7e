/** Nodes in processes of their own, and what they wrote. */
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { expect, onTestFinished } from "vitest"
import { bucketCount } from "../../src/placement/bucket.ts"
import { freshSchema } from "./postgresTable.ts"

/** A line of a node. */
interface Line {
  readonly at: number
  readonly verb: "started" | "gained" | "released" | "lost" | "failed" | "woke" | "stopped"
  readonly buckets?: ReadonlyArray<number>
  readonly epoch?: number
  readonly ms?: number
  readonly leases?: number
  readonly message?: string
}

/** A running node. */
export interface NodeProcess {
  readonly child: ChildProcess
  readonly lines: Array<Line>
  /** The buckets that it has, by its lines, with their epochs. */
  readonly buckets: Map<number, number>
  readonly signal: (signal: NodeJS.Signals) => void
  readonly exited: Promise<void>
}

const program = fileURLToPath(new URL("placementNode.ts", import.meta.url))

/** Starts a node. */
const startNode = (options: {
  readonly url: string
  readonly schema: string
  readonly address: string
  readonly leaseMs: number
}): NodeProcess => {
  const { url, schema, address, leaseMs } = options
  const child = spawn(process.execPath, [program, url, schema, address, String(leaseMs)], {
    stdio: ["ignore", "pipe", "inherit"]
  })
  const lines: Array<Line> = []
  const buckets = new Map<number, number>()
  createInterface({ input: child.stdout }).on("line", (text) => {
    const line = JSON.parse(text) as Line
    lines.push(line)
    for (const bucket of line.buckets ?? []) {
      if (line.verb === "gained") buckets.set(bucket, line.epoch ?? 0)
      else buckets.delete(bucket)
    }
  })
  const { promise: exited, resolve } = Promise.withResolvers<void>()
  child.once("close", () => resolve())
  return { child, lines, buckets, exited, signal: (signal) => void child.kill(signal) }
}

/** Starts nodes of one cluster. They end with their test. */
export const cluster = (url: string, leaseMs: number) => {
  const schema = freshSchema()
  return (address: string): NodeProcess => {
    const node = startNode({ url, schema, address, leaseMs })
    onTestFinished(async () => {
      node.signal("SIGKILL")
      await node.exited
    })
    return node
  }
}

/** How long a test waits for a placement. */
export const spread = { timeout: 50_000, interval: 20 }

/** Waits until each of the nodes has a share, and they have all buckets together. */
export const placed = (...nodes: ReadonlyArray<NodeProcess>) =>
  expect
    .poll(() => {
      const sizes = nodes.map(({ buckets }) => buckets.size)
      return [sizes.every((size) => size > 0), sizes.reduce((sum, size) => sum + size, 0)]
    }, spread)
    .toEqual([true, bucketCount])

/** Each bucket has at most one home, and the epochs of each bucket grow from gain to gain. */
export const expectSound = (nodes: ReadonlyArray<NodeProcess>): void => {
  const gains = nodes
    .flatMap(({ lines }) => lines.filter(({ verb }) => verb === "gained"))
    .toSorted((one, other) => (one.epoch ?? 0) - (other.epoch ?? 0))
  expect(new Set(gains.map(({ epoch }) => epoch)).size).toBe(gains.length)
  const violations: Array<string> = []
  for (const { lines } of nodes) {
    const epochs = new Map<number, number>()
    const leased = new Set<number>()
    for (const { verb, buckets = [], epoch = 0 } of lines) {
      for (const bucket of buckets) {
        if (leased.has(bucket) === (verb === "gained")) violations.push(`${bucket} ${verb} twice`)
        if (verb !== "gained") leased.delete(bucket)
        else {
          if (epoch <= (epochs.get(bucket) ?? 0)) violations.push(`the epoch of ${bucket} falls`)
          leased.add(bucket)
          epochs.set(bucket, epoch)
        }
      }
    }
  }
  expect(violations).toEqual([])
}
