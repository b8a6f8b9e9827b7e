/**
 * `pnpm check:next`: builds the Next.js example, and visits it as `next start` and as its standalone server.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { freePort } from "../../packages/store/test/double/freePort.ts"
import { answers, streams, survivesDisconnects } from "../test/double/visits.ts"

const folder = import.meta.dirname
const next = join(folder, "../node_modules/.bin/next")
const env = { ...process.env, NEXT_TELEMETRY_DISABLED: "1" }

const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => void child.once("close", (code) => resolve(code)))

const isUp = async (url: string): Promise<boolean> => {
  try {
    return (await fetch(url)).ok
  } catch {
    return false
  }
}

/** Starts a server, visits it, and ends it. */
const visited = async (name: string, program: string, args: ReadonlyArray<string>): Promise<void> => {
  const port = await freePort()
  const child = spawn(program, args, {
    cwd: folder,
    env: { ...env, PORT: String(port), HOSTNAME: "127.0.0.1" },
    stdio: "ignore"
  })
  try {
    const url = `http://127.0.0.1:${port}`
    while (!(await isUp(url))) {
      if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}`)
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
    await answers(`${url}/api/chat`, name)
    await streams(`${url}/api/chat`, name)
    await survivesDisconnects(`${url}/api/chat`, name)
  } finally {
    child.kill("SIGKILL")
    await ended(child)
  }
}

let passed = 0
let failed = 0

const check = async (name: string, run: () => Promise<void>): Promise<void> => {
  try {
    await run()
    passed += 1
    console.log(`ok ${name}`)
  } catch (error) {
    failed += 1
    console.log(`not ok ${name}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

if (process.argv.includes("--built")) passed += 1
else {
  await check("next build", async () => {
    const code = await ended(spawn(next, ["build"], { cwd: folder, env, stdio: ["ignore", "ignore", "inherit"] }))
    if (code !== 0) throw new Error(`it ended with ${code}`)
  })
}
if (failed === 0) {
  await check("next start", () => visited("start", next, ["start", "--hostname", "127.0.0.1"]))
  await check("the standalone server", () =>
    visited("standalone", process.execPath, [join(folder, ".next/standalone/examples/next/server.js")])
  )
}
console.log(`${passed} passed, ${failed} failed`)
process.exit(failed === 0 ? 0 : 1)
