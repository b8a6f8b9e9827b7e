/** The options and the handle of an MCP server. */
import type { AuthProvider, OAuthClientProvider, Transport } from "@modelcontextprotocol/client"
import type { ContentPart, Message } from "@troupe/chat/messages"
import type { Tool } from "@troupe/chat/tools"
import type { ChildSpec, Pid } from "@troupe/otp"
import type { Elicit } from "./elicitation.ts"
import type { Sampling } from "./sampling.ts"
import type { SignIn } from "./signIn.ts"

/**
 * The address of a server.
 *
 * - `command`: a program that is started and used over its standard streams. Its environment has only `env` and the few
 *   variables the MCP SDK passes on (such as `PATH` and `HOME`)
 * - `url`: a server with streamable HTTP, or, if it refuses that, with the older HTTP and SSE
 * - `transport`: makes a transport of the MCP SDK, for anything else; called once for each connection
 */
export type McpServerParams =
  | {
      readonly command: string
      readonly args?: ReadonlyArray<string> | undefined
      readonly env?: Readonly<Record<string, string>> | undefined
      readonly cwd?: string | undefined
    }
  | {
      readonly url: string | URL
      readonly headers?: Readonly<Record<string, string>> | undefined
      readonly fetch?: typeof fetch | undefined
      /** The sign-in of a user by OAuth, or a provider of the MCP SDK. Default: only `headers`. */
      readonly auth?: SignIn | AuthProvider | OAuthClientProvider | undefined
    }
  | { readonly transport: () => Transport }

/** A folder or a file that the server may work in. */
export interface McpRoot {
  /** A `file:` URI. */
  readonly uri: string
  /** The displayed name. Default: none. */
  readonly name?: string | undefined
}

/** A log message of a server. */
export interface McpLog {
  /** The severity, from `debug` to `emergency`. */
  readonly level: string
  /** The part of the server that logs. */
  readonly logger?: string | undefined
  /** The message: a text or any JSON value. */
  readonly data: unknown
}

/** What the host decides about one tool, in place of the hints of the server. */
export interface McpToolSettings {
  /** Whether the calls change something. Default: `"read"` with `readOnlyHint`, else `"write"`. */
  readonly effect?: "read" | "write" | undefined
  /** How a call is handled whose outcome is unknown. Default: `"retry"` with `idempotentHint`, else `"ask"`. */
  readonly onUnknown?: Tool.Tool["onUnknown"] | undefined
  /** The deadline of one call in milliseconds. Default: that of the chat. */
  readonly timeoutMs?: number | undefined
  /** How long one call may go without progress, in milliseconds. Default: that of the chat. */
  readonly idleTimeoutMs?: number | undefined
  /**
   * When a call is a background task of the chat. The server then makes a task of the protocol of it, if it can. Default: `true` for a tool
   * whose server requires tasks, else never.
   */
  readonly background?: true | { readonly afterMs: number } | undefined
  /** Whether the model finds the tool with `find_tools` before it gets it. Default: `deferred` of the server. */
  readonly deferred?: boolean | undefined
}

/** A tool as its server describes it. These texts and hints are not verified. */
export interface McpToolInfo {
  /** The server's own name of the tool. */
  readonly name: string
  /** The description for the model. */
  readonly description: string
  /** The hints of the server. */
  readonly annotations: Readonly<Record<string, unknown>>
}

/** The bounds of what a server may describe. */
export interface McpBounds {
  /** The number of tools; further ones are left out. Default: 512. */
  readonly maxTools?: number | undefined
  /** The characters of the schema of one tool; a larger one becomes that of any object. Default: 65,536. */
  readonly maxSchemaCharacters?: number | undefined
  /** The levels of a schema; deeper parts accept any value. Default: 64. */
  readonly maxSchemaDepth?: number | undefined
  /** The characters of a description and of the instructions; the rest is cut off. Default: 16,384. */
  readonly maxTextCharacters?: number | undefined
}

/** When a lost connection is opened again. */
export interface McpRestarts {
  /**
   * The starts in a row that may fail or end within a minute. After the last one the process ends with an `McpError`. With 1 a lost
   * connection ends the process at once. Default: 10.
   */
  readonly maxStarts?: number | undefined
  /** The milliseconds before the first new start; each further wait is twice as long. Default: 500. */
  readonly firstDelayMs?: number | undefined
  /** The longest wait in milliseconds. Default: 30,000. */
  readonly maxDelayMs?: number | undefined
}

