import { execFile, spawn } from "node:child_process"
import { mkdtempDisposableSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { System } from "@troupe/otp"
import { expect, onTestFinished, test } from "vitest"
import { Mcp } from "../../src/index.ts"
import { call } from "../double/call.ts"
import { inspected } from "../double/inspected.ts"

const program = fileURLToPath(new URL("../../src/command/main.ts", import.meta.url))
const module_ = fileURLToPath(new URL("../double/servedModule.ts", import.meta.url))

const systemOf = (): System.System => {
  const system = System.make({ silent: true })
  onTestFinished(() => System.stop(system))
  return system
}

const elicit: Mcp.Elicit = () => ({ action: "accept", content: { answer: "Monday" } })

test("MCPCMD1. `troupe mcp` serves a module over standard streams, whatever it prints, and ends with its client", async () => {
  const args = [program, "mcp", module_]
  const system = systemOf()
  const mcp = await Mcp.start(system, { command: process.execPath, args }, { elicit, timeoutMs: 120_000 })
  expect(mcp.tools.map(({ name }) => name)).toEqual(["helper", "pid"])
  expect(await call(mcp, "helper", { message: "Book" })).toMatchObject({ value: { text: "Done." } })
  const result = await call(mcp, "pid")
  const pid = result.type === "ok" ? Number(result.value) : 0
  expect(process.kill(pid, 0)).toBe(true)
  await System.stop(system)
  expect(() => process.kill(pid, 0)).toThrow("ESRCH")
}, 180_000)

test("MCPCMD1. the command line of the official inspector lists and calls what `troupe mcp` serves", async () => {
  const over = (...args: ReadonlyArray<string>) => inspected(process.execPath, program, "mcp", module_, ...args)
  expect(await over("--method", "tools/list")).toMatchObject({ tools: [{ name: "helper" }, { name: "pid" }] })
  expect(await over("--method", "tools/call", "--tool-name", "pid")).toMatchObject({
    content: [{ type: "text", text: expect.stringMatching(/^\d+$/) as string }]
  })
}, 180_000)

test("MCPCMD2. `troupe mcp --http` serves a module over HTTP to the owner of the command line, until a signal ends it", async () => {
  const args = [program, "mcp", module_, "--http", "0", "--owner", "anna"]
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] })
  onTestFinished(() => void child.kill("SIGKILL"))
  const ended = new Promise((resolve) => child.once("exit", resolve))
  let url = ""
  for await (const line of createInterface({ input: child.stderr })) {
    url = line.replace("MCP at ", "")
    break
  }
  const mcp = await Mcp.start(systemOf(), { url }, { elicit })
  expect(await call(mcp, "helper", { message: "Book" })).toMatchObject({ value: { text: "Done." } })
  expect(await mcp.resources()).toMatchObject([{ name: expect.any(String) as string }, {}])
  expect(await inspected(url, "--method", "tools/list")).toMatchObject({ tools: [{ name: "helper" }, { name: "pid" }] })
  child.kill("SIGTERM")
  expect(await ended).toBe(0)
}, 180_000)

test("`troupe mcp` says what to do instead when it cannot serve", async () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "troupe-mcp-"))
  const empty = join(folder.path, "empty.mjs")
  const agents = join(folder.path, "agents.mjs")
  writeFileSync(empty, "export const tools = []\n")
  writeFileSync(agents, "export const mcp = { agents: { helper: { description: 'Helps' } } }\n")
  const failure = (...args: ReadonlyArray<string>): Promise<string> =>
    promisify(execFile)(process.execPath, [program, ...args]).then(
      () => "it runs",
      (error: { readonly stderr: string }) => error.stderr
    )
  expect(await failure()).toContain("Write troupe mcp and the path of one module")
  expect(await failure("mcp", empty, "--port", "1")).toContain("--help lists the options")
  expect(await failure("mcp", join(folder.path, "none.mjs"))).toContain("none.mjs cannot be loaded")
  expect(await failure("mcp", empty)).toContain("does not export mcp")
  expect(await failure("mcp", agents)).toContain("Export the Troupe")
  expect(await failure("mcp", module_, "--http", "many")).toContain("--http needs a port")
  expect(await failure("mcp", module_, "--http", "0")).toContain("--owner")
  expect(await failure("mcp", module_, "--http", "0", "--owner", "anna", "--host", "0.0.0.0")).toContain("authorize")
}, 180_000)
