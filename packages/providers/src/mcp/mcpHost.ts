/**
 * An MCP server as one process of ours.
 *
 * Owns: the current connection, and the tools made of it. The connection belongs to the process that hosts it, or, before
 * there is one, to the caller that opened it.
 *
 * MCPH1. A process hosts one connection from its `init` to its end. Its scope closes the connection when the process ends,
 *        for any reason. A process that ends in order waits for that in `terminate`.
 * MCPH2. A lost connection ends its process with an `McpError` as exit reason; a supervisor starts another.
 * MCPH3. Tools outlive connections: a call goes to the connection that is current when it is made, and fails with an error
 *        when there is none.
 * MCPH4. A connection opened ahead is hosted by the first process only; every later one opens its own.
 *
 * The race of a loss with an orderly end: (1) the server ends; (2) before the process has read that, it gets a shutdown
 * request; (3) `terminate` closes the lost connection, which does nothing; (4) the exit reason is the requested one.
 */
import type { Tool as McpTool } from "@modelcontextprotocol/sdk/types.js"
import { GenServer, type Pid, Process, type System } from "@troupe/otp"
import type { ChildSpec } from "@troupe/otp"
import type { Tool } from "@troupe/chat/tools"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { McpError } from "./McpError.ts"
import { McpConnection } from "./mcpConnection.ts"
import { toolsOf } from "./mcpTools.ts"
import type { McpOptions, McpServer, McpServerParams } from "./mcpServer.ts"

/** One server, with or without a process. */
export class McpHost implements McpServer {
  readonly name: string
  readonly childSpec: ChildSpec.ChildSpec
  readonly #server: McpServerParams
  readonly #options: McpOptions
  #tools: ReadonlyArray<Tool.Tool> = []
  #current: McpConnection | undefined
  #ahead: McpConnection | undefined
  #pid: Pid | undefined

  constructor(server: McpServerParams, options: McpOptions) {
    this.name = options.name ?? nameOf(server)
    this.#server = server
    this.#options = options
    this.childSpec = { id: `mcp:${this.name}`, start: (parent) => this.startLink(parent) }
  }

  get tools(): ReadonlyArray<Tool.Tool> {
    return this.#tools
  }

  get pid(): Pid | undefined {
    return this.#pid
  }

  /** Opens a connection that no process hosts yet. */
  async openAhead(): Promise<void> {
    const connection = this.connection()
    this.#ahead = connection
    this.current(connection, await connection.open())
    connection.listen({ toolsChanged: (tools) => this.current(connection, tools), lost: () => this.gone(connection) })
  }

  async start(system: System.System): Promise<Pid> {
    return this.#hosted(await GenServer.start(system, mcpProcess, this, this.#startOptions()))
  }

  async startLink(parent: Pid): Promise<Pid> {
    return this.#hosted(await GenServer.startLink(parent, mcpProcess, this, this.#startOptions()))
  }

  async stop(): Promise<void> {
    const ahead = this.takeAhead()
    await ahead?.close()
    if (this.#pid !== undefined && Process.isAlive(this.#pid))
      await GenServer.stop(this.#pid, "shutdown").catch(() => {})
  }

  connection(): McpConnection {
    return new McpConnection(this.name, this.#server, this.#options.timeoutMs ?? 30_000)
  }

  takeAhead(): McpConnection | undefined {
    const ahead = this.#ahead
    this.#ahead = undefined
    return ahead
  }

  /** Makes a connection and its tools the current ones. */
  current(connection: McpConnection, listed: ReadonlyArray<McpTool>): void {
    this.#current = connection
    this.#tools = toolsOf(listed, { server: this.name, prefix: this.#options.prefix ?? "" }, (name, args, signal) =>
      this.#current === undefined
        ? Promise.reject(new McpError("connection_lost", this.name))
        : this.#current.call(name, args, signal)
    )
    this.#options.onTools?.(this.#tools)
  }

  gone(connection: McpConnection): void {
    if (this.#current === connection) this.#current = undefined
  }

  #hosted(pid: Pid): Pid {
    this.#pid = pid
    return pid
  }

  #startOptions(): GenServer.StartOptions {
    return { label: `MCP ${this.name}`, trapExit: true }
  }
}

interface Lost {
  readonly lost: McpError
}

const isLost = (message: unknown): message is Lost =>
  typeof message === "object" && message !== null && "lost" in message

const mcpProcess = GenServer.make<McpHost, McpConnection, never, never, never, Lost>({
  init: async (host, self) => {
    const ahead = host.takeAhead()
    const connection = ahead ?? host.connection()
    const closing = Effect.promise(() => connection.close())
    Effect.runSync(
      Scope.addFinalizer(
        Process.scope(self),
        Effect.andThen(
          Effect.sync(() => host.gone(connection)),
          closing
        )
      )
    )
    try {
      if (ahead === undefined) host.current(connection, await connection.open())
    } catch (error) {
      return GenServer.fail(error)
    }
    connection.listen({
      toolsChanged: (tools) => host.current(connection, tools),
      lost: (lost) => {
        host.gone(connection)
        Process.send(self, { lost })
      }
    })
    return GenServer.ok(connection)
  },
  handleInfo: (message, connection) => (isLost(message) ? GenServer.stopping(message.lost, connection) : undefined),
  terminate: (_, connection) => connection.close()
})

const nameOf = (server: McpServerParams): string => {
  if ("command" in server) return server.command.split(/[\\/]/).at(-1) ?? server.command
  return "url" in server ? new URL(server.url).host : "server"
}
