import { fileURLToPath } from "node:url"
import { askUser, Fake, tool, Troupe } from "@troupe/chat"
import { Server } from "@troupe/server"
import { listen } from "@troupe/server/Node"
import { expect, onTestFinished, test } from "vitest"
import { Mcp } from "../../src/index.ts"
import { inspected } from "../double/inspected.ts"

const service = fileURLToPath(new URL("../double/stdioService.ts", import.meta.url))

test("the command line of the official inspector lists and calls over standard streams", async () => {
  const over = (...args: ReadonlyArray<string>) => inspected(process.execPath, service, ...args)
  expect(await over("--method", "tools/list")).toMatchObject({ tools: [{ name: "helper" }, { name: "pid" }] })
  expect(await over("--method", "tools/call", "--tool-name", "pid")).toMatchObject({
    content: [{ type: "text", text: expect.stringMatching(/^\d+$/) as string }]
  })
}, 180_000)

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
}, 180_000)
