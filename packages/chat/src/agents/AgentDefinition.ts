/**
 * The definition of an agent, and its checks.
 *
 * @module
 */
import * as z from "zod"
import { type Finding, findingsFor, isRecord, nameProblem, text, unknownOption } from "../errors/index.ts"
import { type Budget, type ChatOptions, chatOptionTypes, EngineOptions } from "../options/index.ts"
import type { Tool } from "../tool/index.ts"
import { handoffTool } from "./handoffTool.ts"
import { addresseeWords } from "./messageTools.ts"
import { type Team, team, teamFindings } from "./team.ts"
import { unknownAgent } from "./unknownAgent.ts"

/**
 * An agent: a model with its tools and its instructions, under a name.
 *
 * **Details**: functions are not stored. A conversation stores the name of its agent, and each start of the Troupe attaches the
 * definition of that name.
 */
export interface AgentDefinition {
  /**
   * Sends the requests of the agent. Default: that of the Troupe. An agent with an `adapter` has neither the `model` nor the
   * `fallbacks` of the Troupe.
   */
  readonly adapter?: EngineOptions["adapter"]
  /** Further adapters, in order, for a request that the adapter refuses. Default: those of the Troupe. */
  readonly fallbacks?: EngineOptions["fallbacks"]
  /** The name of a model of the adapter. Default: that of the Troupe. */
  readonly model?: string | undefined
  /** The tools of the agent, in place of those of the Troupe. Default: those of the Troupe. */
  readonly tools?: EngineOptions["tools"]
  /** The system message of every request. Default: that of the Troupe. */
  readonly instructions?: string | undefined
  /** Which calls may run, and which need a decision. Default: those of the Troupe. */
  readonly permissions?: ChatOptions["permissions"]
  /** What a turn may use. Default: that of the Troupe. */
  readonly budget?: Budget | undefined
  /** The most model requests of a turn; `Infinity` is no bound. Default: that of the Troupe. */
  readonly maxTurns?: number | undefined
  /**
   * The names of the agents that it may hand the conversation to; the model gets the tool `handoff_to_<name>` for each. Default:
   * none.
   */
  readonly handoffs?: ReadonlyArray<string> | undefined
  /**
   * The team that the agent leads; the model gets a tool with the name of each member, which gives it a task in the background. Default:
   * none.
   */
  readonly team?: Team | undefined
  /**
   * When a call of the agent, as a sub-agent or a member of a team, is over: with its turn and the background tasks that it began
   * (`"with_tasks"`), or with its turn (`"now"`). After `"now"` the tasks go on in a background task of the chat of the call, and their ends are
   * messages for the agent. Default: `"with_tasks"`.
   */
  readonly turnEnds?: TurnEnds | undefined
  /** What the agent is for, for the models of agents that hand over to it, or lead it. Default: none. */
  readonly description?: string | undefined
  /** A text that you change with the definition; entries of the log have it. Default: `"1"`. */
  readonly version?: string | undefined
}

/** When a call of an agent is over: with its turn, or with the background tasks of that too. */
export type TurnEnds = "now" | "with_tasks"

/** The definitions of a Troupe, by name. */
export type AgentDefinitions = Readonly<Record<string, AgentDefinition>>

const names = z.array(z.string(), "must_be_a_list of names of agents")

const shape = {
  adapter: EngineOptions.shape.adapter,
  fallbacks: EngineOptions.shape.fallbacks,
  model: EngineOptions.shape.model,
  tools: chatOptionTypes.tools,
  instructions: chatOptionTypes.instructions,
  permissions: chatOptionTypes.permissions,
  budget: chatOptionTypes.budget,
  maxTurns: chatOptionTypes.maxTurns,
  handoffs: names.readonly().optional(),
  team: team.optional(),
  turnEnds: z.enum(["now", "with_tasks"], 'must_be_"now" or "with_tasks"').optional(),
  description: text.optional(),
  version: z.string("must_be_a_string").min(1, "must_be_a_non_empty_string").optional()
} satisfies { readonly [Part in keyof Required<AgentDefinition>]: z.ZodType }

