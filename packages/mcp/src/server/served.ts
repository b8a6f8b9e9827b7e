/** The options of a server of agents and tools, and its callers. */
import type { McpServer } from "@modelcontextprotocol/server"
import type { RunningTroupe } from "@troupe/chat"
import type { Tool } from "@troupe/chat/tools"
import type { Tasks } from "./tasks.ts"

/** A caller of the server. */
export interface McpCaller {
  /** The owner of the conversations, as `authorize` of `@troupe/server` names it. */
  readonly owner: string
  /** What the owner may do beside chatting. `approve`: decide about calls that wait for a person. Default: nothing. */
  readonly may?: { readonly approve?: boolean | undefined } | undefined
}

/** A refusal, with its HTTP status. */
export interface McpDenied {
  /** 401 without a valid identity, 403 without permission. */
  readonly deny: 401 | 403
}

/** An agent that the server offers as a tool. */
export interface McpAgent {
  /** What the agent does, for the model of the client. */
  readonly description: string
  /** The name of the agent in the Troupe. Default: the agent that conversations of the Troupe begin with. */
  readonly agent?: string | undefined
}

/** What a server offers, and to whom. */
export interface McpServeOptions {
  /** The agents, by the names of their tools. Default: none. */
  readonly agents?: Readonly<Record<string, McpAgent>> | undefined
  /** Tools that run without a chat. Default: none. */
  readonly tools?: ReadonlyArray<Tool.Tool> | undefined
  /**
   * Whether a caller can list and read the conversations of its owner, as resources `troupe://conversations/{id}`: the 100 that were written
   * last are listed. Default: `false`.
   */
  readonly conversations?: boolean | undefined
  /** The name of the server. Default: `troupe`. */
  readonly name?: string | undefined
  /** The version of the server. Default: `0.1.0`. */
  readonly version?: string | undefined
  /** What the server is for, for the model of the client. Default: none. */
  readonly instructions?: string | undefined
  /** Authenticates the caller of each HTTP request; that of `Server.make` fits. Without it `fetch` refuses every request. */
  readonly authorize?: ((request: Request) => McpCaller | McpDenied | Promise<McpCaller | McpDenied>) | undefined
  /** The other origins whose pages may call the server. Default: none. */
  readonly origins?: ReadonlyArray<string> | undefined
  /** The host names of this server, without port. Default: any, but see `listen` of `@troupe/server/Node`. */
  readonly hosts?: ReadonlyArray<string> | undefined
  /**
   * Makes the Troupe's id of an owner's conversation. **Contract**: as that of `Server.make`: all ids of an owner, and no others, begin with
   * `chatId(owner, "")`. Default: that of `Server.make`.
   */
  readonly chatId?: ((owner: string, id: string) => string) | undefined
  /**
   * Adds resources, prompts and further tools of the MCP SDK. Called for each connection, and in the newer protocol for each request. A
   * tool that asks the client returns `inputRequired(…)` of the SDK, which works in both protocols. Default: nothing is added.
   */
  readonly register?: ((server: McpServer, caller: McpCaller) => void) | undefined
  /** The sessions at the same time. Default: 1,000. */
  readonly maxSessions?: number | undefined
  /** How long a session without a request is kept when others need its place, in milliseconds. Default: 1,800,000. */
  readonly sessionIdleMs?: number | undefined
  /**
   * How long a call of an agent may last before it becomes a task of the protocol, for a client of the newer protocol that takes tasks, in
   * milliseconds. A client of the older protocol asks for a task itself. Default: 10,000.
   */
  readonly taskAfterMs?: number | undefined
  /** The most bytes of a request's body. Default: 4,194,304. */
  readonly maxBodyBytes?: number | undefined
}

/** The Troupe and the options of a server, for one caller. */
export interface Serving {
  readonly troupe: RunningTroupe
  readonly options: McpServeOptions
  readonly caller: McpCaller
  readonly tasks: Tasks
  /** Aborted when the server closes. */
  readonly closing: AbortSignal
}

/** The id of an owner's conversation, as `@troupe/server` makes it. */
export const ownedId = (owner: string, id: string): string => {
  const escaped = owner.replaceAll(/[%/]|\p{Surrogate}/gu, (unit) =>
    unit === "%" ? "%25" : unit === "/" ? "%2F" : `%u${unit.charCodeAt(0).toString(16)}`
  )
  return `${escaped}/${id}`
}
