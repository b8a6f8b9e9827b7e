/**
 * The client of the MCP SDK for one connection: its capabilities, and what it answers a server.
 *
 * MCPC4. The SDK compiles no schema of a server: the schemas of results and forms are checked by the validator of `@troupe/chat`,
 *        whose time is bounded.
 */
import {
  Client,
  type ClientCapabilities,
  type ClientOptions,
  type CreateMessageResult,
  type Tool
} from "@modelcontextprotocol/client"
import { elicited, isAskable } from "./elicitation.ts"
import type { SampleParams } from "./mcpCall.ts"
import type { McpOptions, McpRoot } from "./mcpServer.ts"
import type { OpenCalls } from "./openCalls.ts"
import { tasksExtension } from "./tasks.ts"

/** How long changes of a list are collected before it is read again. */
const changesWaitMs = 50

/** Accepts every value (MCPC4). */
const unchecked: NonNullable<ClientOptions["jsonSchemaValidator"]> = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined })
}

/** The connection of a client. */
interface Connected {
  readonly name: string
  readonly calls: OpenCalls
  readonly roots: () => ReadonlyArray<McpRoot>
  readonly sample: (params: SampleParams, cancel: AbortSignal) => Promise<CreateMessageResult>
  readonly toolsChanged: (tools: ReadonlyArray<Tool>) => void
}

/** Makes the client of a connection. */
export const clientFor = (
  { elicit, roots, onLog, sampling, protocol }: McpOptions,
  { name, calls, roots: current, sample, toolsChanged }: Connected
): Client => {
  const capabilities: ClientCapabilities = {
    ...(elicit === false ? {} : { elicitation: { form: { applyDefaults: true }, url: {} } }),
    ...(roots === undefined ? {} : { roots: { listChanged: true } }),
    ...(sampling === undefined ? {} : { sampling: {} }),
    extensions: { [tasksExtension]: {} }
  }
  const onChanged = (_: unknown, tools: ReadonlyArray<Tool> | null): void =>
    void (tools !== null && toolsChanged(tools))
  const client = new Client(
    { name: "troupe", version: "0.1.0" },
    {
      capabilities,
      jsonSchemaValidator: unchecked,
      versionNegotiation: { mode: protocol === "older" ? "legacy" : "auto" },
      listChanged: { tools: { debounceMs: changesWaitMs, onChanged } }
    }
  )
  if (elicit !== false) {
    client.setRequestHandler("elicitation/create", ({ params }, { mcpReq: { signal } }) =>
      elicit === undefined
        ? calls.ask(params, client.getProtocolEra() === "modern" || !isAskable(params), signal)
        : elicited(elicit, params, { server: name, toolCalls: calls.running, signal })
    )
  }
  if (sampling !== undefined)
    client.setRequestHandler("sampling/createMessage", ({ params }, { mcpReq: { signal } }) => sample(params, signal))
  if (roots !== undefined)
    client.setRequestHandler("roots/list", () => ({ roots: current().map((root) => ({ ...root })) }))
  if (onLog !== undefined) client.setNotificationHandler("notifications/message", ({ params }) => onLog(params))
  return client
}