const definition = z.strictObject(shape, "must_be_an_object, the definition of an agent")

/** A finding for each definition that cannot be used. */
export const agentFindings = (
  agents: unknown,
  base: Pick<EngineOptions, "adapter" | "tools">
): ReadonlyArray<Finding> => {
  if (agents !== undefined && !isPlainObject(agents)) {
    return [{ field: ["agents"], reason: "must_be_an_object of agents by name" }]
  }
  const agentNames = new Set(Object.keys(agents ?? {}))
  const ofEach = Object.entries(agents ?? {}).flatMap(([name, given]) =>
    [
      ...nameFindings(name),
      ...partFindings(given),
      ...handoffFindings(name, given, agentNames, base),
      ...teamFindings(name, given, agentNames, base)
    ]
      .concat(isRecord(given) ? subagentFindings(given["tools"], agentNames) : [])
      .map(({ field, reason }): Finding => ({ field: ["agents", name, ...field], reason }))
  )
  return [...subagentFindings(base.tools, agentNames), ...ofEach]
}

/** Whether its members are agents: those of a `Map` or of another class are none. */
const isPlainObject = (value: unknown): value is Record<string, unknown> => {
  if (!isRecord(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  // The prototype of an object of another realm is another `Object.prototype`, which has no prototype either.
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** A finding for each tool that starts, or addresses, an agent which there is not. */
const subagentFindings = (tools: unknown, agentNames: ReadonlySet<string>): ReadonlyArray<Finding> =>
  (Array.isArray(tools) ? tools : []).flatMap((tool: unknown, index): ReadonlyArray<Finding> => {
    const { subagent, addresses = [] } = isRecord(tool) ? (tool as Partial<Tool>) : {}
    const unknown = (does: string, agent: string): Finding => ({
      field: ["tools", index],
      reason: `${does} the agent ${agent}, which is ${unknownAgent(agent, agentNames)}`
    })
    const known = new Set<string>([...agentNames, ...addresseeWords])
    return [
      ...(subagent === undefined || agentNames.has(subagent) ? [] : [unknown("starts", subagent)]),
      ...addresses.filter((to) => !known.has(to)).map((to) => unknown("addresses", to))
    ]
  })

/** The name is a part of the name of a tool. */
const nameFindings = (name: string): ReadonlyArray<Finding> =>
  name !== "" && nameProblem(handoffTool(name)) === undefined
    ? []
    : [{ field: [], reason: "invalid_name; use 1 to 53 letters, digits, _ or -" }]

const partFindings = (given: unknown): ReadonlyArray<Finding> =>
  findingsFor(definition, given, (part) => unknownOption(part, Object.keys(shape)))

const handoffFindings = (
  name: string,
  given: unknown,
  agentNames: ReadonlySet<string>,
  base: Pick<EngineOptions, "adapter" | "tools">
): ReadonlyArray<Finding> => {
  if (!isRecord(given)) return []
  const found: Array<Finding> = []
  const { adapter = base.adapter, handoffs, tools = base.tools } = given as AgentDefinition
  if (adapter === undefined) found.push({ field: ["adapter"], reason: "required; the Troupe has no adapter either" })
  if (!Array.isArray(handoffs)) return found
  const toolNames = new Set(Array.isArray(tools) ? tools.map((tool) => tool?.name) : [])
  handoffs.forEach((target: unknown, index) => {
    const field = ["handoffs", index]
    if (typeof target !== "string") return
    if (target === name) found.push({ field, reason: "is the agent itself" })
    else if (!agentNames.has(target)) found.push({ field, reason: unknownAgent(target, agentNames) })
    else if (handoffs.indexOf(target) < index) found.push({ field, reason: "is named twice" })
    else if (toolNames.has(handoffTool(target))) found.push({ field, reason: `a tool is named ${handoffTool(target)}` })
  })
  return found
}
