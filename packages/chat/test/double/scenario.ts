/** Random conversations: what the model replies, and what each tool it calls then does. */
import { Process } from "@troupe/otp"
import { Effect, Schema } from "effect"
import type { ChatOptions } from "../../src/ChatOptions.ts"
import type { Script, ScriptEntry } from "../../src/Fake.ts"
import { askUser, error, halt, type HandlerResult, ok } from "../../src/HandlerResult.ts"
import type { Message } from "../../src/Message.ts"
import { make, type Tool } from "../../src/Tool.ts"

/** What each tool does, by its name. */
const behaviours: Readonly<Record<string, () => HandlerResult>> = {
  fine: () => ok({ n: 1 }),
  failing: () => error("no"),
  asking: () => askUser("which?"),
  halting: () => halt("budget", 1),
  reserved: () => halt("completed", 1),
  unencodable: () => ok(() => 1),
  throwing: () => {
    throw new Error("kaboom")
  },
  exiting: () => Process.exitSelf("gone")
}

const hops = async (count: number): Promise<void> => {
  for (let hop = 0; hop < count; hop++) await new Promise<void>((resolve) => void setImmediate(resolve))
}

/** Each tool finishes after so many turns of the event loop as its call says; every other one is an effect. */
export const tools: ReadonlyArray<Tool> = [
  ...Object.entries(behaviours).map(([name, behave], index) =>
    make({
      name,
      handler: (args) => {
        const later = async () => {
          await hops(Number(args["delay"]))
          return behave()
        }
        return index % 2 === 0
          ? later()
          : Effect.flatMap(
              Effect.promise(() => hops(Number(args["delay"]))),
              () => Effect.sync(behave)
            )
      }
    })
  ),
  make({ name: "manual", manual: true })
]

const Call = Schema.Struct({
  tool: Schema.Literals([...Object.keys(behaviours), "fine", "fine", "manual", "ghost"]),
  delay: Schema.Literals([0, 1, 2, 5]),
  whole: Schema.Literals([true, true, true, false])
})

/** One reply; with `errorAt` an error comes before that line. */
const Reply = Schema.Struct({
  text: Schema.Literals(["", "a", "bc"]),
  calls: Schema.Array(Call).check(Schema.isMaxLength(4)),
  finish: Schema.Literals([
    "tool_calls",
    "tool_calls",
    "tool_calls",
    "tool_calls",
    "stop",
    "length",
    "content_filter",
    "error",
    "other",
    "none"
  ]),
  errorAt: Schema.Literals([-1, -1, -1, -1, -1, -1, 0, 1, 2])
})

/** A conversation of at most three replies, and how it is run. */
export const Scenario = Schema.Struct({
  replies: Schema.Array(Reply).check(Schema.isMinLength(1), Schema.isMaxLength(3)),
  mode: Schema.Literals(["auto", "auto", "auto", "manual"]),
  onToolError: Schema.Literals(["continue", "continue", "halt"]),
  onUnknownTool: Schema.Literals(["error", "continue", "continue"]),
  maxConcurrency: Schema.Literals([1, 2, 8]),
  maxTurns: Schema.Literals([1, 2, 8])
})
export type Scenario = typeof Scenario.Type

/** The options of a scenario. */
export const optionsOf = ({ mode, onToolError, onUnknownTool, maxConcurrency, maxTurns }: Scenario): ChatOptions => ({
  mode,
  onToolError,
  onUnknownTool,
  maxConcurrency,
  maxTurns,
  requestId: "r",
  drainMs: 0
})

/** The scripts of a scenario; every call has an id of its own. */
export const scriptsOf = ({ replies }: Scenario): ReadonlyArray<Script> =>
  replies.map(({ text, calls, finish, errorAt }, step) => {
    const lines: Array<ScriptEntry> = text === "" ? [] : [{ text }]
    calls.forEach(({ tool, delay, whole }, index) => {
      const id = `s${step}c${index}`
      lines.push({
        toolCall: { id, name: tool, arguments: { delay }, ...(whole ? {} : { rawArguments: '{"delay":' }) }
      })
    })
    if (errorAt >= 0) lines.splice(Math.min(errorAt, lines.length), 0, { error: "timeout" })
    return finish === "none" ? lines : [...lines, { finish }]
  })

/** For each call of a thread, how many tool messages answer it. */
export const answersOf = (messages: ReadonlyArray<Message>): ReadonlyMap<string, number> => {
  const answers = new Map<string, number>()
  for (const message of messages) {
    if (message.role === "assistant") for (const call of message.toolCalls ?? []) answers.set(call.id, 0)
    if (message.role === "tool") answers.set(message.toolCallId, (answers.get(message.toolCallId) ?? Number.NaN) + 1)
  }
  return answers
}
