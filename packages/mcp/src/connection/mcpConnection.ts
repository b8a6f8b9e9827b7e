/**
 * One connection to an MCP server.
 *
 * Owns: the SDK's client and its transport (and with it the server's OS process, for a stdio server). Does not own the open calls
 * (`openCalls`), nor restarts: a lost connection stays lost, and a restart makes a new one.
 *
 * MCPC1. `close` closes the transport once, however many callers call it; every call resolves when the transport is closed.
 * MCPC2. `lost` is called at most once, and never after `close` was called.
 * MCPC3. A call leaves no listener on its caller's signal, and a completed call is never cancelled.
 */
import {
  type CallToolResult,
  type Client,
  type CreateMessageResult,
  type ElicitRequestURLParams,
  type InputRequiredResult,
  isInputRequiredResult,
  LOG_LEVEL_META_KEY,
  type PriorDiscovery,
  type Progress,
  SdkHttpError,
  SseError,
  type Tool,
  UrlElicitationRequiredError
} from "@modelcontextprotocol/client"
import { answeredByHost, elicited, embeddedIn, inputOf, isAskable } from "./elicitation.ts"
import { clientFor } from "./mcpClient.ts"
import type { Asked, CallEnd, McpCall, SampleParams } from "./mcpCall.ts"
import { McpError } from "./McpError.ts"
import { lossOf, type OpenTransport, transportOf } from "./mcpTransport.ts"
import { OpenCalls, type OpenRequest } from "./openCalls.ts"
import type { McpOptions, McpRoot, McpServerParams } from "./mcpServer.ts"
import { questionAbout, refused, verdictOn } from "./sampling.ts"
import { callAsTask, taskEnd, taskIn, withTasks } from "./tasks.ts"
import { isSignIn, type SignInProvider, signInPage, SignInRequired } from "./signIn.ts"

/** The maximum of the SDK: calls have deadlines of their own. */
const noTimeout = 2_147_483_647

/** How often a call goes on without the answer of a person. */
const mostRounds = 10

/** The callbacks of a connection. */
export interface ConnectionEvents {
  readonly toolsChanged: (tools: ReadonlyArray<Tool>) => void
  readonly lost: (error: McpError) => void
}

export class McpConnection {
  readonly #name: string
  readonly #server: McpServerParams
  readonly #options: McpOptions
  readonly #timeoutMs: number
  readonly #signIn: SignInProvider | undefined
  #client: Client | undefined
  #open: OpenTransport | undefined
  #roots: ReadonlyArray<McpRoot>
  #events: ConnectionEvents | undefined
  #lost: McpError | undefined
  #closing: Promise<void> | undefined
  readonly #calls = new OpenCalls()

  constructor(name: string, server: McpServerParams, options: McpOptions, signIn: SignInProvider | undefined) {
    this.#name = name
    this.#server = server
    this.#options = options
    this.#timeoutMs = options.timeoutMs ?? 30_000
    this.#roots = options.roots ?? []
    this.#signIn = signIn
  }

