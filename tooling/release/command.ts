/**
 * The command `npx troupe mcp` in a fresh folder, and an MCP client that uses what it serves.
 *
 * RELEASE3. In a folder where npm has installed `@troupe/mcp` and the peers, `npx troupe mcp` serves a module, and a client of the MCP SDK lists
 *           and calls its tools.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { failureOf, run } from "../packed/program.ts"
import { writeJson } from "../packed/project.ts"

const packages = [
  "@troupe/mcp",
  "@troupe/chat",
  "@troupe/otp",
  "effect",
  "xstate",
  "zod",
  "@modelcontextprotocol/client"
]

const served = `import { Fake, tool, Troupe } from "@troupe/chat"

const script = [{ text: "It rains." }, { finish: "stop" }]
export const troupe = await Troupe.start({ adapter: Fake.make({ script }) })
export const mcp = {
  agents: { weather: { description: "Knows the weather" } },
  tools: [tool({ name: "stock", effect: "read", execute: () => "12 bottles" })]
}
`

const client = `import { Client } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"

const client = new Client({ name: "fresh", version: "1.0.0" })
await client.connect(new StdioClientTransport({ command: "npx", args: ["troupe", "mcp", "served.mjs"] }))
const { tools } = await client.listTools()
const names = tools.map(({ name }) => name).join()
const stock = JSON.stringify(await client.callTool({ name: "stock", arguments: {} }))
const weather = JSON.stringify(await client.callTool({ name: "weather", arguments: { message: "And?" } }))
await client.close()
if (names !== "weather,stock" || !stock.includes("12 bottles") || !weather.includes("It rains."))
  throw new Error([names, stock, weather].join(" "))
`

/** Installs the packages in a fresh folder, and runs the client there (RELEASE3). */
export const commandProblems = async (folder: string, env: NodeJS.ProcessEnv): Promise<ReadonlyArray<string>> => {
  mkdirSync(folder)
  writeJson(folder, "package.json", { name: "fresh", type: "module", private: true })
  writeFileSync(join(folder, "served.mjs"), served)
  writeFileSync(join(folder, "client.mjs"), client)
  const installed = await run("npm", ["install", ...packages], folder, env)
  return installed.ok ? failureOf(await run(process.execPath, ["client.mjs"], folder, env)) : [installed.output]
}
