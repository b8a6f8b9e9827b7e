/**
 * `pnpm bench:restate`: the work of `pnpm bench cluster` on one Restate server, beside one home of this project behind a gateway.
 *
 * It installs `@restatedev/restate-server` and its SDK from the registry into a temporary folder. It has no bounds.
 *
 * - a word: a call that stores its count, and the turn of a chat with one word, each through the front door
 * - a kill: the first answer after `kill -9` of the handler's process or of the server, which starts again at once
 */
import { type ChildProcess, fork, spawn } from "node:child_process"
import { once } from "node:events"
import { copyFileSync, mkdtempDisposableSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { freePort } from "../../../packages/store/test/double/freePort.ts"
import { run } from "../../packed/program.ts"
import { openNodes } from "../cluster/nodes.ts"
import { turn } from "../cluster/turn.ts"
import { median } from "../work/timed.ts"

type Call = (key: string) => Promise<unknown>

const samples = 100
const rateMs = 5_000
const slowMs = 3_000

const timeOf = async (work: () => Promise<unknown>): Promise<number> => {
  const begun = performance.now()
  await work()
  return performance.now() - begun
}

/** Calls a second of so many clients, each with a key of its own. */
const rate = async (call: Call, keys: number): Promise<number> => {
  const until = performance.now() + rateMs
  let count = 0
  const client = async (_: unknown, key: number): Promise<void> => {
    for (; performance.now() < until; count++) await call(`rate${keys}-${key}`)
  }
  await Promise.all(Array.from({ length: keys }, client))
  return (count * 1_000) / rateMs
}

const report = async (name: string, call: Call): Promise<void> => {
  for (let index = 0; index < samples; index++) await call(`warm${index}`)
  const times: Array<number> = []
  for (let index = 0; index < samples; index++) times.push(await timeOf(() => call(`first${index}`)))
  const rates = [await rate(call, 1), await rate(call, 32)].map((value) => value.toFixed(0))
  console.log(`${name}: a word ${median(times).toFixed(1)} ms; ${rates[0]} a second with one key, ${rates[1]} with 32`)
}

const install = async (folder: string): Promise<void> => {
  writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
  const names = ["@restatedev/restate-server", "@restatedev/restate-sdk"]
  const { ok, output } = await run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", ...names], folder)
  if (!ok) throw new Error(`Restate was not installed: ${output}`)
  copyFileSync(new URL("service.mjs", import.meta.url), join(folder, "service.mjs"))
}

/** Asks again until there is an answer. */
const answered = async (ask: () => Promise<unknown>): Promise<void> => {
  const succeeds = async (): Promise<boolean> => (await Promise.allSettled([ask()]))[0].status === "fulfilled"
  while (!(await succeeds())) await pause(10)
}

const posted = async (url: string, body: unknown = null): Promise<string> => {
  const headers = { "content-type": "application/json" }
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(body) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${url} answered ${response.status}: ${text}`)
  return text
}

const killed = async (child: ChildProcess): Promise<void> => {
  const exited = once(child, "exit")
  child.kill("SIGKILL")
  await exited
}

const measureRestate = async (): Promise<void> => {
  using temporary = mkdtempDisposableSync(join(tmpdir(), "troupe-restate-"))
  const { path: folder } = temporary
  await install(folder)
  const port = await freePort()
  const admin = "http://127.0.0.1:9070"
  // The program itself: a signal to the script of the package would not reach it.
  const program = `node_modules/@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`
  const env = { ...process.env, DO_NOT_TRACK: "1" }
  const args = ["--base-dir", join(folder, "data")]
  const startServer = (): ChildProcess => spawn(join(folder, program), args, { stdio: "ignore", env })
  const startService = async (): Promise<ChildProcess> => {
    const child = fork(join(folder, "service.mjs"), [String(port)], { execArgv: [] })
    await once(child, "message")
    return child
  }
  let server = startServer()
  let service = await startService()
  try {
    await answered(() => posted(`${admin}/deployments`, { uri: `http://127.0.0.1:${port}` }))
    const call: Call = (key) => posted(`http://127.0.0.1:8080/chat/${key}/word`)
    await report("Restate", call)
    const slow = posted("http://127.0.0.1:8080/chat/slow/slow")
    await pause(slowMs / 3)
    const began = performance.now()
    await killed(service)
    service = await startService()
    await slow
    const handlerMs = performance.now() - began - slowMs
    const serverMs = await timeOf(async () => {
      await killed(server)
      server = startServer()
      await answered(() => call("after"))
    })
    console.log(`Restate: kill of the handler ${handlerMs.toFixed(0)} ms, of the server ${serverMs.toFixed(0)} ms`)
  } finally {
    await killed(server)
    await killed(service)
  }
}

await measureRestate()
await using nodes = await openNodes()
const { gateway, homes } = await nodes.cluster(1, 5_000)
const [home = gateway] = homes
const word = { words: 1, pauseMs: 0 }
await report("Troupe, through a gateway", (key) => turn(gateway, key, word))
await report("Troupe, direct", (key) => turn(home, key, word))
