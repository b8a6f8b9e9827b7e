/** Starts MCP servers, and joins their tools. */
import type { Tool } from "@troupe/chat/tools"
import { ValidationError } from "@troupe/chat/errors"
import { OtpError, type Pid, type System } from "@troupe/otp"
import { McpHost } from "./mcpHost.ts"
import type { McpOptions, McpServer, McpServerParams } from "../connection/index.ts"
import { acceptedName, listedBy } from "../tools/index.ts"

/**
 * Starts an MCP server as a process: of a system, or linked to an owner.
 *
 * **Details**: the server's own OS process or session lives as long as this process. It is ended when the owner ends, when
 * the system stops, and by `stop`: its input is closed; if it does not end, it is terminated after two seconds and killed
 * after four. If it ends by itself, it is started again (`restarts`); after too many failed starts the process ends with an
 * `McpError` as exit reason.
 *
 * **Errors**: rejects with a `ValidationError` (`invalid_options`) for what is no server, and with an `McpError` when the server
 * cannot be reached. An owner that does not trap exits ends with it, as with every failed linked start.
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
  checkOwner(owner)
  checkServer(server)
  const host = new McpHost(server, options)
  try {
    await ("clock" in owner ? host.start(owner) : host.startLink(owner))
  } catch (error) {
    throw error instanceof OtpError.StartFailed ? error.reason : error
  }
  return host
}

/**
 * Connects to an MCP server before it has a process, so that its tools are known before the rest starts.
 *
 * **When to use**: to pass a server to a supervisor: `childSpec` hosts this connection at its first start, and opens a new
 * one at every restart.
 *
 * **Errors**: rejects as `start` does.
 *
 * **Gotchas**: until a process hosts it, the caller owns the connection; `stop` closes it.
 */
export const connect = async (server: McpServerParams, options: McpOptions = {}): Promise<McpServer> => {
  checkServer(server)
  const host = new McpHost(server, options)
  await host.openAhead()
  return host
}

/**
 * The tools of several servers, with names that differ.
 *
 * **Details**: where two servers have tools of one name, each of these is prefixed with the name of its server and `_`. Every other name
 * stays as it is. A call reaches the server by the server's own name of the tool.
 *
 * @example
 * ```ts
 * const troupe = await Troupe.start({ adapter, tools: Mcp.tools([files, memory]) })
 * ```
 */
export const tools = (servers: ReadonlyArray<Pick<McpServer, "name" | "tools">>): ReadonlyArray<Tool.Tool> => {
  let lists: ReadonlyArray<ReadonlyArray<Tool.Tool>> = []
  let joined: ReadonlyArray<Tool.Tool> = []
  const current = (): ReadonlyArray<Tool.Tool> => {
    const now = servers.map((server) => server.tools)
    if (now.some((list, at) => list !== lists[at])) {
      lists = now
      joined = listedBy(joinedTools(servers), current)
    }
    return joined
  }
  return current()
}

const joinedTools = (servers: ReadonlyArray<Pick<McpServer, "name" | "tools">>): ReadonlyArray<Tool.Tool> => {
  const uses = new Map<string, number>()
  for (const { name } of servers.flatMap((server) => server.tools)) uses.set(name, (uses.get(name) ?? 0) + 1)
  return servers.flatMap((server) =>
    server.tools.map((tool) =>
      (uses.get(tool.name) ?? 0) > 1 ? { ...tool, name: acceptedName(`${server.name}_${tool.name}`) } : tool
    )
  )
}

const refused = (field: string, reason: string): ValidationError =>
  new ValidationError("invalid_options", [{ field: [field], reason }])

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

const checkOwner = (owner: unknown): void => {
  if (!isObject(owner) || "command" in owner || "url" in owner || "transport" in owner)
    throw refused("owner", "must_be a System or a process; write Mcp.start(System.make(), server)")
}

const checkServer = (server: unknown): void => {
  if (isObject(server) && typeof server["command"] === "string") return
  if (isObject(server) && typeof server["transport"] === "function") return
  const url = isObject(server) ? server["url"] : server
  const isUrl = (typeof url === "string" || url instanceof URL) && URL.canParse(url)
  if (isObject(server) && isUrl) return
  if (isObject(server) && "url" in server)
    throw refused("server.url", "must_be an address, such as https://search.example.com/mcp")
  throw refused(
    "server",
    isUrl
      ? `must_be an object; write { url: ${JSON.stringify(url)} }`
      : "must_be { command, args }, { url }, or { transport: () => one of the MCP SDK }"
  )
}
