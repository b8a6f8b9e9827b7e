/** The tests' own MCP server over standard streams. With `stubborn` it ends neither by a closed input nor by SIGTERM. */
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio"
import { createServer } from "node:net"
import { ownServer } from "./ownTools.ts"

if (process.argv.includes("stubborn")) {
  process.on("SIGTERM", () => {})
  createServer().listen(0, "127.0.0.1")
}
if (process.argv.includes("broken")) {
  process.stderr.write("no such folder\n")
  process.exitCode = 1
} else {
  await ownServer().server.connect(new StdioServerTransport())
}
