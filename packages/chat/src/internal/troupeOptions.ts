/** Checks what a Troupe is given from outside: its options, and the records of its store. */
import { ChatRecord } from "../ChatRecord.ts"
import { type Finding, SessionError, ValidationError } from "../ChatError.ts"
import { toolResult, type ToolMessage } from "../Message.ts"
import type { TroupeOptions } from "../Troupe.ts"
import * as Validate from "../Validate.ts"
import { positive } from "./optionChecks.ts"
import { type Opened, openToolCalls, withResults } from "./openCalls.ts"
import { answered, unpaired } from "./pairing.ts"

const hasFunctions = (value: unknown, ...names: ReadonlyArray<string>): boolean =>
  typeof value === "object" && value !== null && names.every((name) => typeof Reflect.get(value, name) === "function")

const isPositive = (value: unknown): boolean => typeof value === "number" && value > 0

const isCount = (value: unknown): boolean => Number.isInteger(value) && Number(value) >= 0

/** Throws a `ValidationError` that names each option of the wrong kind. */
export const checkTroupeOptions = (options: TroupeOptions): void => {
  if (typeof options !== "object" || options === null) {
    throw new ValidationError("invalid_options", [{ field: [], reason: "must_be_an_object of options" }])
  }
  const {
    store,
    system,
    name,
    maxRestarts,
    maxSeconds,
    onCrash,
    suspendedTtlMs,
    answer,
    maxToolCalls,
    draftEveryMs,
    passivateAfterMs
  } = options
  const found: Array<Finding> = ["signal", "requestId"]
    .filter((field) => field in options)
    .map((field) => ({ field: [field], reason: "is no option of a Troupe: it would be that of every turn" }))
  const check = (field: string, valid: boolean, reason: string) => {
    if (!valid) found.push({ field: [field], reason })
  }
  check(
    "store",
    store === undefined || hasFunctions(store, "load", "save", "delete"),
    "must have load, save and delete"
  )
  check("system", system === undefined || hasFunctions(system, "make"), "must come from System.make")
  check("name", name === undefined || (typeof name === "string" && name !== ""), "must be a text that is not empty")
  check("maxRestarts", maxRestarts === undefined || isCount(maxRestarts), "must be a whole number, 0 or more")
  check("maxSeconds", maxSeconds === undefined || isPositive(maxSeconds), "must be a number more than 0")
  check("onCrash", onCrash === undefined || typeof onCrash === "function", "must be a function")
  check("suspendedTtlMs", suspendedTtlMs === undefined || isPositive(suspendedTtlMs), "must be a number more than 0")
  check(
    "passivateAfterMs",
    passivateAfterMs === undefined || isPositive(passivateAfterMs),
    "must be a number more than 0"
  )
  check("draftEveryMs", draftEveryMs === undefined || isPositive(draftEveryMs), "must be a number more than 0")
  check(
    "maxToolCalls",
    maxToolCalls === undefined || positive(maxToolCalls) === undefined,
    "must be a whole number, 1 or more"
  )
  check(
    "answer",
    answer === undefined || answer === "user_message" || answer === "tool_result",
    "must be user_message or tool_result"
  )
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}

/** Throws a `SessionError` when what a store gave cannot be a chat's record. */
export const checkRecord = (id: string, record: unknown): void => {
  if (record === undefined) return
  const { success, data, error } = ChatRecord.safeParse(record)
  const invalid = success ? (otherChat(id, data) ?? invalidMessages(data)) : error
  if (invalid === undefined) return
  throw new SessionError("invalid_record", `The store's record of the chat ${id} is no ChatRecord; delete or mend it`, {
    cause: invalid
  })
}

const otherChat = (id: string, record: ChatRecord): Error | undefined =>
  record.id === id ? undefined : new Error(`it is the record of the chat ${record.id}`)

/** Messages that are none, and calls without a result that nobody is going to give. */
const invalidMessages = ({ thread, inbox = [], pendingToolCalls, open }: ChatRecord): Error | undefined =>
  Validate.thread(thread) ??
  Validate.thread({ messages: inbox.map(({ message }) => message) }) ??
  (open === undefined
    ? unpaired(pendingToolCalls.reduce((settled, { id }) => answered(settled, toolResult(id, "")), thread))
    : invalidOpening({ thread, open }))

/** An open step that is not that of the message it names. */
const invalidOpening = (opened: Opened): Error | undefined => {
  const { calls } = opened.open
  const toolCalls = openToolCalls(opened)
  if (toolCalls.length === 0 || toolCalls.length !== calls.length) return new Error("its open step is of no message")
  const results = toolCalls.flatMap(({ id }, position): ReadonlyArray<[number, ToolMessage]> =>
    calls[position]?.state === "done" ? [] : [[position, toolResult(id, "")]]
  )
  return unpaired(withResults(opened, new Map(results)).thread)
}
