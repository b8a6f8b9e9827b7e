/** LangGraph's agents for the probes: `createAgent`, sub-agents as tools, and a checkpointer on PostgreSQL. */
import { BaseChatModel } from "@langchain/core/language_models/chat_models"
import { AIMessage, type BaseMessage } from "@langchain/core/messages"
import type { ChatResult } from "@langchain/core/outputs"
import { Command } from "@langchain/langgraph"
import { PostgresSaver } from "@langchain/langgraph-checkpoint-postgres"
import { createAgent, humanInTheLoopMiddleware, modelRetryMiddleware, type ReactAgent, tool } from "langchain"
import { z } from "zod"
import type { Cast, Company, Ended, Framework, ProbeTool } from "../probes/framework.ts"
import { type Asked, type Model as ScriptedModel, replyTokens } from "../probes/model.ts"

const askedOf = (messages: ReadonlyArray<BaseMessage>): Asked => {
  const at = messages.findLastIndex((message) => message.getType() === "human")
  const results = messages.slice(at).filter((message) => message.getType() === "tool")
  return { input: messages[at]?.text ?? "", results: results.map(({ text }) => text) }
}

/** The scripted model as a chat model. */
class ScriptedChatModel extends BaseChatModel {
  readonly #model: ScriptedModel

  constructor(model: ScriptedModel) {
    super({ maxRetries: 0 })
    this.#model = model
  }

  override _llmType(): string {
    return "scripted"
  }

  override bindTools(): this {
    return this
  }

  override async _generate(messages: Array<BaseMessage>, { signal }: this["ParsedCallOptions"]): Promise<ChatResult> {
    const { text, calls } = await this.#model.whole(askedOf(messages), signal)
    const message = new AIMessage({
      content: text,
      tool_calls: calls.map(({ id, name, json }) => {
        return { id, name, args: JSON.parse(json) as Record<string, unknown>, type: "tool_call" as const }
      }),
      response_metadata: { tokens: replyTokens }
    })
    return { generations: [{ text, message }] }
  }
}

interface ToolConfig {
  readonly signal?: AbortSignal
}

const toolOf = ({ name, run }: ProbeTool) =>
  tool((_: unknown, { signal }: ToolConfig) => run(signal), {
    name,
    description: name,
    schema: z.object({})
  })

/** The signal of a call of a sub-agent that has a deadline. */
const limitOf = ({ deadlineMs }: Cast, { signal }: ToolConfig): { readonly signal?: AbortSignal } =>
  deadlineMs === undefined ? {} : { signal: AbortSignal.any([signal ?? [], AbortSignal.timeout(deadlineMs)].flat()) }

/** An agent. A sub-agent has no checkpointer of its own: it inherits that of the graph that calls it. */
const agentOf = (cast: Cast, name: string, checkpointer?: PostgresSaver): ReactAgent => {
  const { model, tools = [], agents = [] } = cast.roles[name] ?? { model: undefined }
  if (model === undefined) throw new Error(`there is no agent ${name}`)
  const approved = tools.filter(({ isApproved }) => isApproved === true).map((one) => one.name)
  const subagents = agents.map((agent) => {
    const child = agentOf(cast, agent)
    return tool(
      async ({ input }, config: ToolConfig) => {
        const result = await child.invoke(
          { messages: [{ role: "user", content: input }] },
          { ...config, ...limitOf(cast, config) }
        )
        return result.messages.at(-1)?.text ?? ""
      },
      { name: agent, description: agent, schema: z.object({ input: z.string() }) }
    )
  })
  return createAgent({
    name,
    model: new ScriptedChatModel(model),
    tools: [...tools.map(toolOf), ...subagents],
    middleware: [
      modelRetryMiddleware({ initialDelayMs: 10 }),
      ...(approved.length === 0
        ? []
        : [humanInTheLoopMiddleware({ interruptOn: Object.fromEntries(approved.map((one) => [one, true])) })])
    ],
    ...(checkpointer === undefined ? {} : { checkpointer })
  })
}

interface Interrupted {
  readonly __interrupt__?: ReadonlyArray<{ readonly id?: string }>
  readonly messages: ReadonlyArray<BaseMessage>
}

const start = async (cast: Cast, folder: string): Promise<Company> => {
  const checkpointer = PostgresSaver.fromConnString(process.env["RIVALS_DATABASE"] ?? "")
  await checkpointer.setup()
  const root = agentOf(cast, "boss", checkpointer)
  const thread = { configurable: { thread_id: folder }, recursionLimit: 100, durability: "sync" as const }
  let abort = new AbortController()
  const ended = async (input: Parameters<ReactAgent["invoke"]>[0]): Promise<Ended> => {
    abort = new AbortController()
    const result: unknown = await root.invoke(input, { ...thread, signal: abort.signal })
    const { __interrupt__: interrupts = [], messages } = result as Interrupted
    return interrupts.length > 0
      ? { reason: "interrupted", text: "" }
      : { reason: "completed", text: messages.at(-1)?.text ?? "" }
  }
  const waiting = async (): Promise<ReadonlyArray<string>> => {
    const { tasks } = await root.graph.getState(thread)
    return tasks.flatMap(({ interrupts }) => interrupts.map(({ id = "" }) => id))
  }
  return {
    send: (input) => ended({ messages: [{ role: "user", content: input }] }),
    retry: () => ended(null),
    cancel: async () => abort.abort(),
    waiting,
    allow: (address) => ended(new Command({ resume: { [address]: { decisions: [{ type: "approve" }] } } })),
    close: async () => {
      abort.abort()
      await checkpointer.end()
    }
  }
}

const mail = "an agent has no mailbox: nothing but its caller gives it an input, when it begins"
const background = "a call of a tool ends before the next request; work that goes on needs the platform"

/** LangGraph. */
export const framework: Framework = {
  name: "LangGraph",
  module: import.meta.url,
  cannot: {
    parent: "an agent has no process that can die alone",
    budget: "no budget of tokens counts for a run and the agents below it; a limit of calls counts for one agent",
    background,
    "child-background": background,
    "tell-running": mail,
    "tell-finished": mail,
    "tell-unloaded": mail,
    "tell-moved": mail,
    "tell-dead": mail,
    interrupt: background,
    "background-question": background,
    rewind: "the thread of a sub-agent belongs to one call of its parent: no later call continues it",
    cycle: mail
  },
  start
}
