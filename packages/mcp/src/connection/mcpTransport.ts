/** Opens the transport to an MCP server: a child process's standard streams, HTTP, or a given one. */
import {
  type AuthProvider,
  type OAuthClientProvider,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport
} from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import * as Effect from "effect/Effect"
import type { McpServerParams } from "./mcpServer.ts"
import { SignInProvider, type SigningTransport } from "./signIn.ts"

/** A transport, its farewell to the server before it closes, and the server's standard error. */
export interface OpenTransport {
  readonly transport: Transport
  readonly signing?: SigningTransport | undefined
  readonly goodbye: () => Promise<void>
  readonly complaints: () => string
}

/** The authentication of a transport over HTTP, as the SDK takes it. */
export type Auth = AuthProvider | OAuthClientProvider | undefined

/** The number of characters of a child process's standard error that are kept for error messages. */
const keptCharacters = 2000

/** How long the server may take to acknowledge the end of a session. */
const goodbyeWait = "1 second"

/** Makes the transport without starting anything. `isOld` is the older HTTP and SSE. */
export const transportOf = (server: McpServerParams, auth: Auth, isOld: boolean): OpenTransport => {
  if ("command" in server) return stdio(server)
  if ("url" in server) return isOld ? sse(server, auth) : http(server, auth)
  if (typeof server.transport !== "function")
    throw new TypeError("An MCP server is { command, args }, { url }, or { transport: () => one of the MCP SDK }")
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

type OverHttp = Extract<McpServerParams, { readonly url: string | URL }>

const http = (server: OverHttp, auth: Auth): OpenTransport => {
  const transport = new StreamableHTTPClientTransport(new URL(server.url), optionsOf(server, auth))
  const farewell = Effect.ignore(
    Effect.timeout(
      Effect.tryPromise(() => transport.terminateSession()),
      goodbyeWait
    )
  )
  return {
    transport,
    signing: transport,
    goodbye: () => (transport.sessionId === undefined ? nothing() : Effect.runPromise(farewell)),
    complaints: () => ""
  }
}

const sse = (server: OverHttp, auth: Auth): OpenTransport => {
  const transport = new SSEClientTransport(new URL(server.url), optionsOf(server, auth))
  return { transport, signing: transport, goodbye: nothing, complaints: () => "" }
}

const optionsOf = (server: OverHttp, auth: Auth) => ({
  ...(server.headers === undefined ? {} : { requestInit: { headers: { ...server.headers } } }),
  ...(server.fetch === undefined ? {} : { fetch: server.fetch }),
  ...(auth === undefined ? {} : { authProvider: auth }),
  skipIssuerMetadataValidation: auth instanceof SignInProvider && auth.skipIssuerMetadataValidation
})
