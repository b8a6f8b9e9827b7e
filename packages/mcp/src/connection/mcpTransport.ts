/**
 * Opens the transport to an MCP server: a child process's standard streams, HTTP, or a given one.
 *
 * MCPC5. A stream over HTTP that breaks is resumed behind its last event. When it cannot be resumed, its request fails as lost.
 */
import {
  type AuthProvider,
  type OAuthClientProvider,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
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
  failsLost(transport)
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

/** The data of the error of a request whose answer was lost. */
const lostAnswer = "troupe/lost"

/** Has each request fail whose stream has ended without an answer (MCPC5): the SDK lets it wait. */
const failsLost = (transport: StreamableHTTPClientTransport): void => {
  const send = transport.send.bind(transport)
  transport.send = (message, options) => {
    if (!("method" in message && "id" in message)) return send(message, options)
    const onRequestStreamEnd = (): void => {
      options?.onRequestStreamEnd?.()
      const error = { code: -32_000, message: "The stream ended before the answer", data: lostAnswer }
      // The SDK ignores it when the request has its answer.
      transport.onmessage?.({ jsonrpc: "2.0", id: message.id, error })
    }
    return send(message, { ...options, onRequestStreamEnd })
  }
}

/** The codes of requests that did not reach a server. */
const notSent: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "UND_ERR_CONNECT_TIMEOUT"])

/** What `fetch` says of a broken connection, here and in browsers. */
const broken = /fetch|network|terminated|load failed/i

/** Why a request has failed, if it has no answer: the server may have run it (`connection_lost`), or it was not sent (`not_connected`). */
export const lossOf = (error: unknown): "connection_lost" | "not_connected" | undefined => {
  if (error instanceof TypeError && broken.test(error.message))
    return notSent.has(codeIn(error.cause)) ? "not_connected" : "connection_lost"
  const isLost =
    (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) ||
    (error instanceof ProtocolError && error.data === lostAnswer) ||
    // A gateway has lost the server.
    (error instanceof SdkHttpError && (error.status === 502 || error.status === 504))
  return isLost ? "connection_lost" : undefined
}

const codeIn = (cause: unknown): unknown =>
  typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined

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
