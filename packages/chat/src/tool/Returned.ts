/**
 * What the handler of a call returns: one of the four outcomes, questions to a person, or what only the library's own tools return.
 *
 * PERSON1. A question of a handler is a wait of its call, like that of a sub-agent: it is listed, decided once, and kept over restarts
 *          and moves.
 */
import type { Clock } from "@troupe/otp"
import { isRecord, shortened, ToolError } from "../errors/index.ts"
import { deepestLevels } from "../json/index.ts"
import type { ToolCall } from "../model/index.ts"
import { type MemoryChange, notedIn } from "../compaction/index.ts"
import type { Ask, BackgroundTask, ChildWait, Decision } from "../record/index.ts"
import { write } from "../values/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"
import { loadSchemas } from "./jsonSchema.ts"

/** The sub-agent or the handler of the call waits for a person: the call is suspended until all of these waits are decided. */
export class ChildWaits {
  readonly type = "child_waits"
  readonly child: ChildWait

  constructor(child: ChildWait) {
    this.child = child
  }
}

/** The work of the call goes on as a background task. */
export class TaskBegan {
  readonly type = "task_began"
  readonly task: BackgroundTask

  constructor(task: BackgroundTask) {
    this.task = task
  }
}

/** The call changes a memory, which the end of its turn stores (MEMO1). The metadata of its message has the change. */
export class MemoryNoted {
  readonly type = "memory_noted"
  readonly metadata: ReturnType<typeof notedIn>
  readonly value: unknown

  constructor(turn: string | undefined, change: MemoryChange, value: unknown) {
    this.metadata = notedIn(turn, change)
    this.value = value
  }
}

export type Returned = HandlerResult.HandlerResult | ChildWaits | TaskBegan | MemoryNoted

/** Whether the library made the value. */
export const isReturned = (value: unknown): value is Returned =>
  HandlerResult.isHandlerResult(value) ||
  value instanceof TaskBegan ||
  value instanceof ChildWaits ||
  value instanceof MemoryNoted

/** The outcome that the model reads. A call that was cancelled while its sub-agent waited is cancelled. */
export const handlerResultOf = ({ id, name }: ToolCall, returned: Returned): HandlerResult.HandlerResult => {
  switch (returned.type) {
    case "task_began": {
      const note = "The task runs in the background. A message reports its end; go on without waiting for it."
      return HandlerResult.ok({ task: returned.task.id, status: "running", note })
    }
    case "memory_noted":
      return HandlerResult.ok(returned.value)
    case "child_waits": {
      const message = returned.child.chat === "" ? "it waits for a person" : "the sub-agent waits for a person"
      return HandlerResult.error(new ToolError("cancelled", { message, toolName: name, toolCallId: id }))
    }
    default:
      return returned
  }
}

/** A question of a handler to a person. */
export interface PersonQuestion {
  /** Identifies the question within its call. */
  readonly id: string
  /** The text. It has at most 16,000 characters, and the number of those left out. */
  readonly question: string
  /** Options for the user interface, in plain JSON; an answer must fit a JSON Schema in `schema`. Default: none. */
  readonly options?: Readonly<Record<string, unknown>> | undefined
}

/** What was decided about the questions of a call. */
export interface Answered {
  /** The decisions by the ids of the questions. */
  readonly decisions: Readonly<Record<string, Decision>>
  /** The `state` that the handler gave with its questions. */
  readonly state: unknown
}

/** How many questions a call may ask at once. */
const mostQuestions = 100

/** The most characters of the text of a question, of its options, and of the state, as JSON. */
const bounds = { question: 16_000, options: 16_000, state: 200_000 } as const

/** What a handler returns that asks a person. */
export const questionsOf = async (
  { id: toolCallId, name, arguments: args }: ToolCall,
  questions: ReadonlyArray<PersonQuestion>,
  state: unknown,
  { clock, former }: { readonly clock: Clock.Clock; readonly former: ChildWait | undefined }
): Promise<Returned> => {
  const fail = (message: string): never => {
    throw new ToolError("invalid_return", { message: `${name} ${message}`, toolName: name, toolCallId })
  }
  if (questions.length === 0 || questions.length > mostQuestions)
    fail(`must ask 1 to ${mostQuestions} questions at once`)
  if (new Set(questions.map(({ id }) => id)).size < questions.length) fail("asks two questions with one id")
  const json = (value: unknown, of: "options" | "state"): unknown => {
    const { found } = write(value, false, deepestLevels)
    if (found.length > 0) fail(`has ${of} without a JSON form`)
    const text = JSON.stringify(value) ?? "null"
    if (text.length > bounds[of]) fail(`has ${of} of more than ${bounds[of]} characters`)
    return JSON.parse(text)
  }
  const round = (former?.asks[0]?.at ?? -1) + 1
  const asks = questions.map(({ id, question, options }): Ask => {
    const given = options === undefined ? undefined : json(options, "options")
    return {
      id,
      at: round,
      kind: "question",
      toolCall: { id: toolCallId, name, arguments: JSON.stringify(args).length > bounds.options ? null : args },
      reason: shortened(question, bounds.question),
      ...(isRecord(given) ? { options: given } : {}),
      agent: "",
      chat: "",
      askedAt: Math.floor(clock.now())
    }
  })
  if (asks.some(({ options }) => options?.["schema"] !== undefined)) await loadSchemas()
  return new ChildWaits({
    chat: "",
    asks,
    counted: {},
    ...(state === undefined ? {} : { state: json(state, "state") })
  })
}

/** The answers that a call runs again with. */
export const asked = (wait: ChildWait | undefined): Answered | undefined => {
  if (wait === undefined || wait.chat !== "") return undefined
  const decisions = wait.asks.flatMap(({ id, decision }) => (decision === undefined ? [] : [[id, decision] as const]))
  return { decisions: Object.fromEntries(decisions), state: wait.state }
}