/** How a server is reached, named and used. */
export interface McpOptions {
  /** The server's name in labels and errors. Default: the program's name or the URL's host. */
  readonly name?: string | undefined
  /** Put before the name of every tool, as it is. Default: none. */
  readonly prefix?: string | undefined
  /** How long the handshake and the listing of tools may each take, in milliseconds. Default: 30,000. */
  readonly timeoutMs?: number | undefined
  /**
   * The protocol that the server speaks. `"older"` begins with the handshake at once; `"auto"` asks first, for which a program is started
   * once more, and only at the first connection. Default: `"auto"`.
   */
  readonly protocol?: "auto" | "older" | undefined
  /** When a lost connection is opened again. Default: the defaults of `McpRestarts`. */
  readonly restarts?: McpRestarts | undefined
  /** Decides about each tool: its settings, or `false` to leave it out. Default: the hints of the server. */
  readonly tool?: ((tool: McpToolInfo) => McpToolSettings | false | undefined) | undefined
  /** Whether the model finds the tools of the server with `find_tools` before it gets them. Default: `false`. */
  readonly deferred?: boolean | undefined
  /** Whether the model gets the tools `list_resources` and `read_resource`, if the server has resources. Default: `false`. */
  readonly resourceTools?: boolean | undefined
  /** Whether the model gets the tools `list_prompts` and `get_prompt`, if the server has prompts. Default: `false`. */
  readonly promptTools?: boolean | undefined
  /** The folders that the server may work in. Default: the server cannot ask for them. */
  readonly roots?: ReadonlyArray<McpRoot> | undefined
  /**
   * Answers the questions of the server during a call; the time counts against the deadlines of the call. With `false` the server cannot
   * ask. Default: in a live chat the call waits for the answer of a person; any other call cancels the question.
   */
  readonly elicit?: Elicit | false | undefined
  /** Whether the server may ask the model of the chat during a call. The request counts for the budget of the chat. Default: it may not. */
  readonly sampling?: Sampling | undefined
  /** Called with the log messages of the server. Default: no call. */
  readonly onLog?: ((log: McpLog) => void) | undefined
  /** The least severe level that the server sends. Default: the server's own. */
  readonly logLevel?: "debug" | "info" | "notice" | "warning" | "error" | "critical" | "alert" | "emergency" | undefined
  /** The bounds of what the server may describe. Default: the defaults of `McpBounds`. */
  readonly bounds?: McpBounds | undefined
  /** Called with the tools after each listing: on each connect, and when the server reports a change. Default: no call. */
  readonly onTools?: ((tools: ReadonlyArray<Tool.Tool>) => void) | undefined
}

/**
 * Whether a server can be used.
 *
 * - `connected`: it can
 * - `waiting`: its connection was lost, and is opened again after a wait; or with `signIn` after a sign-in
 * - `stopped`: it was stopped, or its process has ended
 */
export interface McpHealth {
  /** Whether calls reach the server. */
  readonly status: "connected" | "waiting" | "stopped"
  /** The starts in a row that failed or ended early. */
  readonly failedStarts: number
  /** Why the last connection was lost. */
  readonly error?: string | undefined
  /** The page where the user must sign in before the server can be used. */
  readonly signIn?: string | undefined
}

/** A resource of a server, or with `uriTemplate` a family of resources. */
export interface McpResource {
  /** The URI; absent for a template. */
  readonly uri?: string | undefined
  /** The template of the URIs, as RFC 6570 describes it. */
  readonly uriTemplate?: string | undefined
  /** A short name for people. */
  readonly name: string
  /** What the resource is. */
  readonly description?: string | undefined
  /** The media type. */
  readonly mimeType?: string | undefined
}

/** A prompt of a server. */
export interface McpPrompt {
  /** The word by which `server.prompt` fills it in. */
  readonly name: string
  /** What the prompt is for. */
  readonly description?: string | undefined
  /** The arguments that the prompt takes. */
  readonly arguments?:
    | ReadonlyArray<{
        readonly name: string
        readonly description?: string | undefined
        readonly required?: boolean | undefined
      }>
    | undefined
}

/**
 * An MCP server.
 *
 * **Details**: the hints of a server about its tools are not verified.
 *
 * **Errors**: the functions that ask the server reject with an `McpError` while it is not connected, and with the error of the MCP
 * SDK when the server refuses.
 */
export interface McpServer {
  /** The name in labels and errors. */
  readonly name: string
  /**
   * Those of the last listing. They stay usable when the server is started again; while it is down their calls fail with an
   * error.
   */
  readonly tools: ReadonlyArray<Tool.Tool>
  /** What the server wrote for the model about its use, for the instructions of a chat. */
  readonly instructions: string | undefined
  /** Whether the server can be used now. The observer shows it as the state of the process. */
  readonly health: McpHealth
  /** The process that hosts the connection, once there is one. */
  readonly pid: Pid | undefined
  /** Puts the server under a supervisor, as a permanent child. Its restarts wait for the server, and never fail. */
  readonly childSpec: ChildSpec.ChildSpec
  /** Lists the resources and their templates. */
  readonly resources: () => Promise<ReadonlyArray<McpResource>>
  /** Reads a resource, as the parts of a message. */
  readonly read: (uri: string) => Promise<ReadonlyArray<ContentPart>>
  /** Lists the prompts. */
  readonly prompts: () => Promise<ReadonlyArray<McpPrompt>>
  /** Fills in a prompt, as messages. */
  readonly prompt: (name: string, args?: Readonly<Record<string, string>>) => Promise<ReadonlyArray<Message.Message>>
  /** Completes the value of an argument of a prompt, or of a part of a resource template. */
  readonly complete: (
    of: { readonly prompt: string } | { readonly uriTemplate: string },
    argument: { readonly name: string; readonly value: string }
  ) => Promise<ReadonlyArray<string>>
  /** Replaces the roots and notifies the server. */
  readonly setRoots: (roots: ReadonlyArray<McpRoot>) => Promise<void>
  /**
   * Completes a sign-in with the URL that the user was sent back to, and connects a server that waited for it. The answer to the wait of a
   * call does the same.
   */
  readonly signIn: (returned: string | URL) => Promise<void>
  /**
   * Ends the process with `shutdown`. A supervisor then restarts a permanent child: terminate the child by the supervisor
   * instead.
   */
  readonly stop: () => Promise<void>
}
