/**
 * One connection to an MCP server.
 *
 * Owns: the SDK's client and its transport (and with it the server's OS process, for a stdio server), and the list of the
 * server's tools. Does not own restarts: a lost connection stays lost, and a restart makes a new one.
 *
 * MCPC1. `close` closes the transport once, however many callers call it; every call resolves when the transport is closed.
 * MCPC2. `lost` is called at most once, and never after `close` was called.
 * MCPC3. A call leaves no listener on its caller's signal, and a completed call is never cancelled.
 */
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { type CallToolResult, type Tool, ToolListChangedNotificationSchema } from "@modelcontextprotocol/sdk/types.js"
import { McpError } from "./McpError.ts"
import { type OpenTransport, transportOf } from "./mcpTransport.ts"
import type { McpServerParams } from "./mcpServer.ts"

/** The maximum of the SDK: calls have deadlines of their own. */
const noTimeout = 2_147_483_647

/** The callbacks of a connection. */
export interface ConnectionEvents {
  readonly toolsChanged: (tools: ReadonlyArray<Tool>) => void
  readonly lost: (error: McpError) => void
}

export class McpConnection {
  readonly #name: string
  readonly #timeoutMs: number
  readonly #client = new Client({ name: "troupe", version: "0.1.0" })
  readonly #open: OpenTransport
  #events: ConnectionEvents | undefined
  #lost: McpError | undefined
  #closing: Promise<void> | undefined
  #listing: Promise<void> | undefined
  #changedAgain = false

  constructor(name: string, server: McpServerParams, timeoutMs: number) {
    this.#name = name
    this.#timeoutMs = timeoutMs
    this.#open = transportOf(server)
    this.#client.onclose = () => this.#lose()
    this.#client.onerror = (error) => {
      if (/reconnection attempts/i.test(error.message)) this.#lose(error)
    }
    this.#client.setNotificationHandler(ToolListChangedNotificationSchema, () => this.#relist())
  }

  /** Sets the callbacks. A loss before that is reported at once. */
  listen(events: ConnectionEvents): void {
    this.#events = events
    if (this.#lost !== undefined) events.lost(this.#lost)
  }

  /** Connects and lists the tools. On a failure, closes the connection and rejects with an `McpError`. */
  async open(): Promise<ReadonlyArray<Tool>> {
    try {
      await this.#client.connect(this.#open.transport, { timeout: this.#timeoutMs })
      return await this.#list()
    } catch (cause) {
      await this.close()
      throw new McpError("connection_failed", this.#name, { cause, said: this.#open.complaints() })
    }
  }

  /** Calls a tool; aborting the signal cancels the call at the server. */
  async call(name: string, args: Record<string, unknown>, signal: AbortSignal): Promise<CallToolResult> {
    signal.throwIfAborted()
    const cancel = new AbortController()
    const onAbort = (): void => cancel.abort(signal.reason)
    signal.addEventListener("abort", onAbort, { once: true })
    try {
      const options = { signal: cancel.signal, timeout: noTimeout }
      return (await this.#client.callTool({ name, arguments: args }, undefined, options)) as CallToolResult
    } catch (error) {
      if (error instanceof StreamableHTTPError && error.code === 404) this.#lose(error)
      throw error
    } finally {
      signal.removeEventListener("abort", onAbort)
    }
  }

  /** Closes the connection: ends the session and the server's OS process. */
  close(): Promise<void> {
    this.#closing ??= this.#open
      .goodbye()
      .then(() => this.#client.close())
      .then(() => this.#open.transport.close())
      .catch(() => {})
    return this.#closing
  }

  async #list(): Promise<ReadonlyArray<Tool>> {
    if (this.#client.getServerCapabilities()?.tools === undefined) return []
    const tools: Array<Tool> = []
    const seen = new Set<string>()
    let cursor: string | undefined
    do {
      const params = cursor === undefined ? {} : { cursor }
      const page = await this.#client.listTools(params, { timeout: this.#timeoutMs })
      tools.push(...page.tools)
      cursor = page.nextCursor
      if (cursor !== undefined && seen.has(cursor)) break
      if (cursor !== undefined) seen.add(cursor)
    } while (cursor !== undefined)
    return tools
  }

  /** One listing at a time; changes during a listing cause one more listing. */
  async #relist(): Promise<void> {
    if (this.#listing !== undefined) {
      this.#changedAgain = true
      return
    }
    do {
      this.#changedAgain = false
      this.#listing = this.#list().then(
        (tools) => this.#events?.toolsChanged(tools),
        () => undefined
      )
      await this.#listing
    } while (this.#changedAgain)
    this.#listing = undefined
  }

  #lose(cause?: Error): void {
    if (this.#closing !== undefined || this.#lost !== undefined) return
    const output = this.#open.complaints()
    this.#lost = new McpError("connection_lost", this.#name, {
      said: output,
      ...(cause === undefined ? {} : { cause })
    })
    this.#events?.lost(this.#lost)
  }
}
