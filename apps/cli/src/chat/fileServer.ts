/**
 * The official MCP filesystem server on one folder.
 *
 * @module
 */
import { fileURLToPath } from "node:url"
import type { Tool } from "@troupe/chat/tools"
import { Mcp } from "@troupe/mcp"
import { Supervisor, type System } from "@troupe/otp"

/** The tools of the file server, or the reason why there are none. */
export type FileServer =
  | { readonly started: true; readonly tools: ReadonlyArray<Tool.Tool> }
  | { readonly started: false; readonly reason: string }

/**
 * Starts the server under its own supervisor, which restarts it when it ends.
 *
 * **Details**: it lives as long as the system. When the server cannot be started, the result has the reason, and nothing is
 * thrown.
 */
export const startFileServer = async (system: System.System, folder: string): Promise<FileServer> => {
  try {
    const program = fileURLToPath(import.meta.resolve("@modelcontextprotocol/server-filesystem/dist/index.js"))
    const server = await Mcp.connect({ command: process.execPath, args: [program, folder] }, { name: "files" })
    await Supervisor.start(system, { strategy: "oneForOne", label: "Services", children: [server.childSpec] })
    return { started: true, tools: server.tools }
  } catch (error) {
    return {
      started: false,
      reason: error instanceof Error ? error.message.replaceAll(/\s*\n\s*/g, " · ") : String(error)
    }
  }
}
