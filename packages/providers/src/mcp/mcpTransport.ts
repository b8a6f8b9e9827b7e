/** Opens the transport to an MCP server: a child process's standard streams, streamable HTTP, or a given one. */
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js"
import * as Effect from "effect/Effect"
import type { McpServerParams } from "./mcpServer.ts"

/** A transport, its farewell to the server before it closes, and the server's standard error. */
export interface OpenTransport {
  readonly transport: Transport
  readonly goodbye: () => Promise<void>
  readonly complaints: () => string
}

/** The number of characters of a child process's standard error that are kept for error messages. */
const keptCharacters = 2000

/** How long the server may take to acknowledge the end of a session. */
const goodbyeWait = "1 second"

/** Makes the transport without starting anything. */
export const transportOf = (server: McpServerParams): OpenTransport => {
  if ("command" in server) return stdio(server)
  if ("url" in server) return http(server)
  return { transport: server.transport(), goodbye: nothing, complaints: () => "" }
}

const nothing = async (): Promise<void> => {}

const stdio = (server: Extract<McpServerParams, { readonly command: string }>): OpenTransport => {
  const transport = new StdioClientTransport({
    command: server.command,
    args: [...(server.args ?? [])],
    stderr: "pipe",
    ...(server.env === undefined ? {} : { env: { ...server.env } }),
    ...(server.cwd === undefined ? {} : { cwd: server.cwd })
  })
  let output = ""
  transport.stderr?.on("data", (chunk: unknown) => {
    output = (output + String(chunk)).slice(-keptCharacters).replace(/^[\uDC00-\uDFFF]/u, "")
  })
  return { transport, goodbye: nothing, complaints: () => output.trim() }
}

const http = (server: Extract<McpServerParams, { readonly url: string | URL }>): OpenTransport => {
  const transport = new StreamableHTTPClientTransport(new URL(server.url), {
    ...(server.headers === undefined ? {} : { requestInit: { headers: { ...server.headers } } }),
    ...(server.fetch === undefined ? {} : { fetch: server.fetch })
  })
  const farewell = Effect.ignore(
    Effect.timeout(
      Effect.tryPromise(() => transport.terminateSession()),
      goodbyeWait
    )
  )
  return {
    transport,
    goodbye: () => (transport.sessionId === undefined ? nothing() : Effect.runPromise(farewell)),
    complaints: () => ""
  }
}
