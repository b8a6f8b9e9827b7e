import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { System } from "@troupe/otp"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { Mcp } from "../../src/index.ts"
import { call } from "../double/call.ts"

let system: System.System

beforeEach(() => {
  system = System.make()
})
const ends: Array<() => Promise<void>> = []
afterEach(async () => {
  await System.stop(system)
  for (const end of ends.splice(0)) await end()
})

const everything = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-everything/dist/index.js"))
const memory = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-memory/dist/index.js"))

const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, "close")
  return port
}

/** Starts the official server that has everything, and resolves when it listens. */
const overHttp = async (transport: string, path: string) => {
  const port = await freePort()
  const child = spawn(process.execPath, [everything, transport], { env: { ...process.env, PORT: String(port) } })
  await new Promise<void>((resolve) => {
    child.stderr.on("data", (chunk) => String(chunk).includes(String(port)) && resolve())
  })
  const close = async (): Promise<void> => {
    child.kill("SIGKILL")
    await once(child, "exit")
  }
  return { server: { url: `http://127.0.0.1:${port}${path}` }, close }
}

const overStdio = async () => ({
  server: { command: process.execPath, args: [everything] },
  close: async (): Promise<void> => {}
})

describe.each([
  ["stdio", overStdio],
  ["streamable HTTP", () => overHttp("streamableHttp", "/mcp")],
  ["the older HTTP and SSE", () => overHttp("sse", "/sse")]
] as const)("the official server that has everything, over %s", (_, open) => {
  test("has tools, resources, prompts, progress, questions, roots, logs and tasks", async () => {
    const { server, close } = await open()
    ends.push(close)
    const asked: Array<string> = []
    const elicit: Mcp.Elicit = ({ message }) => {
      asked.push(message)
      return { action: "accept", content: { name: "Ada", integer: 42 } }
    }
    const mcp = await Mcp.start(system, server, {
      elicit,
      roots: [{ uri: "file:///work", name: "work" }],
      resourceTools: true,
      promptTools: true
    })
    expect(await call(mcp, "echo", { message: "hello" })).toEqual({ type: "ok", value: "Echo: hello" })
    expect(await call(mcp, "get-sum", { a: 2, b: 3 })).toMatchObject({ value: expect.stringContaining("5") as string })
    expect(await call(mcp, "get-tiny-image")).toMatchObject({
      value: [{ type: "text" }, { type: "image" }, { type: "text" }]
    })
    expect(await call(mcp, "get-structured-content", { location: "New York" })).toMatchObject({
      value: { temperature: expect.any(Number) as number }
    })
    const reported: Array<unknown> = []
    const progress = (value: unknown): void => void reported.push(value)
    const steps = { duration: 0.2, steps: 2 }
    expect(await call(mcp, "trigger-long-running-operation", steps, { progress })).toMatchObject({ type: "ok" })
    // The SDK discards progress that arrives with the result.
    expect(reported[0]).toMatchObject({ progress: 1, total: 2 })
    const research = mcp.tools.find(({ name }) => name === "simulate-research-query")
    expect(research?.background).toMatchObject({ afterMs: 0 })
    expect(await call(mcp, "simulate-research-query", { topic: "bees" })).toMatchObject({
      type: "ok",
      value: expect.stringContaining("bees") as string
    })
    const listed = await mcp.resources()
    expect(listed.length).toBeGreaterThan(5)
    const [first] = listed
    expect(await mcp.read(first?.uri ?? "")).toMatchObject([{ type: "text" }])
    expect((await mcp.prompts()).map(({ name }) => name)).toContain("args-prompt")
    expect(await mcp.prompt("args-prompt", { city: "Oslo" })).toMatchObject([{ role: "user" }])
    expect(await mcp.complete({ prompt: "completable-prompt" }, { name: "department", value: "En" })).toEqual([
      "Engineering"
    ])
    // The server adds these tools when it knows what the client can do.
    await expect.poll(() => mcp.tools.map(({ name }) => name)).toContain("trigger-elicitation-request")
    await call(mcp, "trigger-elicitation-request")
    expect(asked).toHaveLength(1)
    await expect.poll(() => mcp.tools.map(({ name }) => name)).toContain("get-roots-list")
    expect(JSON.stringify(await call(mcp, "get-roots-list"))).toContain("file:///work")
    await mcp.stop()
  })
})

test("the official memory server remembers what it was told, over two starts", async () => {
  const folder = mkdtempSync(join(tmpdir(), "mcp-memory-"))
  const env = { MEMORY_FILE_PATH: join(folder, "memory.jsonl") }
  const start = () => Mcp.start(system, { command: process.execPath, args: [memory], env })
  const first = await start()
  const entities = [{ name: "Ada", entityType: "person", observations: ["writes programs"] }]
  expect(await call(first, "create_entities", { entities })).toMatchObject({ type: "ok" })
  await first.stop()
  const second = await start()
  expect(JSON.stringify(await call(second, "search_nodes", { query: "programs" }))).toContain("Ada")
  await second.stop()
  rmSync(folder, { recursive: true })
})
