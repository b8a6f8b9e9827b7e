/** Random conversations: what the model replies, and what each tool it calls then does. */
import { Process } from "@troupe/otp"
import { Effect, Schema } from "effect"
import type { ChatOptions, StepOptions } from "../../src/options/ChatOptions.ts"
import { askUser, error, halt, type HandlerResult, ok } from "../../src/values/HandlerResult.ts"
import type { Message } from "../../src/model/messageShapes.ts"
import type { StepResult } from "../../src/record/StepResult.ts"
import { make } from "../../src/tool/Tool.ts"
import type { OnToolError } from "../../src/options/callPolicy.ts"
import type { Tool } from "../../src/tool/toolContract.ts"
import type { Script } from "../../src/adapter/Fake.ts"

/** What each tool does, by its name. */
const behaviours: Readonly<Record<string, () => HandlerResult>> = {
  fine: () => ok({ n: 1 }),
  failing: () => error("no"),
  asking: () => askUser("which?"),
  halting: () => halt("budget", 1),
  stopping: () => halt("stop", { n: 2 }),
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
      effect: name === "fine" || name === "throwing" ? "read" : "write",
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

/** One reply, after so many refusals; with `errorAt` a fault comes before that line. */
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
  errorAt: Schema.Literals([-1, -1, -1, -1, -1, -1, 0, 1, 2, 3, 4, 5]),
  fault: Schema.Literals(["error", "streamError", "crash"]),
  refusals: Schema.Literals([0, 0, 0, 0, 0, 0, 1, 2]),
  refusal: Schema.Literals(["timeout", "authentication_failed"])
})

/** What an error policy does; all but two are functions, some of them faulty. */
const policies = {
  continue: "continue",
  halt: "halt",
  replacing: () => ({ continue: { replaced: true } }),
  halting: () => "halt",
  unencodable: () => ({ continue: () => 1 }),
  nonsense: () => "nonsense" as never,
  throwing: () => {
    throw new Error("policy")
  }
} satisfies Record<string, OnToolError>

const predicates = {
  none: undefined,
  always: () => true,
  answered: ({ toolResults }: StepResult) => toolResults.length > 1
} as const

const names = <K extends string>(of: Readonly<Record<K, unknown>>): ReadonlyArray<K> => Object.keys(of) as Array<K>

/** A conversation of at most three replies, and how it is run. */
export const Scenario = Schema.Struct({
  replies: Schema.Array(Reply).check(Schema.isMinLength(1), Schema.isMaxLength(3)),
  mode: Schema.Literals(["auto", "auto", "auto", "manual"]),
  onToolError: Schema.Literals(["continue", ...names(policies)]),
  onUnknownTool: Schema.Literals(["error", "continue", "continue"]),
  maxConcurrency: Schema.Literals([1, 2, 8]),
  schedule: Schema.Literals(["concurrent", "effects", "reference"]),
  maxTurns: Schema.Literals([1, 2, 8]),
  haltWhen: Schema.Literals(["none", "none", ...names(predicates)]),
  tokens: Schema.Literals([0, 0, 15]),
  twoPasses: Schema.Literals([false, false, true])
})
export type Scenario = typeof Scenario.Type

/** The options of a scenario. */
export const optionsOf = (scenario: Scenario): ChatOptions => ({
  ...stepOptionsOf(scenario),
  maxTurns: scenario.maxTurns,
  haltWhen: predicates[scenario.haltWhen],
  ...(scenario.tokens === 0 ? {} : { budget: { tokens: scenario.tokens } }),
  ...(scenario.twoPasses
    ? { structuredFinalize: true, responseFormat: { type: "json_schema", name: "n", schema: {} } as const }
    : {})
})

/** Those that are about one step. */
export const stepOptionsOf = ({
  mode,
  onToolError,
  onUnknownTool,
  maxConcurrency,
  schedule
}: Scenario): StepOptions => ({
  mode,
  onToolError: policies[onToolError],
  onUnknownTool,
  maxConcurrency,
  schedule,
  requestId: "r",
  drainMs: 0,
  retry: { maxAttempts: 2, baseDelayMs: 0, jitterMs: 0 }
})

const faults: Readonly<Record<Scenario["replies"][number]["fault"], Script[number]>> = {
  error: { error: "timeout" },
  streamError: { streamError: "timeout" },
  crash: { crash: new Error("crashed") }
}

/** The scenario with its first request open: where that one is refused, the call rejects and has no events. */
export const opening = ({ replies: [first, ...replies], ...scenario }: Scenario): Scenario => ({
  ...scenario,
  replies: first === undefined ? [] : [{ ...first, refusals: 0 }, ...replies]
})

/** The scripts of a scenario; every call has an id of its own. */
export const scriptsOf = ({ replies }: Scenario): ReadonlyArray<Script> =>
  replies.flatMap(({ text, calls, finish, errorAt, fault, refusals, refusal }, step) => {
    const lines: Array<Script[number]> = text === "" ? [] : [{ text }]
    calls.forEach(({ tool, delay, whole }, index) => {
      const id = `s${step}c${index}`
      lines.push({
        toolCall: { id, name: tool, arguments: { delay }, ...(whole ? {} : { rawArguments: '{"delay":' }) }
      })
    })
    lines.push({ usage: { totalTokens: 10 } })
    if (errorAt >= 0) lines.splice(Math.min(errorAt, lines.length), 0, faults[fault])
    const refused = Array.from({ length: refusals }, (): Script => [{ preflightError: refusal }])
    return [...refused, finish === "none" ? lines : [...lines, { finish }]]
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
