/** The options and the handle of an MCP server. */

import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import type { Tool } from "@troupe/chat/tools"
import type { Pid } from "@troupe/otp"
import type { ChildSpec } from "@troupe/otp"

/**
 * The address of a server.
 *
 * - `command`: a program that is started and used over its standard streams. Its environment has only `env` and the few
 *   variables the MCP SDK passes on (such as `PATH` and `HOME`)
 * - `url`: a server with streamable HTTP
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
 * - `name`: the server's name in labels and errors; default is the program's name or the URL's host
 * - `prefix`: put before the name of every tool, as it is
 * - `timeoutMs`: how long the handshake and the listing of tools may each take, in milliseconds; default 30,000
 * - `onTools`: called with the tools after each listing: on each connect, and when the server reports a change
 */
export interface McpOptions {
  readonly name?: string | undefined
  readonly prefix?: string | undefined
  readonly timeoutMs?: number | undefined
  readonly onTools?: ((tools: ReadonlyArray<Tool.Tool>) => void) | undefined
}

/**
 * An MCP server.
 *
 * **Details**: `tools` are those of the last listing. They stay usable when the server's process is restarted; while it is
 * down their calls fail with an error. `pid` is the process that hosts the connection, once there is one. `childSpec` puts
 * the server under a supervisor, as a permanent child.
 *
 * A tool that the server marks with `readOnlyHint` reads, any other writes. The mark is not verified.
 *
 * **Gotchas**: `stop` ends the process with `shutdown`; a supervisor then restarts a permanent child. Terminate the child
 * by the supervisor instead.
 */
export interface McpServer {
  readonly name: string
  readonly tools: ReadonlyArray<Tool.Tool>
  readonly pid: Pid | undefined
  readonly childSpec: ChildSpec.ChildSpec
  readonly stop: () => Promise<void>
}
