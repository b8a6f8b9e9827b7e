/**
 * The tool that starts a child chat of an agent.
 *
 * Owns: nothing. The live chat of the call runs the child.
 *
 * SUB1. Each call of the tool without `agent` has a child of its own, which every run of that call finds again.
 * SUB2. A child is started only within the bounds of depth and width; otherwise the model reads which bound it met. A call that runs again
 *       continues its child all the same.
 */
import * as z from "zod"
import { findingsFor, flag, ToolError, unknownOption, ValidationError } from "../errors/index.ts"
import { make, type Tool } from "../tool/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"

/** The tool of a sub-agent. */
export interface SubagentOptions {
  /** The name of the tool. Default: the name of the agent. */
  readonly name?: string | undefined
  /** What the agent is for; the model that calls it reads this. Default: only the name of the agent. */
  readonly description?: string | undefined
  /**
   * How many chats may be below one another, under the chat of the user. Default: 3. A deeper call fails, and the model reads the
   * bound.
   */
  readonly maxDepth?: number | undefined
  /** How many children of one chat may run at once. Default: 8. A further call fails, and the model reads the bound. */
  readonly maxChildren?: number | undefined
  /** The deadline of one call, in milliseconds; `Infinity` is no deadline. Default: 600,000, ten minutes. */
  readonly timeoutMs?: number | undefined
  /** Whether the stream of the parent has the events of the child, and its view the child's text and calls. Default: `false`. */
  readonly events?: boolean | undefined
  /**
   * Whether a call becomes a background task, at once or after some milliseconds, as for any tool. The child of a task sends no
   * `events`. Default: it does not.
   */
  readonly background?: true | { readonly afterMs: number } | undefined
}

const count = z
  .number("must_be_a_positive_integer")
  .int("must_be_a_positive_integer")
  .min(1, "must_be_a_positive_integer")

const parameters = z.strictObject({
  input: z.string().describe("The task, with all that the agent needs for it."),
  agent: z
    .string()
    .optional()
    .describe("The id at the end of an earlier result, to continue with that agent. Without it a new agent begins.")
})

/** The options of every tool are checked with the tool. */
const shape = {
  name: z.unknown().optional(),
  description: z.string("must_be_a_text").optional(),
  maxDepth: count.optional(),
  maxChildren: count.optional(),
  timeoutMs: z.unknown().optional(),
  events: flag.optional(),
  background: z.unknown().optional()
} satisfies { readonly [Part in keyof Required<SubagentOptions>]: z.ZodType }

const options = z.strictObject(shape, "must_be_an_object of options")

/**
 * Makes a tool that starts an agent of the Troupe as a sub-agent: a chat of its own below the call. The child gets the `input`
 * of the call, and its last text is the result.
 *
 * **Details**: the child ends when its parent ends. After a restart of the parent the same call finds the same child, and
 * continues its turn.
 *
 * **Errors**: throws a `ValidationError` (`invalid_tool`) for invalid options. `Troupe.start` refuses a tool of an agent that it
 * does not have.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Fake, Troupe } from "@troupe/chat"
 * import { Agents } from "@troupe/chat/agents"
 *
 * const says = (text: string) => [{ text }, { finish: "stop" as const }]
 * const call = { id: "1", name: "research", arguments: { input: "How high is Kebnekaise?" } }
 * const boss = Fake.make({ scripts: [[{ toolCall: call }, { finish: "tool_calls" }], says("It is 2,097 metres high.")] })
 * const research = { adapter: Fake.make({ script: says("2,097 m") }) }
 *
 * const troupe = await Troupe.start({ adapter: boss, tools: [Agents.subagent("research")], agents: { research } })
 * const chat = await troupe.chat("c1")
 * await chat.send("How high is Sweden?").result()
 * String(chat.thread.messages[2]?.content).startsWith("2,097 m") // => true
 * await troupe.stop()
 * ```
 */
export const subagent = (agent: string, given: SubagentOptions = {}): Tool => {
  check(given)
  const { name = agent, description = "", maxDepth = 3, maxChildren = 8 } = given
  const { timeoutMs = 600_000, events = false, background } = given
  const made = make({
    name,
    description: `Gives a task to the agent ${agent}, and returns its answer.${description === "" ? "" : ` ${description}`}`,
    parameters,
    timeoutMs,
    background,
    // The permissions of the child judge what it does, and they are never looser than those of the call.
    metadata: { readOnly: true },
    onUnknown: "retry",
    // Calls with other tasks have no resource in common, except those for one agent.
    key: ({ input, agent: child }) => `${name}/${typeof child === "string" ? `~/${child}` : String(input)}`,
    handler: async (args, { chat, idempotencyKey: key, signal, toolCall, progress }) => {
      if (chat?.subagent === undefined) {
        const message = `${name} needs a chat of a Troupe: only there it can start a child`
        return HandlerResult.error(new ToolError("not_found", { message, toolName: name, toolCallId: toolCall.id }))
      }
      return chat.subagent({
        agent,
        input: String(args["input"]),
        child: typeof args["agent"] === "string" ? args["agent"] : undefined,
        key,
        toolCall,
        maxDepth,
        maxChildren,
        events,
        signal,
        progress
      })
    }
  })
  return { ...made, subagent: agent }
}

const check = (input: unknown): void => {
  const found = findingsFor(options, input, (part) => unknownOption(part, Object.keys(shape)))
  if (found.length > 0) throw new ValidationError("invalid_tool", found)
}
