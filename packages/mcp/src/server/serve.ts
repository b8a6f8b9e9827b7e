/**
 * Agents and tools as an MCP server.
 *
 * Owns: the sessions of its clients. Does not own the Troupe, nor sockets.
 *
 * MCPS1. A request over HTTP is answered only for a caller that `authorize` names. When `authorize` fails, the log of the system gets the
 *        error, and the client a status.
 * MCPS2. After `close` the sessions and the open requests have ended; the turns of conversations go on unless their calls were cancelled.
 */
import {
  createMcpHandler,
  fromJsonSchema,
  isLegacyRequest,
  McpServer,
  type McpServerOptions
} from "@modelcontextprotocol/server"
import { serveStdio, StdioServerTransport } from "@modelcontextprotocol/server/stdio"
import type { RunningTroupe } from "@troupe/chat"
import { System } from "@troupe/otp"
import { agentOutput, agentSchema, callAgent } from "./agentTool.ts"
import { addConversations } from "./conversations.ts"
import { forPages } from "./origins.ts"
import { callTool } from "./plainTool.ts"
import { type McpCaller, type McpServeOptions, ownedId, type Serving } from "./served.ts"
import { Sessions } from "./sessions.ts"
import { Tasks, withWishes } from "./tasks.ts"

/** Agents and tools that MCP clients can use. `listen` of `@troupe/server/Node` takes it. */
export interface McpService {
  /** Answers a request over streamable HTTP. `Server.make` passes a caller that it has authenticated, and has checked the origin. */
  readonly fetch: (request: Request, caller?: McpCaller) => Promise<Response>
  /** Serves one client over the standard streams of this program, until the client closes them or `close` is called. */
  readonly stdio: (caller?: McpCaller) => { readonly close: () => Promise<void> }
  /** Ends its sessions and open requests. */
  readonly close: () => Promise<void>
  /** The `hosts` of the options. */
  readonly hosts: ReadonlyArray<string> | undefined
}

/**
 * Serves agents and tools of a Troupe to MCP clients, over streamable HTTP and standard streams.
 *
 * **Details**: a call of an agent is a turn. Its result has the `conversation`, which a later call can continue. Questions of the agent,
 * and calls that wait for a decision of a caller that may approve, are questions to the user of the client. Starts of tools are progress. A
 * cancelled call cancels its turn.
 *
 * **Errors**: throws a `TypeError` when `conversations` are to be listed, and `chatId` breaks its contract.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Fake, Troupe } from "@troupe/chat"
 * import { Mcp } from "@troupe/mcp"
 *
 * const troupe = await Troupe.start({ adapter: Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }) })
 * const service = Mcp.serve(troupe, {
 *   agents: { helper: { description: "Helps" } },
 *   authorize: () => ({ owner: "anna" })
 * })
 * const client = await Mcp.start(troupe.system, {
 *   url: "http://localhost/mcp",
 *   fetch: (url, init) => service.fetch(new Request(url, init))
 * })
 * client.tools.map(({ name }) => name) // => ["helper"]
 * await service.close()
 * await troupe.stop()
 * ```
 */
export const serve = (troupe: RunningTroupe, options: McpServeOptions): McpService => {
  const { maxBodyBytes, conversations, chatId = ownedId } = options
  if (conversations === true && !chatId("owner", "id").startsWith(chatId("owner", "")))
    throw new TypeError(
      'chatId must begin the ids of an owner with chatId(owner, ""), by which conversations are listed'
    )
  const bound = maxBodyBytes === undefined ? {} : { maxRequestBodySize: maxBodyBytes }
  const closing = new AbortController()
  const sessions = new Sessions(serverFor)
  const tasks = new Tasks()
  const serving = (caller: McpCaller): Serving => ({ troupe, options, caller, tasks, closing: closing.signal })
  const modern = createMcpHandler(({ authInfo }) => serverFor(serving(authInfo?.extra?.["caller"] as McpCaller)), {
    legacy: "reject",
    ...bound
  })
  const open = new Set<{ readonly close: () => Promise<void> }>()
  const answered = async (request: Request, known?: McpCaller): Promise<Response> => {
    try {
      const caller = known ?? (await options.authorize?.(request)) ?? { deny: 401 as const }
      if ("deny" in caller) return new Response("Who calls?", { status: caller.deny })
      if (await isLegacyRequest(request, undefined, bound)) return await sessions.answer(request, serving(caller))
      const authInfo = { token: "", clientId: caller.owner, scopes: [], extra: { caller } }
      return await modern.fetch(request, { authInfo })
    } catch (error) {
      System.report(troupe.system, { subject: "A request to the MCP service failed", error })
      return new Response("The server failed", { status: 500 })
    }
  }
  return {
    hosts: options.hosts,
    fetch: (request, caller) =>
      caller === undefined ? forPages(request, options, () => answered(request)) : answered(request, caller),
    stdio: (caller = { owner: "stdio" }) => {
      const transport = new StdioServerTransport()
      const handle = serveStdio(() => serverFor(serving(caller)), { transport })
      withWishes(transport)
      open.add(handle)
      return handle
    },
    close: async () => {
      closing.abort()
      await Promise.all([sessions.close(), modern.close(), ...Array.from(open, (handle) => handle.close())])
    }
  }
}

/** The validator of a chat's tools checks the arguments. */
const unchecked: NonNullable<McpServerOptions["jsonSchemaValidator"]> = {
  getValidator: () => (data) => ({ valid: true, data: data as never, errorMessage: undefined })
}

/** Makes the server of one connection, or of one request. */
const serverFor = (serving: Serving): McpServer => {
  const { agents = {}, tools = [], name = "troupe", version = "0.1.0", instructions, register } = serving.options
  const server = new McpServer(
    { name, version },
    { jsonSchemaValidator: unchecked, ...(instructions === undefined ? {} : { instructions }) }
  )
  for (const [tool, agent] of Object.entries(agents)) {
    const inputSchema = fromJsonSchema<Parameters<typeof callAgent>[3]>(agentSchema)
    const outputSchema = fromJsonSchema(agentOutput)
    const about = { description: agent.description, inputSchema, outputSchema }
    const registered = server.registerTool(tool, about, (args, context) =>
      serving.tasks.run(serving, context, (within) => callAgent(serving, agent, server, args, within))
    )
    registered.execution = { taskSupport: "optional" }
  }
  if (Object.keys(agents).length > 0) serving.tasks.addTo(server, serving)
  for (const tool of tools) {
    const inputSchema = fromJsonSchema<Record<string, unknown>>(tool.schema, unchecked)
    const annotations = { readOnlyHint: tool.effect === "read" }
    server.registerTool(tool.name, { description: tool.description, inputSchema, annotations }, (args, context) =>
      callTool(serving, tool, server, args, context)
    )
  }
  if (serving.options.conversations === true) addConversations(server, serving)
  register?.(server, serving.caller)
  return server
}
