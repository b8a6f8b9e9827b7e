/**
 * An MCP server: its current connection, and the tools made of it.
 *
 * Owns: the current connection, and the tools made of it. The connection belongs to the process that hosts it, or, before
 * there is one, to the caller that opened it.
 *
 * MCPH3. Tools outlive connections: a call goes to the connection that is current when it is made, and fails with an error
 *        when there is none. A lost connection fails its own calls only.
 * MCPH8. A call that goes on with the answer of a person waits for the next start of a server that is down.
 * MCPH7. A sign-in ends when the connection is open, when its start fails, when the process ends, or when the storage has no tokens.
 * MCPH4. A connection opened ahead is hosted by the first process only; every later one opens its own.
 */
import type { Client, PriorDiscovery, Tool as McpTool } from "@modelcontextprotocol/client"
import type { Tool } from "@troupe/chat/tools"
import { type ChildSpec, GenServer, type Pid, Process, type System } from "@troupe/otp"
import {
  isSignIn,
  McpConnection,
  McpError,
  type McpCall,
  type McpHealth,
  type McpOptions,
  type McpRoot,
  type McpServer,
  type McpServerParams,
  signInPage,
  SignInProvider
} from "../connection/index.ts"
import {
  type Attachments,
  attachmentsOf,
  attachmentTools,
  boundedText,
  listedBy,
  signInTool,
  toolsOf
} from "../tools/index.ts"
import { mcpProcess } from "./mcpProcess.ts"

/** One server, with or without a process. */
export class McpHost implements McpServer {
  readonly name: string
  readonly childSpec: ChildSpec.ChildSpec
  readonly resources: Attachments["resources"]
  readonly read: Attachments["read"]
  readonly prompts: Attachments["prompts"]
  readonly prompt: Attachments["prompt"]
  readonly complete: Attachments["complete"]
  readonly options: McpOptions
  readonly #server: McpServerParams
  readonly #signIn?: SignInProvider
  #roots: ReadonlyArray<McpRoot> | undefined
  #tools: ReadonlyArray<Tool.Tool> = []
  #names: ReadonlySet<string> = new Set()
  #current: McpConnection | undefined
  #prior: PriorDiscovery | undefined
  #ahead: McpConnection | undefined
  /** The next start of a connection: resolves with its failure. */
  #opening = Promise.withResolvers<unknown>()
  /** The end of the start that runs. */
  #starting: Promise<unknown> | undefined
  #pid: Pid | undefined
  health: McpHealth = { status: "stopped", failedStarts: 0 }

