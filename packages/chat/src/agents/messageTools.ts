/**
 * The tools by which an agent sends a message to another one.
 *
 * Owns: nothing. The live chat of the call sends the message.
 *
 * TELL5. Only an agent whose tools have one of these can send messages. The `to` of the tool lists whom it may address.
 */
import * as z from "zod"
import { findingsFor, ToolError, unknownOption, ValidationError } from "../errors/index.ts"
import { type AgentMessage, make, type Tool } from "../tool/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"

/** The words of `to` that name no agent. */
export const addresseeWords = ["parent", "children", "siblings", "team"] as const

/** Whom a tool may address: the agent that called this one, those that it called, those that its caller called, its team, or agents by name. */
type Addressees = ReadonlyArray<(typeof addresseeWords)[number] | (string & {})>

/** The tool of messages. */
export interface MessageOptions {
  /** The name of the tool. Default: `tell`. */
  readonly name?: string | undefined
  /** Whom it may address. Default: `["parent", "children"]`. */
  readonly to?: Addressees | undefined
  /** Whether a message joins the running turn of the other agent, or waits for the end of that turn. Default: `"steer"`, it joins. */
  readonly whenBusy?: "steer" | "queue" | undefined
}

/** The tool of questions. */
export interface AskOptions {
  /** The name of the tool. Default: `ask`. */
  readonly name?: string | undefined
  /** Whom it may address. Default: `["parent", "children"]`. */
  readonly to?: Addressees | undefined
  /** The deadline of an answer, in milliseconds; `Infinity` is no deadline. Default: 600,000, ten minutes. */
  readonly timeoutMs?: number | undefined
}

const parameters = z.strictObject({
  to: z.string().describe('The id of the agent, its name, a group, or "parent" for the agent that called you.'),
  message: z.string().min(1)
})

const shape = {
  name: z.unknown().optional(),
  to: z.array(z.string(), 'must_be_a_list of "parent", "children", "siblings", "team" or names of agents').optional(),
  whenBusy: z.enum(["steer", "queue"], 'must_be_"steer" or "queue"').optional(),
  timeoutMs: z.unknown().optional()
}

const messageOptions = z.strictObject(
  { name: shape.name, to: shape.to, whenBusy: shape.whenBusy },
  "must_be_an_object of options"
)
const askOptions = z.strictObject(
  { name: shape.name, to: shape.to, timeoutMs: shape.timeoutMs },
  "must_be_an_object of options"
)

const usual: Addressees = ["parent", "children"]

/**
 * Makes the tool by which an agent sends another one a message. Its result is the receipt: `delivered`, `pending`, or `refused` with the
 * reason.
 *
 * **Errors**: throws a `ValidationError` (`invalid_tool`) for invalid options.
 */
export const message = (given: MessageOptions = {}): Tool => {
  check(messageOptions, given)
  const { name = "tell", to = usual, whenBusy = "steer" } = given
  const description = "Sends a message to another agent. The result is its receipt. The agent does not answer here."
  return messageTool({ name, description, timeoutMs: undefined }, { kind: "tell", allowed: to, whenBusy })
}

/**
 * Makes the tool by which an agent asks another one, and waits for its answer, which is the result.
 *
 * **Errors**: throws a `ValidationError` (`invalid_tool`) for invalid options.
 */
export const ask = (given: AskOptions = {}): Tool => {
  check(askOptions, given)
  const { name = "ask", to = usual, timeoutMs = 600_000 } = given
  const description = "Asks another agent, waits for its answer, and returns it."
  return messageTool({ name, description, timeoutMs }, { kind: "ask", allowed: to, whenBusy: "queue" })
}

const messageTool = (
  {
    name,
    description,
    timeoutMs
  }: { readonly name: string; readonly description: string; readonly timeoutMs: number | undefined },
  how: Pick<AgentMessage, "kind" | "allowed" | "whenBusy">
): Tool => {
  const made = make({
    name,
    description,
    parameters,
    timeoutMs,
    // The chat of the message has its own permissions. A message that is sent again is the same message.
    metadata: { readOnly: true },
    onUnknown: "retry",
    // Messages to one agent keep their order.
    key: ({ to }) => `${name}/${String(to)}`,
    handler: async (args, { chat, idempotencyKey: key, signal, toolCall, progress }) => {
      if (chat?.message === undefined) {
        const problem = `${name} needs a chat of a Troupe with agents`
        const fields = { message: problem, toolName: name, toolCallId: toolCall.id }
        return HandlerResult.error(new ToolError("not_found", fields))
      }
      return chat.message({
        ...how,
        to: String(args["to"]),
        text: String(args["message"]),
        key,
        toolCall,
        signal,
        progress
      })
    }
  })
  return { ...made, addresses: how.allowed }
}

const check = (options: typeof messageOptions | typeof askOptions, input: unknown): void => {
  const found = findingsFor(options, input, (part) => unknownOption(part, Object.keys(options.shape)))
  if (found.length > 0) throw new ValidationError("invalid_tool", found)
}
