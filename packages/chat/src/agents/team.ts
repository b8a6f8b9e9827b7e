/**
 * The team of an agent: its members, its groups, and the tools by which its model gives the members tasks.
 *
 * TEAM1. A chat of an agent with a team has one chat of each member, which it keeps. The tool of the member, a message and a question are all
 *        for that chat.
 */
import * as z from "zod"
import { type Finding, isRecord, ToolError, wholeNumber } from "../errors/index.ts"
import { make, type Tool } from "../tool/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"
import { unknownAgent } from "./unknownAgent.ts"

/** The agents that one agent leads. A supervisor restarts those whose chats crash while they work. */
export interface Team {
  /** The names of the agents. Each chat of the leader has one chat of each, which it keeps. */
  readonly members: ReadonlyArray<string>
  /** Members by the name of a group, which a message can be for. Default: none. The group `team` has the leader and all members. */
  readonly groups?: Readonly<Record<string, ReadonlyArray<string>>> | undefined
  /**
   * Which working members start again when one crashes: that one, all, or that one and those after it in `members`. Default:
   * `"oneForOne"`.
   */
  readonly strategy?: "oneForOne" | "oneForAll" | "restForOne" | undefined
  /** How many crashes `maxSeconds` may have. Default: 3. The next one ends the work of all members. */
  readonly maxRestarts?: number | undefined
  /** The seconds in which crashes are counted. Default: 5. */
  readonly maxSeconds?: number | undefined
}

/** The most members of a team. */
const mostMembers = 16

/** The type of the option. */
export const team = z.lazy(() =>
  z.strictObject(
    {
      members: z
        .array(z.string(), "must_be_a_list of names of agents")
        .min(1, "must_have_a_member")
        .max(mostMembers, `must_have_at_most ${mostMembers} members`)
        .readonly(),
      groups: z
        .record(z.string(), z.array(z.string()).readonly(), "must_be_an_object of lists of members")
        .readonly()
        .optional(),
      strategy: z
        .enum(["oneForOne", "oneForAll", "restForOne"], 'must_be_"oneForOne", "oneForAll" or "restForOne"')
        .optional(),
      maxRestarts: wholeNumber.optional(),
      maxSeconds: z.number("must be a number more than 0").positive("must be a number more than 0").optional()
    },
    "must_be_an_object with members"
  )
)

/** The names that a message can be for beside those of agents and groups. */
const taken = new Set(["parent", "team"])

/** A finding for each part of a team that cannot be used. */
export const teamFindings = (
  name: string,
  given: unknown,
  agentNames: ReadonlySet<string>,
  base: { readonly tools?: unknown }
): ReadonlyArray<Finding> => {
  const { success, data } = team.safeParse(isRecord(given) ? given["team"] : undefined)
  if (!success || !isRecord(given)) return []
  const { members, groups = {} } = data
  const found: Array<Finding> = []
  const tools: unknown = given["tools"] ?? base.tools
  const toolNames = new Set(Array.isArray(tools) ? tools.map((tool: unknown) => isRecord(tool) && tool["name"]) : [])
  members.forEach((member, index) => {
    const field = ["team", "members", index]
    if (member === name) found.push({ field, reason: "is the agent itself" })
    else if (!agentNames.has(member)) found.push({ field, reason: unknownAgent(member, agentNames) })
    else if (members.indexOf(member) < index) found.push({ field, reason: "is named twice" })
    else if (toolNames.has(member)) found.push({ field, reason: `a tool is named ${member}` })
  })
  for (const [group, of] of Object.entries(groups)) {
    const field = ["team", "groups", group]
    if (taken.has(group) || agentNames.has(group)) found.push({ field, reason: "is the name of another addressee" })
    const other = of.find((member) => !members.includes(member))
    if (other !== undefined) found.push({ field, reason: `${other} is no member of the team` })
  }
  return found
}

const parameters = z.strictObject({
  input: z.string().describe("The task, with all that the agent needs for it.")
})

/** The tool by which the leader gives a member a task (TEAM1). */
export const memberTool = (member: string, description = ""): Tool => ({
  ...make({
    name: member,
    description: `Gives a task to the agent ${member} of your team, who remembers earlier ones.${description === "" ? "" : ` ${description}`}`,
    parameters,
    timeoutMs: 600_000,
    background: true,
    metadata: { readOnly: true },
    onUnknown: "retry",
    key: () => member,
    handler: async (args, { chat, idempotencyKey: key, signal, toolCall, progress }) =>
      chat?.subagent?.({
        agent: member,
        input: String(args["input"]),
        isMember: true,
        key,
        toolCall,
        maxDepth: 3,
        maxChildren: Infinity,
        events: false,
        signal,
        progress
      }) ??
      HandlerResult.error(
        new ToolError("not_found", {
          message: `${member} needs a chat of a Troupe`,
          toolName: member,
          toolCallId: toolCall.id
        })
      )
  }),
  subagent: member
})
