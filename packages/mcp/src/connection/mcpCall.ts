/** A call of a tool of a server, and how it ends. */
import type {
  CallToolResult,
  CreateMessageRequest,
  CreateMessageResult,
  ElicitRequest,
  ElicitResult,
  Tool as McpTool
} from "@modelcontextprotocol/client"
import type { Tool } from "@troupe/chat/tools"

/** A question of a server, as the protocol has it. */
export type Asked = ElicitRequest["params"]

/** A request of a server to the model, as the protocol has it. */
export type SampleParams = CreateMessageRequest["params"]

/** What a call that asked goes on with: whether it is still open at the server, or the state that the server gets back. */
export interface AskedState {
  readonly open?: boolean | undefined
  readonly requestState?: string | undefined
  /** The task that the call has become, which asks. */
  readonly task?: string | undefined
  /** Whether the call is made anew: the server has refused it until the user opens a page. */
  readonly again?: boolean | undefined
  /** Whether the page is that of a sign-in. */
  readonly signIn?: boolean | undefined
  /** The answers of the program to what a person is not asked. */
  readonly responses?: Readonly<Record<string, unknown>> | undefined
  /** The requests to the model that a person is asked about, by the ids of the questions. */
  readonly samples?: Readonly<Record<string, SampleParams>> | undefined
}

/** A call of a tool, and its handler's context. */
export interface McpCall extends Pick<Tool.ToolContext, "toolCall" | "signal" | "progress"> {
  readonly name: string
  /** The definition of a tool with an output schema, without that: the SDK refuses a question of such a tool. */
  readonly definition?: McpTool | undefined
  readonly args: Record<string, unknown>
  /** The same for every run of the call. */
  readonly key: string
  /** Whether the call can wait for the answers of a person. */
  readonly mayWait: boolean
  /** Whether a server of the older protocol is asked to make a task of the call. */
  readonly asTask: boolean
  /** Sends a request of the server to the model of the chat. */
  readonly sample: (params: SampleParams, cancel?: AbortSignal) => Promise<CreateMessageResult>
  /** The answers that the call goes on with. */
  readonly answered?:
    | {
        readonly answers: Readonly<Record<string, ElicitResult>>
        readonly state: AskedState
        /** What a person answered to the page of a sign-in: the URL that the user was sent back to. */
        readonly returned?: unknown
      }
    | undefined
}

/** How a call ends for now: with its result, or with what its server asks first. */
export type CallEnd =
  | { readonly type: "result"; readonly result: CallToolResult }
  | {
      readonly type: "asks"
      readonly requests: Readonly<Record<string, Asked>>
      readonly state: AskedState
      /** Cancels a call that is still open at the server, if no answer comes. */
      readonly cancel?: (() => void) | undefined
    }