  /** The SDK's client, for what the server said when it connected. */
  get client(): Client {
    if (this.#client === undefined) throw this.#lost ?? new McpError("connection_lost", this.#name)
    return this.#client
  }

  /** The protocol that the server speaks, for the next connection. */
  get prior(): PriorDiscovery {
    const discover = this.client.getDiscoverResult()
    return discover === undefined ? { kind: "legacy" } : { kind: "modern", discover }
  }

  /** Sets the callbacks. A loss before that is reported at once. */
  listen(events: ConnectionEvents): void {
    this.#events = events
    if (this.#lost !== undefined) events.lost(this.#lost)
  }

  /** Connects and lists the tools. On a failure, closes the connection and rejects with an `McpError`. */
  async open(prior?: PriorDiscovery): Promise<ReadonlyArray<Tool>> {
    try {
      await this.#signedIn(() => this.#connect(prior))
      const { onLog, logLevel } = this.#options
      const logs =
        this.client.getServerCapabilities()?.logging !== undefined && this.client.getProtocolEra() === "legacy"
      if (logs && onLog !== undefined && logLevel !== undefined) await this.client.setLoggingLevel(logLevel)
      const { tools } = await this.ask((client) => client.listTools({}, { timeout: this.#timeoutMs }))
      return tools
    } catch (cause) {
      await this.close()
      const reason = signInPage(cause) === undefined ? "connection_failed" : "sign_in_required"
      throw new McpError(reason, this.#name, { cause, output: this.#open?.complaints() ?? "" })
    }
  }

  /** Sends a request, again after each sign-in that it needs. */
  async ask<A>(run: (client: Client) => Promise<A>): Promise<A> {
    try {
      return await this.#signedIn(() => run(this.client))
    } catch (error) {
      const loss = lossOf(error)
      throw loss === undefined ? error : new McpError(loss, this.#name, { cause: error })
    }
  }

  /** Calls a tool, or goes on with a call that asked; aborting the signal cancels the call at the server. */
  async call(call: McpCall): Promise<CallEnd> {
    call.signal.throwIfAborted()
    try {
      const { answered } = call
      if (answered?.state.open !== true) return await this.#calls.begin(call, (open) => this.#request(open))
      const end = this.#calls.resume(call, answered.answers)
      if (end === undefined) throw new McpError("connection_lost", this.#name)
      return await end
    } catch (error) {
      if (error instanceof SdkHttpError && error.status === 404) this.#lose(error)
      throw error
    }
  }

  /** Sends a call, again with what the program answers by itself, until it ends or a person must answer. */
  async #request({ call, cancel, current }: OpenRequest): Promise<CallEnd> {
    const { name, args, answered, mayWait, definition } = call
    const options = {
      ...(definition === undefined ? {} : { toolDefinition: definition }),
      signal: cancel,
      timeout: noTimeout,
      onprogress: (at: Progress) => current().progress(at),
      allowInputRequired: mayWait && this.#options.elicit === undefined
    }
    if (answered !== undefined && Object.values(answered.answers).some(({ action }) => action !== "accept")) {
      if (answered.state.again === true) throw new Error("The user did not open the page that the server requires")
    }
    if (answered?.state.signIn === true) await this.finishSignIn(answered.returned)
    const answers = await this.#answersTo(call)
    const rules = {
      roots: { roots: this.#roots.map((root) => ({ ...root })) },
      sample: (sampling: SampleParams) => this.#sampled(current(), sampling)
    }
    const following = {
      options,
      ask: <A>(run: (client: Client) => Promise<A>) => this.ask(run),
      embedded: (asked: InputRequiredResult) => embeddedIn(asked, rules),
      answers: (requests: Readonly<Record<string, Asked>>) =>
        this.#options.elicit === undefined && current().mayWait && Object.keys(requests).length > 0
          ? undefined
          : answeredByHost(this.#options.elicit, requests, {
              server: this.#name,
              toolCalls: this.#calls.running,
              signal: cancel
            })
    }
    if (answered?.state.task !== undefined)
      return taskEnd(answered.state.task, following, { ...answered.state.responses, ...answers })
    let more = answered?.state.again === true ? undefined : inputOf(answered?.state, answers)
    for (let round = 0; round <= mostRounds; round++) {
      const params = { name, arguments: args, ...this.#logMeta(), ...more }
      const send = () =>
        this.ask<unknown>((client) =>
          call.asTask && client.getProtocolEra() === "legacy"
            ? callAsTask(client, params, options)
            : client.callTool(params, options)
        )
      const result = await this.#askedFirst(call, send)
      if (result instanceof UrlElicitationRequiredError || result instanceof SignInRequired) {
        const requests = Object.fromEntries(this.#pagesOf(result).map((asked, at) => [`page${at}`, asked]))
        return { type: "asks", requests, state: { again: true, signIn: result instanceof SignInRequired } }
      }
      const task = taskIn(result)
      if (task !== undefined) return taskEnd(task, following)
      if (!isInputRequiredResult(result)) return { type: "result", result: result as CallToolResult }
      const { requests, state } = await embeddedIn(result, rules)
      if (Object.keys(requests).length > 0) return { type: "asks", requests, state }
      more = inputOf(state)
    }
    throw new Error(`The server asked ${mostRounds} times without an end`)
  }

  /** The answers for the server: what a person answered, and the replies of the model that a person allowed. */
  async #answersTo({ answered, sample }: McpCall): Promise<Readonly<Record<string, unknown>> | undefined> {
    if (answered === undefined) return undefined
    const answers: Record<string, unknown> = { ...answered.answers }
    for (const [id, params] of Object.entries(answered.state.samples ?? {})) {
      if (answered.answers[id]?.action !== "accept") throw refused()
      answers[id] = await sample(params)
    }
    return answers
  }

  /** The reply of the model, or the question to a person that comes first (SAMPLE1). */
  async #sampled(
    { toolCall, mayWait, sample }: McpCall,
    params: SampleParams,
    cancel?: AbortSignal
  ): Promise<{ readonly response: CreateMessageResult } | { readonly ask: Asked }> {
    const verdict = await verdictOn(this.#options.sampling, params, { server: this.#name, toolCall })
    if (verdict === "allow") return { response: await sample(params, cancel) }
    const ask = questionAbout(this.#name, params)
    if (verdict === "suspend" && mayWait && isAskable(ask)) return { ask }
    throw refused()
  }

  /** Answers a request to the model that comes beside its call. */
  async #sample(params: SampleParams, cancel: AbortSignal): Promise<CreateMessageResult> {
    const before = this.#calls.asking()
    if (before === undefined) throw refused()
    const end = await this.#sampled(before, params, cancel)
    if ("response" in end) return end.response
    const { action } = await this.#calls.ask(end.ask, false, cancel)
    const call = this.#calls.asking()
    if (action !== "accept" || call === undefined) throw refused()
    return call.sample(params, cancel)
  }

  /** Replaces the roots and notifies the server. */
  async setRoots(roots: ReadonlyArray<McpRoot>): Promise<void> {
    this.#roots = roots
    if (this.#options.roots !== undefined && this.client.getProtocolEra() === "legacy")
      await this.client.sendRootsListChanged()
  }

  /** Closes the connection: ends the session and the server's OS process. */
  close(): Promise<void> {
    this.#closing ??= this.#closeTransport().catch(() => {})
    return this.#closing
  }

  async #closeTransport(): Promise<void> {
    this.#calls.clear()
    await this.#open?.goodbye()
    await this.#client?.close()
    await this.#open?.transport.close()
  }

  /** Connects by the newer HTTP first, and by the older HTTP and SSE to a server that refuses that. */
  async #connect(prior: PriorDiscovery | undefined, isOld = false): Promise<void> {
    try {
      await this.#connectBy(transportOf(this.#server, this.#auth(), isOld), prior)
    } catch (error) {
      if (isOld || !("url" in this.#server) || !refusesPost(error)) throw error
      await this.#connect({ kind: "legacy" }, true)
    }
  }

  async #connectBy(open: OpenTransport, prior: PriorDiscovery | undefined): Promise<void> {
    const client = clientFor(this.#options, {
      name: this.#name,
      calls: this.#calls,
      roots: () => this.#roots,
      sample: (params, cancel) => this.#sample(params, cancel),
      toolsChanged: (tools) => this.#events?.toolsChanged(tools)
    })
    this.#client = client
    this.#open = open
    const ours = (): boolean => this.#client === client
    await client.connect(open.transport, { timeout: this.#timeoutMs, ...(prior === undefined ? {} : { prior }) })
    withTasks(open.transport)
    if (this.#closing !== undefined) await client.close()
    client.onclose = () => ours() && this.#lose()
    client.onerror = (error) => ours() && endsConnection(error) && this.#lose(error)
  }

  /** Runs a call, and again when the user has opened the pages that the server requires first. Returns the error to a call that waits. */
  async #askedFirst<A>(
    { signal, mayWait }: McpCall,
    run: () => Promise<A>
  ): Promise<A | UrlElicitationRequiredError | SignInRequired> {
    const { elicit } = this.#options
    try {
      return await run()
    } catch (error) {
      if (!(error instanceof UrlElicitationRequiredError || error instanceof SignInRequired)) throw error
      if (elicit === undefined && mayWait) return error
      if (elicit === undefined || elicit === false) throw error
      const about = { server: this.#name, toolCalls: this.#calls.running, signal }
      for (const params of this.#pagesOf(error)) {
        const { action } = await elicited(elicit, params, about)
        if (action !== "accept") throw error
      }
      return run()
    }
  }

  /** The pages that the user has to open before a call. */
  #pagesOf(error: UrlElicitationRequiredError | SignInRequired): ReadonlyArray<ElicitRequestURLParams> {
    if (error instanceof UrlElicitationRequiredError) return error.elicitations
    const message = `Sign in to use ${this.#name}`
    return [{ mode: "url", message, url: error.url, elicitationId: "sign-in" }]
  }

  /** Completes a sign-in. Any answer but the URL that the user was sent back to says that the storage has the tokens. */
  async finishSignIn(returned: unknown): Promise<void> {
    const url = typeof returned === "string" || returned instanceof URL ? URL.parse(returned) : null
    const at = transportOf(this.#server, this.#auth(), false).signing
    if (url?.searchParams.has("state") === true && at !== undefined) await this.#signIn?.finish(url, at)
  }

  #auth() {
    if (this.#signIn !== undefined) return this.#signIn
    const auth = "url" in this.#server ? this.#server.auth : undefined
    return auth === undefined || isSignIn(auth) ? undefined : auth
  }

  #signedIn<A>(run: () => Promise<A>): Promise<A> {
    return this.#signIn === undefined ? run() : this.#signIn.signedIn(run, () => this.#open?.signing)
  }

  /** In the newer protocol each request names the level of its logs. */
  #logMeta(): { readonly _meta?: { readonly [LOG_LEVEL_META_KEY]: string } } {
    const { onLog, logLevel = "info" } = this.#options
    const isAsked = onLog !== undefined && this.#client?.getProtocolEra() === "modern"
    return isAsked ? { _meta: { [LOG_LEVEL_META_KEY]: logLevel } } : {}
  }

  #lose(cause?: Error): void {
    if (this.#closing !== undefined || this.#lost !== undefined) return
    const output = this.#open?.complaints() ?? ""
    this.#lost = new McpError("connection_lost", this.#name, {
      output,
      ...(cause === undefined ? {} : { cause })
    })
    this.#calls.clear()
    this.#events?.lost(this.#lost)
  }
}

/** Whether a transport is of no use from now on: the older HTTP and SSE has no session but its stream. */
const endsConnection = (error: Error): boolean =>
  error instanceof SseError || /reconnection attempts/i.test(error.message)

/** Whether a server refuses the newer HTTP: the older one answers a POST so. */
const refusesPost = (error: unknown): boolean => {
  if (error instanceof SdkHttpError) return error.status === 400 || error.status === 404 || error.status === 405
  return error instanceof Error && error.cause !== undefined && refusesPost(error.cause)
}
