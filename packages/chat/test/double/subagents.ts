/** A Troupe whose chats give tasks to the agent research. */
import type { LeakCheck } from "./leakCheck.ts"
import { calls, says } from "./scripts.ts"
import type { Script } from "../../src/adapter/Fake.ts"
import { subagent, type SubagentOptions } from "../../src/agents/subagentTool.ts"
import { text } from "../../src/model/Message.ts"
import type { Request } from "../../src/model/Request.ts"
import { memory } from "../../src/store/Store.ts"
import type { SessionStore } from "../../src/store/sessionStore.ts"
import type { TroupeOptions } from "../../src/troupe/troupeOptions.ts"

/** The tasks that the last user message gives: each word after `!`. */
const tasksIn = ({ messages }: Request): ReadonlyArray<string> => {
  const last = messages.at(-1)
  return last?.role === "user" ? Array.from(text(last).matchAll(/!(\w+)/g), ([, task]) => task ?? "") : []
}

/** The text of a message without the id by which an agent is called again (SUB17). */
export const withoutId = (message: Parameters<typeof text>[0]): string =>
  text(message).replaceAll(/\s*\[agent: [^\]]+\]/gu, "")

/** The ids at the ends of the results of a thread. */
export const idsIn = ({ messages }: Pick<Request, "messages">): ReadonlyArray<string> =>
  messages.flatMap((message) =>
    message.role === "tool" ? Array.from(text(message).matchAll(/\[agent: ([^\]]+)\]/gu), ([, id]) => id ?? "") : []
  )

/** The texts of the results that the last request has. */
const resultsIn = ({ messages }: Request): string =>
  messages
    .filter(({ role }) => role === "tool")
    .map(withoutId)
    .join(" and ")

/** Answers a message with tasks by one call of research for each, and the results by their texts. */
const delegating = (request: Request): Script => {
  const tasks = tasksIn(request)
  return tasks.length === 0
    ? says(`boss: ${resultsIn(request)}`)
    : calls(...tasks.map((input) => ["research", { input }] as const))
}

/** The options of the Troupe; `research` answers the requests of the child. */
export const delegation = (
  check: LeakCheck,
  research: (request: Request) => Script,
  { tool, ...changed }: Partial<TroupeOptions> & { readonly tool?: SubagentOptions } = {}
) => {
  const adapters = { boss: check.fake({ respond: delegating }), research: check.fake({ respond: research }) }
  const options: TroupeOptions = {
    adapter: adapters.boss,
    tools: [subagent("research", tool)],
    agents: { research: { adapter: adapters.research, tools: [] } },
    ...changed
  }
  return { adapters, options }
}

/** The ids of the stored children. */
export const childrenIn = async (store: SessionStore): Promise<ReadonlyArray<string>> =>
  (await store.list({ prefix: "c/~/" })).chats.map(({ id }) => id)

/** Starts the Troupe over a store; each call is another program. */
export const delegates = async (
  check: LeakCheck,
  research: (request: Request) => Script,
  changed: Parameters<typeof delegation>[2] & { readonly kept?: SessionStore } = {}
) => {
  const { kept: store = memory(), ...others } = changed
  const { adapters, options } = delegation(check, research, others)
  const { troupe, clock } = await check.troupe({ ...options, store })
  return { adapters, troupe, clock, store, options }
}

/** One call of a task: a call of `write` or `ask` or `fill`, or a task for another child. */
export type Task = ReadonlyArray<"write" | "ask" | "fill" | Task>

/** Answers a task by its calls, and their results by their texts. A task is the JSON of its calls. */
export const working = (request: Request): Script => {
  const { messages } = request
  const first = messages.find(({ role }) => role === "user")
  const isBegun = messages.some(({ role }) => role === "assistant")
  if (first !== undefined && !isBegun) {
    const task = JSON.parse(text(first)) as Task
    if (task.length === 0) return says("[]")
    return calls(
      ...task.map((call) =>
        typeof call === "string" ? call : (["research", { input: JSON.stringify(call) }] as const)
      )
    )
  }
  const answers = messages.slice(1).filter(({ role }) => role === "tool" || role === "user")
  return says(`[${answers.map(withoutId).join(" ")}]`)
}
