/**
 * MCP servers as processes, and their tools as tools.
 *
 * @module
 * @source The Model Context Protocol, revision 2025-11-25
 */
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import type { Tool } from "@troupe/chat/Tool"
import { OtpError, type Pid, type System } from "@troupe/otp"
import type { ChildSpec } from "@troupe/otp/ChildSpec"
import { McpHost } from "./mcpHost.ts"

/**
 * Where a server is.
 *
 * - `command`: a program that is started and spoken to over its standard streams; its environment has only `env` and the
 *   few variables the MCP SDK passes on (such as `PATH` and `HOME`)
 * - `url`: a server reached over streamable HTTP
 * - `transport`: makes a transport of the MCP SDK, for anything else; called once for each connection
 */
export type McpServerParams =
  | {
      readonly command: string
      readonly args?: ReadonlyArray<string> | undefined
      readonly env?: Readonly<Record<string, string>> | undefined
      readonly cwd?: string | undefined
    }
  | {
      readonly url: string | URL
      readonly headers?: Readonly<Record<string, string>> | undefined
      readonly fetch?: typeof fetch | undefined
    }
  | { readonly transport: () => Transport }

/**
 * Options of a server.
 *
 * - `name`: says which server it is in labels and errors; default is the program's name or the URL's host
 * - `prefix`: put before the name of every tool, as it is
 * - `timeoutMs`: how long the handshake and the listing of tools may each take, in milliseconds; default 30,000
 * - `onTools`: told the tools whenever they are listed: after each connect, and when the server says they changed
 */
export interface McpOptions {
  readonly name?: string | undefined
  readonly prefix?: string | undefined
  readonly timeoutMs?: number | undefined
  readonly onTools?: ((tools: ReadonlyArray<Tool>) => void) | undefined
}

/**
 * An MCP server.
 *
 * **Details**: `tools` are those of the last listing. They stay usable when the server's process is started again; while
 * it is down their calls are reported failures. `pid` is the process that hosts the connection, once there is one.
 * `childSpec` puts the server under a supervisor, as a permanent child.
 *
 * A tool that the server marks with `readOnlyHint` reads, any other writes: that is the server's word for it.
 *
 * **Gotchas**: `stop` ends the process with `shutdown`; a supervisor starts a permanent child again after that. Ask the
 * supervisor to end it instead.
 */
export interface McpServer {
  readonly name: string
  readonly tools: ReadonlyArray<Tool>
  readonly pid: Pid | undefined
  readonly childSpec: ChildSpec
  readonly stop: () => Promise<void>
}

/**
 * Starts an MCP server as a process: of a system, or linked to an owner.
 *
 * **Details**: the server's own OS process or session lives as long as this process. It is ended when the owner ends,
 * when the system stops, and by `stop`: its input is closed, and what does not end by that is terminated after two
 * seconds and killed after four. If it ends by itself, the process ends with an `McpError` as exit reason.
 *
 * **Errors**: rejects with an `McpError` when the server cannot be reached. An owner that does not trap exits ends with
 * it, as with every failed linked start.
 *
 * @example
 * ```ts
 * const files = await Mcp.start(system, { command: "mcp-server-filesystem", args: ["/tmp"] })
 * const engine = Engine.make({ adapter, tools: files.tools })
 * ```
 */
export const start = async (
  owner: System.System | Pid,
  server: McpServerParams,
  options: McpOptions = {}
): Promise<McpServer> => {
  const host = new McpHost(server, options)
  try {
    await ("clock" in owner ? host.start(owner) : host.startLink(owner))
  } catch (error) {
    throw error instanceof OtpError.StartFailed ? error.reason : error
  }
  return host
}

/**
 * Connects to an MCP server before there is a process for it, so that its tools are known when the rest is started.
 *
 * **When to use**: to give a server to something that supervises it: `childSpec` hosts this connection at its first
 * start, and opens a new one at every restart.
 *
 * **Errors**: rejects with an `McpError` when the server cannot be reached.
 *
 * **Gotchas**: until a process hosts it, the connection is yours; `stop` closes it.
 */
export const connect = async (server: McpServerParams, options: McpOptions = {}): Promise<McpServer> => {
  const host = new McpHost(server, options)
  await host.openAhead()
  return host
}
