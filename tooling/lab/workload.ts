/**
 * The work of the chats: a model, its tools, and agents. The end of an input names the work.
 *
 * The texts of a reply depend only on the input, so that a repeated reply has the same text.
 */
import { setTimeout } from "node:timers/promises"
import { askUser, Fake, tool, type TroupeOptions, user } from "@troupe/chat"
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
 * - `explores`: a background task, and two sub-agents, each with a background task, a call that writes and a sub-agent of its own, whose
 *   call is over before its background task
 * - `confers`: an agent in the background that asks a person and its parent, and another agent, which send each other messages
 */
export const works = {
  talks: "",
  writes: " and writes",
  delegates: " and delegates",
  explores: " and explores",
  confers: " and confers"
} as const

/** The answer to an input, at the end of a reply. */
export const answerTo = (input: string): string => `The answer to ${input}.`

/** The inputs that a reply answers. */
export const answersIn = (reply: string): ReadonlyArray<string> =>
  Array.from(reply.matchAll(/The answer to ([^.]*)\./gu), ([, input = ""]) => input)

/** Whether a message is in a request in place of those that a compaction leaves out. */
const isSummary = (input: string): boolean => input.startsWith("[The first ")

/** Whether an input is the end of a background task. */
export const isReport = (input: string): boolean => input.startsWith("The background task")

/** What a person says to a question of a call, or knows of a call whose outcome is unknown. */
export const looked = "looked after"

/** Whether an input asks for nothing: the end of a task, a message of an agent, or the answer of a person. */
const isNews = (input: string): boolean =>
  isReport(input) || input.startsWith(looked) || /^The agent [^\n]* says:\n/u.test(input)

/** The question in the message of an agent; another input as it is. */
const askedIn = (input: string): string => input.replace(/^The agent [^\n]* asks:\n/u, "")

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

type Call = readonly [name: string, args?: Readonly<Record<string, string>>]

interface Behaviour {
  /** The calls of the next step for an input, by the results of its earlier calls. None: it answers. */
  readonly calls: (input: string, results: ReadonlyArray<string>) => ReadonlyArray<Call>
  readonly answer: (input: string, messages: Request["messages"]) => string
}

const callsFor = (input: string, results: ReadonlyArray<string>): ReadonlyArray<Call> => {
  if (input.endsWith(works.confers)) return confers(input, results)
  if (results.length > 0) return []
  if (input.endsWith(works.writes)) return [["look"], ["note"]]
  if (input.endsWith(works.delegates)) return [["dig", { input }]]
  return input.endsWith(works.explores)
    ? [["survey"], ["research", { input: `${input} 1` }], ["research", { input: `${input} 2` }]]
    : []
}

/** The child of a background call has the digits of its task, which the result names. */
const scoutIn = (result = ""): string => `scout-${/"task":"(\w{8})/u.exec(result)?.[1] ?? "none"}`
const agentIn = (result = ""): string => /\[agent: ([\w-]+)\]/u.exec(result)?.[1] ?? "nobody"

/** The calls of each step, by the number of results before it. */
const confers = (input: string, results: ReadonlyArray<string>): ReadonlyArray<Call> => {
  const [scout, aide] = [scoutIn(results[0]), agentIn(results[1])]
  switch (results.length) {
    case 0:
      return [["scout", { input: `${input} 1` }]]
    case 1:
      return [
        ["aide", { input: `${input} 2 for ${scout}` }],
        ["tell", { to: scout, message: `${input} goes on` }]
      ]
    case 3:
      return [
        ["ask", { to: aide, message: `${input} what` }],
        ["tell", { to: aide, message: `${input} rests` }]
      ]
    case 5:
      return [
        ["aide", { input: `${input} 3`, agent: aide }],
        ["scout", { input: `${input} 4`, agent: scout }]
      ]
    default:
      return []
  }
}

/** The work of the agent in the background. */
const scouts = (input: string, { length }: ReadonlyArray<string>): ReadonlyArray<Call> => {
  const upward = { to: "parent" }
  switch (length) {
    case 0:
      return [["note"]]
    case 1:
      return [
        ["tell", { ...upward, message: `${input} begins` }],
        ["ask", { ...upward, message: `${input} whereto` }]
      ]
    case 3:
      return [["which"]]
    default:
      return []
  }
}

/** The work of the agent beside it. */
const aids = (input: string, { length }: ReadonlyArray<string>): ReadonlyArray<Call> => {
  if (length > 0) return []
  const scout = / for (scout-\w+)$/u.exec(input)?.[1]
  return scout === undefined
    ? [["note"]]
    : [
        ["note"],
        ["tell", { to: scout, message: `${input} aside` }],
        ["tell", { to: "parent", message: `${input} upward` }]
      ]
}

