/**
 * The work of the chats: a model, its tools, and agents. The end of an input names the work.
 *
 * The texts of a reply depend only on the input, so that a repeated reply has the same text.
 */
import { setTimeout } from "node:timers/promises"
import { Fake, tool, type TroupeOptions } from "@troupe/chat"
import { Agents } from "@troupe/chat/agents"
import { Message } from "@troupe/chat/messages"
import type { Request } from "@troupe/chat/models"
import { say } from "./check/history.ts"

/**
 * The work that an input asks for.
 *
 * - `talks`: an answer
 * - `writes`: a call that reads, and one that writes
 * - `delegates`: a sub-agent whose call writes
 * - `explores`: a background task, and two sub-agents, each with a call that writes and a sub-agent of its own
 */
export const works = {
  talks: "",
  writes: " and writes",
  delegates: " and delegates",
  explores: " and explores"
} as const

/** The answer to an input, at the end of a reply. */
export const answerTo = (input: string): string => `The answer to ${input}.`

/** The inputs that a reply answers. */
export const answersIn = (reply: string): ReadonlyArray<string> =>
  Array.from(reply.matchAll(/The answer to ([^.]*)\./gu), ([, input = ""]) => input)

/** Whether an input is the end of a background task. */
export const isReport = (input: string): boolean => input.startsWith("The background task")

/** How fast the model and the tools are, and how many calls of the deepest sub-agents need the permission of a person. */
interface WorkloadOptions {
  /** The pause before a part of a reply, in milliseconds. */
  readonly pauseMs: () => number
  /** The time of a call that writes, after its effect. */
  readonly writeMs: number
  readonly asks?: () => boolean
  /** The node of a cluster. */
  readonly node?: string
}

type Call = readonly [name: string, task?: string]

interface Behaviour {
  readonly calls: (input: string) => ReadonlyArray<Call>
  readonly answer: (input: string, messages: Request["messages"]) => string
}

const callsFor = (input: string): ReadonlyArray<Call> => {
  if (input.endsWith(works.writes)) return [["look"], ["note"]]
  if (input.endsWith(works.delegates)) return [["dig", input]]
  return input.endsWith(works.explores) ? [["survey"], ["research", `${input} 1`], ["research", `${input} 2`]] : []
}

const inputsOf = (messages: Request["messages"]): ReadonlyArray<string> =>
  messages.flatMap((message) => (message.role === "user" ? [Message.text(message)] : []))

/**
 * Answers the last input, and, as a real model does, earlier inputs without an answer: a turn that was interrupted more often
 * than it is resumed ends without one, and the next input goes on.
 */
const answered = (input: string, messages: Request["messages"]): string => {
  if (isReport(input)) return "That is noted."
  const given = new Set(
    messages.flatMap((message) => (message.role === "user" ? [] : answersIn(Message.text(message))))
  )
  const open = inputsOf(messages).slice(0, -1)
  return [...open.filter((text) => !given.has(text) && !isReport(text)), input].map(answerTo).join(" ")
}

/** The options of a Troupe, or of a node of a cluster. */
type Workload = Pick<TroupeOptions, "adapter" | "tools" | "agents">

/** Makes the model, the tools and the agents. */
export const workloadOf = ({ pauseMs, writeMs, asks = () => false, node }: WorkloadOptions): Workload => {
  /** An agent that makes calls for each input, and then answers. */
  const agentOf = (agent: string, { calls, answer }: Behaviour) =>
    Fake.make({
      respond: ({ messages }: Request): Fake.Script => {
        say({ type: "request", agent })
        const input = inputsOf(messages).at(-1) ?? "nothing"
        const begun = { text: `So you say ${input}. ` }
        const made = calls(input).map(([name, task]) => ({
          toolCall: { id: `${name} ${task ?? input}`, name, arguments: task === undefined ? {} : { input: task } }
        }))
        if (made.length > 0 && messages.at(-1)?.role === "user")
          return [begun, { delayMs: pauseMs() }, ...made, { finish: "tool_calls" }]
        const words = "This reply streams word by word.".split(" ")
        const streamed = words.flatMap((word) => [{ text: `${word} ` }, { delayMs: pauseMs() }])
        return [begun, ...streamed, { text: answer(input, messages) }, { finish: "stop" }]
      }
    })

  const look = tool({ name: "look", effect: "read", execute: () => "nothing new" })
  const note = tool({
    name: "note",
    execute: async (_, { idempotencyKey, toolCall }) => {
      say({ type: "call", key: idempotencyKey, call: toolCall.id, ...(node === undefined ? {} : { node }) })
      if (writeMs > 0) await setTimeout(writeMs)
      return "noted"
    }
  })
  const survey = tool({
    name: "survey",
    background: true,
    onUnknown: "retry",
    execute: async () => {
      await setTimeout(pauseMs() * 10)
      return "done"
    }
  })
  const agents: Agents = {
    research: {
      adapter: agentOf("research", {
        calls: (input) => [["note"], ["dig", `${input} deep`]],
        answer: (input) => `Found ${input}.`
      }),
      tools: [note, Agents.subagent("dig")]
    },
    dig: {
      adapter: agentOf("dig", { calls: () => [["note"]], answer: (input) => `Dug ${input}.` }),
      tools: [note],
      permissions: { ask: () => (asks() ? "suspend" : "allow") }
    }
  }
  return {
    adapter: agentOf("main", { calls: callsFor, answer: answered }),
    tools: [look, note, survey, Agents.subagent("research"), Agents.subagent("dig")],
    agents
  }
}
