/**
 * `pnpm registry [command]`: serves every public package from a registry on loopback, and runs the command beside it, or waits
 * until it is interrupted.
 *
 * @module
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { cleaned } from "../packed/program.ts"
import { withRegistry } from "./registry.ts"

const [program, ...args] = process.argv.slice(2)
const print = (line: string): void => void process.stdout.write(`${line}\n`)

await withRegistry(async ({ url, env, versions }) => {
  for (const [name, version] of Object.entries(versions)) print(`${name} ${version}`)
  if (program === undefined) {
    print(`\nInstall with: npm install --registry ${url} @troupe/chat\nCtrl-C ends the registry.`)
    await new Promise(() => undefined)
  } else {
    const running = spawn(program, args, { env, stdio: "inherit", shell: process.platform === "win32" })
    const ended = () => once(running, "exit") as Promise<[number | null]>
    const [code] = await cleaned(() => running.kill(), ended)
    process.exitCode = code ?? 1
  }
}, print)