const inputsOf = (messages: Request["messages"]): ReadonlyArray<string> =>
  messages
    .flatMap((message) => (message.role === "user" ? [askedIn(Message.text(message))] : []))
    .filter((text) => !isSummary(text))

/**
 * Answers the last input, and, as a real model does, earlier inputs without an answer: a turn that was interrupted more often
 * than it is resumed ends without one, and the next input goes on.
 */
const answered = (_: string, messages: Request["messages"]): string => {
  const given = new Set(
    messages.flatMap((message) => (message.role === "user" ? [] : answersIn(Message.text(message))))
  )
  const open = inputsOf(messages).filter((text) => !given.has(text) && !isNews(text))
  return open.length === 0 ? "That is noted." : open.map(answerTo).join(" ")
}

/** Whether a request is one for a summary. */
export const asksForSummary = (messages: Request["messages"]): boolean =>
  inputsOf(messages).at(-1)?.endsWith("Write the summary.") === true

const summary = (pauseMs: () => number): Fake.Script => [
  ...Array.from({ length: 8 }, (_, at) => [{ text: `Fact ${at}. ` }, { delayMs: pauseMs() }]).flat(),
  { finish: "stop" }
]

/** The options of a Troupe, or of a node of a cluster. */
type Workload = Pick<TroupeOptions, "adapter" | "tools" | "agents">

/** Makes the model, the tools and the agents. */
export const workloadOf = ({ pauseMs, writeMs, asks = () => false, node }: WorkloadOptions): Workload => {
  /** An agent that makes calls for each input, and then answers. */
  const agentOf = (agent: string, { calls, answer }: Behaviour) =>
    Fake.make({
      respond: ({ messages }: Request): Fake.Script => {
        say({ type: "request", agent })
        if (asksForSummary(messages)) return summary(pauseMs)
        const at = messages.findLastIndex((message) => message.role === "user" && !isNews(Message.text(message)))
        // A message of another agent may come before the first input.
        const input = at === -1 ? "nothing" : askedIn(Message.text(messages[at] ?? user("")))
        const begun = { text: `So you say ${inputsOf(messages).at(-1) ?? "nothing"}. ` }
        const results = messages.slice(at).flatMap((one) => (one.role === "tool" ? [Message.text(one)] : []))
        const made = (at === -1 ? [] : calls(input, results)).map(([name, args = {}]) => ({
          toolCall: { id: `${name} ${args["message"] ?? args["input"] ?? input}`, name, arguments: args }
        }))
        if (made.length > 0) return [begun, { delayMs: pauseMs() }, ...made, { finish: "tool_calls" }]
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
  const asksForNotes = ({ toolCall }: { readonly toolCall: { readonly name: string } }) =>
    toolCall.name === "note" && asks() ? ("suspend" as const) : ("allow" as const)
  const which = tool({ name: "which", effect: "read", execute: () => askUser("Which one?") })
  const to = ["parent", "children", "siblings"]
  const mail = [Agents.message({ to }), Agents.ask({ to })]
  const team = [Agents.subagent("scout", { background: true }), Agents.subagent("aide")]
  const agents: Agents = {
    research: {
      adapter: agentOf("research", {
        calls: (input, { length }) => (length > 0 ? [] : [["note"], ["survey"], ["dig", { input: `${input} deep` }]]),
        answer: (input) => `Found ${input}.`
      }),
      tools: [note, survey, Agents.subagent("dig")]
    },
    dig: {
      adapter: agentOf("dig", {
        calls: (_, { length }) => (length > 0 ? [] : [["note"], ["survey"]]),
        answer: (input) => `Dug ${input}.`
      }),
      tools: [note, survey],
      // The readers of a storm leave after the last answer.
      turnEnds: node === undefined ? "now" : "with_tasks",
      permissions: { ask: asksForNotes }
    },
    scout: {
      adapter: agentOf("scout", { calls: scouts, answer: (input) => `Scouted ${input}.` }),
      tools: [note, which, ...mail],
      permissions: { ask: asksForNotes }
    },
    aide: {
      adapter: agentOf("aide", { calls: aids, answer: (input) => `Aided ${input}.` }),
      tools: [note, ...mail]
    }
  }
  return {
    adapter: agentOf("main", { calls: callsFor, answer: answered }),
    tools: [look, note, survey, Agents.subagent("research"), Agents.subagent("dig"), ...team, ...mail],
    agents
  }
}
