/** The command line of the official inspector. */
import { execFile } from "node:child_process"
import { mkdtempDisposableSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const inspector = fileURLToPath(import.meta.resolve("@modelcontextprotocol/inspector/clients/launcher/build/index.js"))
/** Runs the command line of the official inspector, which prints the result of one request. It keeps its files in a folder of its own. */
export const inspected = async (...args: ReadonlyArray<string>): Promise<unknown> => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "mcp-inspector-"))
  const env = { ...process.env, HOME: folder.path, MCP_CATALOG_PATH: join(folder.path, "catalog.json") }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [inspector, "--cli", "--connect-timeout", "120000", ...args],
    { env }
  )
  return JSON.parse(stdout)
}
