/** Nodes in processes of their own, and what they wrote. */
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

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
export const startNode = (options: {
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
