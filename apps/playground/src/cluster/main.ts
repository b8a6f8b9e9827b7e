/**
 * `cluster`: three homes, a gateway and PostgreSQL on this machine, and a page on which people kill, freeze, drain and add
 * nodes while chats stream.
 *
 * @module
 */
import { parseArgs } from "node:util"
import open from "open"
import { keysHelp } from "../control/index.ts"
import { type RunningCluster, startCluster } from "./cluster.ts"
import { readKeys } from "./terminal.ts"

const { values } = parseArgs({
  options: { open: { type: "boolean", default: process.stdout.isTTY }, lease: { type: "string", default: "3000" } },
  allowNegative: true
})
const print = (line: string): void => void process.stdout.write(`  ${line}\n`)
const ending = new AbortController()
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => ending.abort())

const started: { cluster?: RunningCluster } = {}
const leaveKeys = readKeys(process.stdin, {
  nodes: () => started.cluster?.status().nodes ?? [],
  command: (command) => {
    const refusal = started.cluster?.command(command)
    if (refusal !== undefined) print(refusal)
  },
  quit: () => ending.abort()
})
try {
  const cluster = await startCluster({ print, signal: ending.signal, leaseMs: Number(values.lease) })
  started.cluster = cluster
  print("")
  print(`The page: ${cluster.url}`)
  print(`Its buttons: ${cluster.control}/nodes`)
  print(process.stdin.isTTY ? `Keys: ${keysHelp}; q ends it` : "No terminal, no keys: SIGTERM ends it")
  print("")
  // Without a browser the address above is all there is.
  if (values.open) await open(cluster.url).catch(() => {})
  if (!ending.signal.aborted) await new Promise((resolve) => ending.signal.addEventListener("abort", resolve))
  print("Ending …")
  await cluster.close()
} catch (error) {
  if (!ending.signal.aborted) {
    process.exitCode = 1
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  }
}
leaveKeys()
process.exit()
