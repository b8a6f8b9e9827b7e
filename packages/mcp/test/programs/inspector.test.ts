import { execFile } from "node:child_process"
import { mkdtempDisposableSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { askUser, Fake, tool, Troupe } from "@troupe/chat"
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"
import { expect, onTestFinished, test } from "vitest"
import { Mcp } from "../../src/index.ts"

const inspector = fileURLToPath(import.meta.resolve("@modelcontextprotocol/inspector/clients/launcher/build/index.js"))
const service = fileURLToPath(new URL("../double/stdioService.ts", import.meta.url))

/** Runs the command line of the official inspector, which prints the result of one request. It keeps its files in a folder of its own. */
const inspected = async (...args: ReadonlyArray<string>): Promise<unknown> => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "mcp-inspector-"))
  const env = { ...process.env, HOME: folder.path, MCP_CATALOG_PATH: join(folder.path, "catalog.json") }
  const { stdout } = await promisify(execFile)(process.execPath, [inspector, "--cli", ...args], { env })
  return JSON.parse(stdout)
}

test("the command line of the official inspector lists and calls over standard streams", async () => {
  const over = (...args: ReadonlyArray<string>) => inspected(process.execPath, service, ...args)
  expect(await over("--method", "tools/list")).toMatchObject({ tools: [{ name: "helper" }, { name: "pid" }] })
  expect(await over("--method", "tools/call", "--tool-name", "pid")).toMatchObject({
    content: [{ type: "text", text: expect.stringMatching(/^\d+$/) as string }]
  })
})

test("ASKED1. the command line of the official inspector reads a question over HTTP, and answers it with its next call", async () => {
  const adapter = Fake.make({
    scripts: [
      [{ toolCall: { id: "c1", name: "book" } }, { finish: "tool_calls" }],
      [{ text: "Booked." }, { finish: "stop" }]
    ]
  })
  const book = tool({ name: "book", execute: () => askUser("Which day?") })
  const troupe = await Troupe.start({ silent: true, adapter, tools: [book] })
  const mcp = Mcp.serve(troupe, { agents: { helper: { description: "Helps" } }, conversations: true })
  const authorize = ({ headers }: Request) =>
    headers.get("x-owner") === null ? { deny: 401 as const } : { owner: headers.get("x-owner") ?? "" }
  const { url, close } = await listen(Server.make({ troupe, mcp, authorize }), { graceMs: 0 })
  onTestFinished(async () => {
    await close()
    await troupe.stop()
  })
  const over = (...args: ReadonlyArray<string>) => inspected(`${url}/mcp`, "--header", "x-owner: anna", ...args)
  const say = (...pairs: ReadonlyArray<string>) =>
    over("--method", "tools/call", "--tool-name", "helper", "--tool-arg", ...pairs)
  const asked = (await say("message=Book")) as { readonly structuredContent: { readonly conversation: string } }
  expect(asked).toMatchObject({ structuredContent: { text: "Which day?" } })
  const { conversation } = asked.structuredContent
  expect(await say("message=Monday", `conversation=${conversation}`)).toMatchObject({
    structuredContent: { text: "Booked.", conversation }
  })
  expect(await over("--method", "resources/list")).toMatchObject({ resources: [{ mimeType: "application/json" }] })
})
