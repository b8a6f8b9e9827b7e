/**
 * The agents of a Troupe, and the engine and the options of each.
 *
 * Owns: the definitions, and what was made of the ones in use. Does not own which agent a conversation has: its record names it.
 *
 * AGENT1. The engine and the options of an agent are made when the first chat needs them, once, and all chats share them. A
 *         definition that no chat uses costs nothing for any chat.
 * AGENT2. A chat without an agent has the engine and the options of the Troupe.
 */
import { closestName, type Finding, quoted, SessionError } from "../errors/index.ts"
import * as Engine from "../options/Engine.ts"
import {
  type ChatOptions,
  type EngineOptions,
  type FixedOptions,
  fixedOptions,
  type TurnOptions,
  withTurnOptions
} from "../options/index.ts"
import type { AgentRef } from "../record/index.ts"
import { type Tool, toolOf } from "../tool/index.ts"
import { type AgentDefinition, type AgentDefinitions, agentFindings, type TurnEnds } from "./AgentDefinition.ts"
import { makeHandoffTool } from "./handoffTool.ts"
import { memberTool, type Team } from "./team.ts"
import { unknownAgent } from "./unknownAgent.ts"

/** The engine and the options that the requests of one agent, or of chats without one, are made with. */
export interface Serving {
  readonly engine: Engine.Engine
  readonly chatOptions: ChatOptions
  /** The options of a turn, by default of every turn without options of its own. Throws a `ValidationError` (`invalid_options`). */
  readonly fixed: (turn?: TurnOptions) => FixedOptions
  /** The team that the agent leads. */
  readonly team: Team | undefined
  /** When a call of the agent is over. */
  readonly turnEnds: TurnEnds | undefined
}

/** The parts of a Troupe that its agents share. */
export interface TroupeEngine {
  readonly engineOptions: EngineOptions
  readonly engine: Engine.Engine
  readonly chatOptions: ChatOptions
}

const defaultVersion = "1"

const serving = (
  engine: Engine.Engine,
  chatOptions: ChatOptions,
  { team, turnEnds }: Pick<AgentDefinition, "team" | "turnEnds"> = {}
): Serving => {
  let usual: FixedOptions | undefined
  const fixed = (turn?: TurnOptions): FixedOptions => {
    usual ??= fixedOptions(engine, chatOptions)
    return turn === undefined ? usual : fixedOptions(engine, withTurnOptions(engine, chatOptions, turn), chatOptions)
  }
  return { engine, chatOptions, fixed, team, turnEnds }
}

export class AgentTable {
  readonly #definitions: AgentDefinitions
  readonly #troupe: TroupeEngine
  readonly #made = new Map<string, Serving>()
  #tools: ReadonlyArray<Tool> | undefined
  /** Serves the chats without an agent (AGENT2). */
  readonly none: Serving
  /** The name of the agent of new chats that name none. */
  readonly usual: string | undefined
  /** Whether the Troupe has no agents. Each turn reads this, so it is found once. */
  readonly isEmpty: boolean

  /** With the agents that can serve a conversation, by name, and the name of the agent of conversations that begin without one. */
  constructor(troupe: TroupeEngine, agents: AgentDefinitions = {}, usual?: string) {
    this.#definitions = agents
    this.#troupe = troupe
    this.none = serving(troupe.engine, troupe.chatOptions)
    this.usual = usual
    this.isEmpty = Object.keys(agents).length === 0
  }

  /** The tools of the Troupe and of all its agents, each name once. */
  get tools(): ReadonlyArray<Tool> {
    return (this.#tools ??= this.#allTools())
  }

  /** Whether a call of the Troupe, or of one of its agents, can become a background task. Tools of several agents can have one name. */
  get canHaveTasks(): boolean {
    const definitions = Object.values(this.#definitions)
    if (definitions.some(({ team }) => team !== undefined)) return true
    const own = definitions.flatMap(({ tools = [] }) => tools.map(toolOf))
    return [...this.#troupe.engine.tools, ...own].some(({ background }) => background !== undefined)
  }

  #allTools(): ReadonlyArray<Tool> {
    const found = new Map(this.#troupe.engine.tools.map((tool) => [tool.name, tool]))
    for (const definition of Object.values(this.#definitions)) {
      for (const tool of [...(definition.tools ?? []), ...this.#toolsFor(definition)]) {
        if (!found.has(tool.name)) found.set(tool.name, toolOf(tool))
      }
    }
    return Array.from(found.values())
  }

  /** The agent of this name, with the version of its definition. **Errors**: throws a `SessionError` (`unknown_agent`). */
  ref(name: string): AgentRef {
    const { version = defaultVersion } = this.#definition(name)
    return { name, version }
  }

  /** The engine and the options of an agent (AGENT1). **Errors**: as for {@link ref}. */
  of(name: string | undefined): Serving {
    if (name === undefined) return this.none
    const entry = this.#made.get(name)
    if (entry !== undefined) return entry
    const made = this.#make(name, this.#definition(name))
    this.#made.set(name, made)
    return made
  }

  #definition(name: string): AgentDefinition {
    const found = Object.hasOwn(this.#definitions, name) ? this.#definitions[name] : undefined
    if (found !== undefined) return found
    const names = Object.keys(this.#definitions)
    const agent = quoted(name)
    const message = `The Troupe has no agent ${agent}: ${unknownAgent(name, names)}. Start it with agents: { ${JSON.stringify(agent)}: … }`
    throw new SessionError("unknown_agent", message, { metadata: { agent, closest: closestName(name, names) } })
  }

  #make(name: string, definition: AgentDefinition): Serving {
    const { engineOptions, chatOptions } = this.#troupe
    const { adapter, fallbacks, model, tools = engineOptions.tools ?? [] } = definition
    const own =
      adapter === undefined ? engineOptions : { ...engineOptions, adapter, model: undefined, fallbacks: undefined }
    const engine = Engine.make({
      ...own,
      ...given({ fallbacks, model }),
      tools: [...tools, ...this.#toolsFor(definition)]
    })
    const { instructions, permissions, budget, maxTurns, description } = definition
    const ref = this.ref(name)
    const { tracing } = chatOptions
    const traced = tracing === undefined ? {} : { tracing: { ...tracing, agent: { ...ref, description } } }
    const options = { ...chatOptions, ...traced, ...given({ instructions, permissions, budget, maxTurns }) }
    return serving(engine, options, definition)
  }

  /** The tools that its handoffs and its team give an agent. */
  #toolsFor({ handoffs = [], team }: AgentDefinition): ReadonlyArray<Tool> {
    return [
      ...handoffs.map((target) => makeHandoffTool(this.ref(target), this.#definition(target).description)),
      ...(team?.members ?? []).map((member) => memberTool(member, this.#definition(member).description))
    ]
  }
}

/** The parts that have a value. */
const given = <A extends object>(parts: A): Partial<A> =>
  Object.fromEntries(Object.entries(parts).filter(([, value]) => value !== undefined)) as Partial<A>

/** The findings about the agents of a Troupe. */
export const agentOptionFindings = (
  { agents, agent }: { readonly agents?: unknown; readonly agent?: unknown },
  engine: EngineOptions
): ReadonlyArray<Finding> => {
  const found = agentFindings(agents, engine)
  if (agent === undefined) return found
  if (typeof agent !== "string")
    return [...found, { field: ["agent"], reason: "must_be_a_string, the name of an agent" }]
  const names = typeof agents === "object" && agents !== null ? Object.keys(agents) : []
  return names.includes(agent) ? found : [...found, { field: ["agent"], reason: unknownAgent(agent, names) }]
}