  constructor(server: McpServerParams, options: McpOptions) {
    this.name = options.name ?? nameOf(server)
    this.#server = server
    this.options = options
    this.#roots = options.roots
    if ("url" in server && server.auth !== undefined && isSignIn(server.auth))
      this.#signIn = new SignInProvider(server.auth, new URL(server.url).href)
    this.childSpec = { id: `mcp:${this.name}`, start: (parent) => this.startLink(parent, true) }
    const { resources, read, prompts, prompt, complete } = attachmentsOf((run) => this.#ask(run))
    this.resources = resources
    this.read = read
    this.prompts = prompts
    this.prompt = prompt
    this.complete = complete
  }

  get tools(): ReadonlyArray<Tool.Tool> {
    return this.#tools
  }

  get pid(): Pid | undefined {
    return this.#pid
  }

  get instructions(): string | undefined {
    const text = this.#current?.client.getInstructions()
    return text === undefined ? undefined : boundedText(text, this.options.bounds)
  }

  /** Opens a connection that no process hosts yet. */
  async openAhead(): Promise<void> {
    const connection = this.connection()
    try {
      await this.open(connection)
    } catch (error) {
      if (signInPage(error) === undefined) throw error
      return
    }
    this.#ahead = connection
    this.listen(connection, () => {})
  }

  async start(system: System.System): Promise<Pid> {
    return this.#hosted(await GenServer.start(system, mcpProcess(this, false), undefined, this.#startOptions()))
  }

  async startLink(parent: Pid, waits = false): Promise<Pid> {
    return this.#hosted(await GenServer.startLink(parent, mcpProcess(this, waits), undefined, this.#startOptions()))
  }

  async stop(): Promise<void> {
    const ahead = this.takeAhead()
    await ahead?.close()
    if (this.#pid !== undefined && Process.isAlive(this.#pid))
      await GenServer.stop(this.#pid, "shutdown").catch(() => {})
  }

  async setRoots(roots: ReadonlyArray<McpRoot>): Promise<void> {
    this.#roots = roots
    await this.#current?.setRoots(roots)
  }

  connection(): McpConnection {
    const { roots: _, ...options } = this.options
    const roots = this.#roots === undefined ? {} : { roots: this.#roots }
    return new McpConnection(this.name, this.#server, { ...options, ...roots }, this.#signIn)
  }

  takeAhead(): McpConnection | undefined {
    const ahead = this.#ahead
    this.#ahead = undefined
    return ahead
  }

  /** Opens a connection and makes it the current one. The second one needs no question which protocol the server speaks. */
  async open(connection: McpConnection): Promise<void> {
    const prior = this.#prior
    const opening = this.#opening
    this.#prior = undefined
    this.#opening = Promise.withResolvers()
    this.#starting = opening.promise
    try {
      const listed = await connection.open(prior)
      this.#prior = connection.prior
      this.#current = connection
      this.#list(connection, listed)
      opening.resolve(undefined)
    } catch (error) {
      this.#askToSignIn(signInPage(error))
      opening.resolve(error)
      throw error
    } finally {
      this.#starting = undefined
    }
  }

  async signIn(returned: unknown): Promise<void> {
    await this.connection().finishSignIn(returned)
    const pid = this.#pid
    if (this.health.signIn === undefined || pid === undefined || !Process.isAlive(pid)) return
    if (!(await this.isSignedIn())) throw new McpError("sign_in_required", this.name)
    const opened = this.#ended(pid, this.#opening.promise)
    Process.send(pid as Pid<{ readonly restart: true }>, { restart: true })
    const failure = await opened
    if (failure !== undefined) throw failure
  }

  /** Resolves with the failure of a start of a connection, or of the process that ends before. */
  #ended(pid: Pid, start: Promise<unknown>): Promise<unknown> {
    const { promise: ended, resolve } = Promise.withResolvers<unknown>()
    const forget = Process.onExit(pid, () => resolve(new McpError("not_connected", this.name)))
    return Promise.race([start, ended]).finally(forget)
  }

  /** Whether the storage has tokens for a server that waits for a sign-in. */
  async isSignedIn(): Promise<boolean> {
    return (await this.#signIn?.tokens()) !== undefined
  }

  /** Has the tool by which the user signs in, in place of tools that cannot be listed yet (SIGNIN5). */
  #askToSignIn(page: string | undefined): void {
    if (page === undefined || this.#names.size > 0) return
    const signIn = (returned: unknown) => this.signIn(returned)
    const tool = signInTool({ server: this.name, prefix: this.options.prefix, page, signIn })
    this.#tools = listedBy([tool], () => this.#tools)
    this.options.onTools?.(this.#tools)
  }

  /** Makes the tools of a listing the current ones. */
  #list(connection: McpConnection, listed: ReadonlyArray<McpTool>): void {
    if (this.#current !== connection) return
    this.#names = new Set(listed.map(({ name }) => name))
    const about = { ...this.options, server: this.name, gone: (name: string) => this.#gone(name) }
    const own = toolsOf(listed, about, async (call) => (await this.#connectedFor(call)).call(call))
    const has = connection.client.getServerCapabilities()
    this.#tools = listedBy(
      [...own, ...attachmentTools(has, this.options, own, this, (run) => this.#ask(run))],
      () => this.#tools
    )
    this.options.onTools?.(this.#tools)
  }

  /** What there is in place of a tool that the server took away. */
  #gone(name: string): string | undefined {
    if (this.#names.has(name)) return undefined
    const left = this.#tools.map((tool) => tool.name)
    const listed = boundedText(left.join(", "), { maxTextCharacters: 2_000 })
    return `${this.name} no longer has the tool ${name}; ${left.length === 0 ? "it has none" : `it has ${listed}`}`
  }

  listen(connection: McpConnection, lost: (error: McpError) => void): void {
    connection.listen({
      toolsChanged: (tools) => this.#list(connection, tools),
      lost: (error) => {
        this.gone(connection)
        lost(error)
      }
    })
  }

  gone(connection: McpConnection): void {
    if (this.#current === connection) this.#current = undefined
  }

  async #ask<A>(run: (client: Client) => Promise<A>): Promise<A> {
    return this.#connected().ask(run)
  }

  #connected(): McpConnection {
    if (this.#current === undefined) throw new McpError("not_connected", this.name)
    return this.#current
  }

  /** The connection of a call (MCPH3, MCPH8). */
  async #connectedFor({ answered }: McpCall): Promise<McpConnection> {
    const pid = this.#pid
    const { status, signIn } = this.health
    const isStarting = status === "waiting" && signIn === undefined && this.#current === undefined
    // The race: (1) the start begins; (2) the answer comes. It waits for this start, and not for the one after it.
    if (answered !== undefined && isStarting && pid !== undefined)
      await this.#ended(pid, this.#starting ?? this.#opening.promise)
    return this.#connected()
  }

  #hosted(pid: Pid): Pid {
    this.#pid = pid
    return pid
  }

  #startOptions(): GenServer.StartOptions {
    return { label: `MCP ${this.name}`, trapExit: true }
  }
}

const nameOf = (server: McpServerParams): string => {
  if ("command" in server) return server.command.split(/[\\/]/).at(-1) ?? server.command
  return "url" in server ? new URL(server.url).host : "server"
}
