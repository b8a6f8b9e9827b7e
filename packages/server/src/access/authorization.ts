/**
 * The permissions of an owner, from `authorize`.
 *
 * MAY1. A client does nothing that its owner may not, by any route or protocol. A refused request changes nothing.
 * MAY2. A client may always be stricter than the host: it may refuse calls and set stricter modes without permission.
 */
import { SessionError } from "@troupe/chat/errors"
import { type Decision, type PendingApproval, Permissions } from "@troupe/chat/tools"
import * as z from "zod"
import { fitting, HttpError } from "../errors/index.ts"

/** The permissions of an owner, with the defaults. Without a mode, the host's applies. */
export interface Permitted {
  readonly mode: Permissions.Mode | undefined
  readonly approve: boolean
  readonly observe: boolean
  readonly rewind: boolean
  readonly delete: boolean
  readonly agents: Names
  readonly models: Names
}

/** The names that an owner may choose: all, none, or these. */
type Names = boolean | ReadonlyArray<string>

const Names = z.union([z.boolean(), z.array(z.string())])

const Given = z.strictObject({
  mode: Permissions.Mode.optional(),
  approve: z.boolean().default(false),
  observe: z.boolean().default(false),
  rewind: z.boolean().default(true),
  delete: z.boolean().default(true),
  agents: Names.default(false),
  models: Names.default(false)
})

/** Throws a `TypeError` for invalid permissions: a truthy value that is not `true` permits nothing. */
export const permittedOf = (may: May = {}): Permitted => {
  const { data, issues } = fitting(Given, may)
  if (issues === undefined) return { ...data, mode: data.mode }
  const found = issues.map(({ field, reason }) => `${["may", ...field].join(".")}: ${reason}`).join("; ")
  throw new TypeError(
    `authorize returned what no owner may do: ${found}; give may: { mode, approve, observe, rewind, delete, agents, models }`
  )
}

const actions = {
  approve: "approve tool calls or run them again",
  observe: "observe this server",
  rewind: "rewind or fork conversations",
  delete: "delete conversations and memories"
} as const

/** Throws an `HttpError` (403) for an action that the owner may not do. */
export const check = (may: Permitted, action: keyof typeof actions): void => {
  if (may[action]) return
  throw new HttpError(
    "forbidden",
    `You may not ${actions[action]}; the server's \`authorize\` permits it with may: { ${action}: true }`
  )
}

const permits = (names: Permitted["agents"], name: string): boolean =>
  names === true || (Array.isArray(names) && names.includes(name))

/** Throws an `HttpError` (403) for an agent or a model that the owner may not choose. */
export const checkName = (may: Permitted, kind: "agents" | "models", name: string | undefined): void => {
  if (name === undefined || permits(may[kind], name)) return
  throw new HttpError(
    "forbidden",
    `You may not choose this of the ${kind}; the server's \`authorize\` permits it with may: { ${kind}: [${JSON.stringify(name)}] }`
  )
}

/**
 * Runs `run` for an owner that may choose this agent. The refusal of an unknown agent has the closest name, if the owner may choose
 * that one too.
 */
export const withAgent = async <A>(may: Permitted, agent: string | undefined, run: () => Promise<A>): Promise<A> => {
  checkName(may, "agents", agent)
  try {
    return await run()
  } catch (error) {
    if (!(error instanceof SessionError) || error.reason !== "unknown_agent") throw error
    const { agent: unknown, closest } = error.metadata
    if (unknown !== agent || typeof closest !== "string" || !permits(may.agents, closest)) throw error
    throw new HttpError("unknown_agent", `The server has no agent of this name; did you mean ${closest}?`, {
      cause: error
    })
  }
}

/**
 * Throws an `HttpError` (403) for a decision that the owner may not make (MAY2). An answer to a question of a sub-agent, and the result of
 * its manual call, need no permission, as those of the chat itself. Call `approve` in the same tick: it binds the decision to these
 * `waits`, so that no other wait gets it (OPEN5).
 */
export const checkDecision = (may: Permitted, { type }: Decision, waits: PendingApproval | undefined): void => {
  const isAnswer = waits?.kind === "question" || waits?.kind === "tool_result"
  if (type === "allow" || (type === "result" && !isAnswer)) check(may, "approve")
}

/**
 * The permissions of an owner beside chatting and answering questions.
 *
 * **Details**: a client may always be stricter than the host: it refuses calls and sets stricter modes without any of these.
 */
export interface May {
  /**
   * The loosest permission mode that the owner may set, in the order `plan`, `default`, `acceptEdits`, `trusted`, `bypass`.
   * Default: the mode that the host set, by the Troupe's permissions or by `chat.setPermissionMode`.
   */
  readonly mode?: Permissions.Mode | undefined
  /**
   * Whether the owner may allow calls that wait for a decision, give their results, or run a call again that runs. Default:
   * `false`.
   */
  readonly approve?: boolean | undefined
  /** Whether the owner may see and kill the processes of all owners. Default: `false`. */
  readonly observe?: boolean | undefined
  /**
   * Whether the owner may rewind and fork conversations, edit earlier messages, and regenerate earlier answers. The log keeps the
   * replaced entries. Default: `true`.
   */
  readonly rewind?: boolean | undefined
  /** Whether the owner may delete conversations, with all of their log, and memories. Default: `true`. */
  readonly delete?: boolean | undefined
  /**
   * The names of the agents that the owner may begin a conversation with, or hand one over to; `true` for all. Default: `false`,
   * so that conversations begin with the agent of the Troupe, and only models and the host hand them over.
   */
  readonly agents?: boolean | ReadonlyArray<string> | undefined
  /** The names of the models that the owner may send a message with; `true` for all. Default: `false`. */
  readonly models?: boolean | ReadonlyArray<string> | undefined
}
