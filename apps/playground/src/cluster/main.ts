/**
 * `cluster`: three homes, a gateway and PostgreSQL on this machine, and a page on which people kill, freeze, drain and add
 * nodes while chats stream.
 *
 * @module
 */
import open from "open"
import { keysHelp } from "../control/index.ts"
import { type RunningCluster, startCluster } from "./cluster.ts"
import { type ClusterCommand, parseCommand } from "./commandLine.ts"
import { readKeys } from "./terminal.ts"

const commandLine = (): ClusterCommand => {
  try {
    return parseCommand(process.argv.slice(2), process.stdout.isTTY)
  } catch (error) {
    process.stderr.write(`cluster: ${error instanceof Error ? error.message : String(error)}\n`)
    process.exit(1)
  }
}

const { open: opens, leaseMs } = commandLine()
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
  const cluster = await startCluster({ print, signal: ending.signal, leaseMs })
  started.cluster = cluster
  print("")
  print(`The page: ${cluster.url}`)
  print(`The API: ${cluster.url}/troupe`)
  print(`Its buttons: ${cluster.control}/nodes`)
  print(process.stdin.isTTY ? `Keys: ${keysHelp}; q ends it` : `No terminal, no keys: kill ${process.pid} ends it`)
  print("")
  // Without a browser the address above is all there is.
  if (opens) await open(cluster.url).catch(() => {})
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
