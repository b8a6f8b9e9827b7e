/** A call of a tool of a server, and how it ends. */
import type { CallToolResult, ElicitRequest, ElicitResult } from "@modelcontextprotocol/client"
import type { Tool } from "@troupe/chat/tools"

/** A question of a server, as the protocol has it. */
export type Asked = ElicitRequest["params"]

/** What a call that asked goes on with: whether it is still open at the server, or the state that the server gets back. */
export interface AskedState {
  readonly open?: boolean | undefined
  readonly requestState?: string | undefined
  /** Whether the call is made anew: the server has refused it until the user opens a page. */
  readonly again?: boolean | undefined
  /** The answers of the program to what a person is not asked. */
  readonly responses?: Readonly<Record<string, unknown>> | undefined
}

/** A call of a tool, and its handler's context. */
export interface McpCall extends Pick<Tool.ToolContext, "toolCall" | "signal" | "progress"> {
  readonly name: string
  readonly args: Record<string, unknown>
  /** The same for every run of the call. */
  readonly key: string
  /** Whether the call can wait for the answers of a person. */
  readonly mayWait: boolean
  /** The answers that the call goes on with. */
  readonly answered?:
    | { readonly answers: Readonly<Record<string, ElicitResult>>; readonly state: AskedState }
    | undefined
}

/** How a call ends for now: with its result, or with what its server asks first. */
export type CallEnd =
  | { readonly type: "result"; readonly result: CallToolResult }
  | { readonly type: "asks"; readonly requests: Readonly<Record<string, Asked>>; readonly state: AskedState }
