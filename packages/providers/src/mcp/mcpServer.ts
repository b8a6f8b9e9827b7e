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

/** How a server of tools is reached and named. */
export interface McpOptions {
  /** The server's name in labels and errors. Default: the program's name or the URL's host. */
  readonly name?: string | undefined
  /** Put before the name of every tool, as it is. Default: none. */
  readonly prefix?: string | undefined
  /** How long the handshake and the listing of tools may each take, in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number | undefined
  /** Called with the tools after each listing: on each connect, and when the server reports a change. Default: no call. */
  readonly onTools?: ((tools: ReadonlyArray<Tool.Tool>) => void) | undefined
}

/**
 * An MCP server.
 *
 * **Details**: a tool that the server marks with `readOnlyHint` reads, any other writes. The mark is not verified.
 */
export interface McpServer {
  /** The name in labels and errors. */
  readonly name: string
  /**
   * Those of the last listing. They stay usable when the server's process is restarted; while it is down their calls fail with an
   * error.
   */
  readonly tools: ReadonlyArray<Tool.Tool>
  /** The process that hosts the connection, once there is one. */
  readonly pid: Pid | undefined
  /** Puts the server under a supervisor, as a permanent child. */
  readonly childSpec: ChildSpec.ChildSpec
  /**
   * Ends the process with `shutdown`. A supervisor then restarts a permanent child: terminate the child by the supervisor
   * instead.
   */
  readonly stop: () => Promise<void>
}
