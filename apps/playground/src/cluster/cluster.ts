/**
 * A cluster on one machine, for people: PostgreSQL, homes, a gateway that serves the page, and the server of its buttons.
 *
 * Owns: everything that it starts, until `close`. Does not own the terminal.
 *
 * DEMO1. When `close` has resolved, or `startCluster` has rejected, no process, port or folder of it is left.
 */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { connect } from "@troupe/server/Client"
import { build } from "vite"
import type { ClusterStatus, Command } from "../control/index.ts"
import { startControl } from "./control.ts"
import { Fleet } from "./Fleet.ts"
import { ClusterState } from "./ClusterState.ts"
import type { PostgresReady } from "./postgres.ts"
import { startProgram } from "./program.ts"

const homes = 3

/**
 * How the cluster is started.
 *
 * **Units and defaults**: `pages` is the folder of the built page; by default it is built. `leaseMs` is 3,000, and
 * `wordDelayMs`, the time between two words of the model, 60.
 */
export interface ClusterOptions {
  /** Gets each line of progress, and each change of a node. */
  readonly print: (line: string) => void
  /** Ends the start. */
  readonly signal?: AbortSignal | undefined
  readonly pages?: string | undefined
  readonly leaseMs?: number | undefined
  readonly wordDelayMs?: number | undefined
}

/** A running cluster. */
export interface RunningCluster {
  /** The page. */
  readonly url: string
  /** The server of its buttons. */
  readonly control: string
  readonly status: () => ClusterStatus
  /** Executes a command, whose effects follow later. Returns the reason if it is not possible. */
  readonly command: (command: Command) => string | undefined
  readonly close: () => Promise<void>
}

/** Starts it. */
export const startCluster = async (options: ClusterOptions): Promise<RunningCluster> => {
  const { print, signal = new AbortController().signal, leaseMs = 3_000, wordDelayMs = 60 } = options
  const ends: Array<() => Promise<unknown>> = []
  const close = async (): Promise<void> => {
    const failures: Array<unknown> = []
    for (const end of ends.splice(0).toReversed()) await end().catch((error: unknown) => failures.push(error))
    if (failures.length > 0) throw failures[0]
  }
  try {
    const pages = options.pages === undefined ? buildPages(ends) : Promise.resolve(options.pages)
    // Its failure is thrown where it is waited for.
    pages.catch(() => {})
    print("Starting PostgreSQL …")
    const database = startProgram<PostgresReady>("postgres.ts", {}, print)
    ends.push(async () => {
      database.process.stdin?.end()
      await database.ended
    })
    const { url } = await unless(signal, database.ready)
    const fleet = new Fleet({ url, secret: crypto.randomUUID(), leaseMs, wordDelayMs }, print)
    ends.push(() => fleet.stop())
    const { status, command, subscribe, follow } = new ClusterState(fleet, print)
    const origins = new Set<string>()
    const control = await startControl({ status, command, subscribe, isOrigin: (origin) => origins.has(origin) })
    ends.push(control.close)
    print(`Starting ${homes} homes and a gateway …`)
    const joining = Array.from({ length: homes }, () => fleet.addHome())
    const served = { pages: await unless(signal, pages), control: control.url }
    const [{ port }] = await unless(signal, Promise.all([fleet.addGateway(served), ...joining]))
    for (const host of ["127.0.0.1", "localhost"]) origins.add(`http://${host}:${port}`)
    const page = `http://127.0.0.1:${port}`
    const observed = connect({ url: `${page}/troupe` }).observer.nodes?.()
    const leave = observed === undefined ? undefined : follow(observed)
    ends.push(async () => leave?.())
    return { url: page, control: control.url, status, command, close }
  } catch (error) {
    await close().catch((failure: unknown) => print(String(failure)))
    throw error
  }
}

/** Builds the page into a folder of its own, so that two runs do not meet. */
const buildPages = async (ends: Array<() => Promise<unknown>>): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), "troupe-cluster-"))
  const root = join(import.meta.dirname, "../..")
  const built = build({
    root,
    configFile: join(root, "vite.config.ts"),
    logLevel: "error",
    build: { outDir: folder, emptyOutDir: false }
  })
  ends.push(async () => {
    await built.catch(() => {})
    await rm(folder, { recursive: true, force: true })
  })
  await built
  return folder
}

/** Resolves as the work does, or rejects when the signal is aborted. */
const unless = <A>(signal: AbortSignal, work: Promise<A>): Promise<A> => {
  const { promise: aborted, reject } = Promise.withResolvers<never>()
  if (signal.aborted) reject(signal.reason)
  else signal.addEventListener("abort", () => reject(signal.reason), { once: true })
  return Promise.race([work, aborted])
}
