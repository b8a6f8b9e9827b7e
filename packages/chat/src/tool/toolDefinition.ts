/** The parts of the definition of a tool that every kind of tool has. */
import type { OnUnknown, ProviderToolPart } from "./toolContract.ts"

/** The parts of a definition beside the parameters and the function. */
export interface Described {
  /** The name that the model calls: 1 to 64 letters, digits, `_` and `-`. */
  readonly name: string
  /** What the tool does, for the model. Default: empty. */
  readonly description?: string | undefined
  /** JSON Schema of the arguments, for Standard Schemas whose library cannot produce it. */
  readonly jsonSchema?: Readonly<Record<string, unknown>> | undefined
  /** The caller answers the calls of this tool. Default `false`. */
  readonly manual?: boolean | undefined
  /** Deadline of one call in milliseconds; overrides the step's `toolTimeoutMs`. */
  readonly timeoutMs?: number | undefined
  /** How long one call may go without `progress`, in milliseconds; overrides the step's `toolIdleTimeoutMs`. */
  readonly idleTimeoutMs?: number | undefined
  /** The program's own data about the tool. Default: empty. */
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  /**
   * The declaration of a provider's tool that the model gets, for tools that the provider declares and this program runs,
   * such as a computer or a shell: `openai.tools.shell({})` of the AI SDK's package, or its `id` and `args`. The arguments are
   * checked by `parameters`, or by the package's schema. A free text is `{ input }`.
   */
  readonly provider?: (ProviderToolPart & { readonly inputSchema?: unknown }) | undefined
  /** Whether the tool's calls change something. Default `"write"`. */
  readonly effect?: ("read" | "write") | undefined
  /** How a call is handled that may have run when the program ended. Default `"ask"`. */
  readonly onUnknown?: OnUnknown | undefined
  /**
   * Runs a call of a chat as a background task: its result at once is that the task runs, and its end is a message of the chat.
   * With `afterMs` only a call that still runs after so many milliseconds becomes a task. Default: no call does.
   */
  readonly background?: true | { readonly afterMs: number } | undefined
  /**
   * The model finds the tool with `find_tools` before it gets its description and schema. `group` is the heading of its name in the
   * list of these tools. Default: each request has the tool.
   */
  readonly deferred?: true | { readonly group: string } | undefined
}

/** The functions of a call's arguments. */
export interface Keyed<A> {
  /**
   * Whether a call waits for a person's decision (human in the loop), as `permissions.ask` with the answer `suspend` for this tool
   * alone. `permissions.ask` decides in place of it where there is one, and the modes `trusted` and `bypass` let each call run.
   * Default: no call waits.
   *
   * **Contract**: synchronous and without side effects; gets the arguments as the model wrote them. A call whose function throws waits.
   */
  readonly needsApproval?: boolean | ((args: A) => boolean) | undefined
  /**
   * Names the resource that a call uses: calls with different keys never conflict. Default: none, and such a call may
   * conflict with every other.
   *
   * **Contract**: synchronous and without side effects; gets valid arguments. A call whose key function throws, or returns
   * neither a string nor `undefined`, fails without running.
   */
  readonly key?: ((args: A) => string | undefined) | undefined
}
