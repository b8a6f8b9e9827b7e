/**
 * `pnpm mcp`: the official conformance suite of MCP, against the client and the server of `packages/mcp/test/conformance`.
 *
 * **Details**: each scenario runs alone, two at a time: the suite's own runner starts all clients at once, which then miss its deadlines. The
 * last line of the output is the tally.
 *
 * @module
 */
import { execFile, spawn } from "node:child_process"
import { mkdtempDisposableSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { root } from "../house/workspace.ts"
import { tallyLine } from "../verify/tally.ts"

const suite = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"))
const program = (name: string): string => join(root, "packages/mcp/test/conformance", `${name}.ts`)
const run = promisify(execFile)

const { stdout: list } = await run(process.execPath, [suite, "list"])
const [servers = "", clients = ""] = list.split("Client scenarios")
const scenariosIn = (text: string): ReadonlyArray<string> =>
  Array.from(text.matchAll(/^ {2}- (\S+)/gm), ([, name = ""]) => name)

using folder = mkdtempDisposableSync(join(tmpdir(), "troupe-mcp-"))
const server = spawn(process.execPath, [program("server")], { stdio: ["pipe", "pipe", "inherit"] })
const url = await new Promise<string>((resolve) => server.stdout.once("data", (line) => resolve(String(line).trim())))

const scenarios = [
  ...scenariosIn(servers).map((name) => ["server", name, ["--url", url]] as const),
  ...scenariosIn(clients).map(
    (name) =>
      ["client", name, ["--timeout", "60000", "--command", `"${process.execPath}" "${program("client")}"`]] as const
  )
]
const tally = { passed: 0, failed: 0, notRun: 0 }
const textOf = ({ stdout, stderr }: { readonly stdout: string; readonly stderr: string }): string => stdout + stderr

const worker = async (): Promise<void> => {
  for (let next = scenarios.shift(); next !== undefined; next = scenarios.shift()) {
    const [kind, name, options] = next
    const args = [suite, kind, "--scenario", name, "-o", folder.path, ...options]
    const text = await run(process.execPath, args).then(textOf, textOf)
    const found = /Passed: .*/.exec(text)?.[0] ?? "no checks"
    const isPassed = found.includes(", 0 failed") && !text.includes("OVERALL: FAILED")
    tally[isPassed ? "passed" : "failed"] += 1
    console.log(`${isPassed ? "ok    " : "FAILED"} ${kind} ${name}: ${found}`)
    if (!isPassed) console.log(text)
  }
}

await Promise.all([worker(), worker()])
server.stdin.end()
console.log(tallyLine(tally))
process.exitCode = tally.failed === 0 ? 0 : 1
