/**
 * The calls of one child, one after another: the child that a call is for, its input, and its answer.
 *
 * Owns: nothing. The record of the parent has the children that may be called again, and the thread of a child has its inputs.
 *
 * SUB17. A call without `agent` begins a child. With `agent`, the short id at the end of a result, it gives that child another input. A
 *         child that rests keeps its conversation over restarts, unloading, moves, compactions, and rewinds that keep its first call.
 * SUB18. The calls of one child run one after another. The answer of each is the text that its own input led to, also when the call runs
 *         again after a restart.
 * SUB19. The record of a chat has at most `maxKnownAgents` children. When a further one begins, the chat forgets the child that began first
 *         of those that rest. A call for an agent that is forgotten, or never was, fails with `child_refused`, and the model reads which ones
 *         there are.
 * SUB20. When a call ends while its child waits for a person, the next call of the child ends that wait first: nothing runs of what waited.
 *         While the call waits with the child, another call fails with `child_refused`.
 */
import { haltedText } from "../call/index.ts"
import { isRecord } from "../errors/index.ts"
import type { ChatContext } from "../loop/index.ts"
import type { Message, Thread } from "../model/index.ts"
import * as Usage from "../model/Usage.ts"
import {
  agentIn,
  childId,
  childOfCall,
  type ChildWait,
  type Conversation,
  shortIdOf,
  type UserInput,
  withShortId
} from "../record/index.ts"
import { memberId, type TreeLimits } from "../family/index.ts"
import { haltIn, openToolCalls } from "../step/index.ts"
import { ChildWaits, digest, type Returned, type SubagentCall } from "../tool/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"
import { answerOf, failed, lastSaid } from "./childAnswer.ts"
import { asksOf, mostAsks, type Turn } from "./childWaits.ts"

/** The id of the first input of a child. */
const firstInput = "task"

/** The call that an input is of, and what its child had used before. */
interface Called {
  readonly key: string
  readonly counted: Usage.Usage
}

/** The child of a call: the one that it names, the one that an earlier run began, or a new one. */
export const childOf = (
  parent: { readonly id: string; readonly context: Pick<ChatContext, "record"> | undefined },
  call: SubagentCall
): string | HandlerResult.Failed => {
  const children = parent.context?.record.children ?? []
  const key = digest(call.key)
  if (call.isMember === true) return memberId(parent.id, call.agent)
  if (call.child === undefined) return childOfCall(children, key) ?? childId(parent.id, `${call.agent}-${key}`)
  const found = withShortId(children, call.child)
  const [child] = found
  if (child !== undefined && found.length === 1 && call.child.startsWith(`${call.agent}-`)) return child
  const own = children.map((one) => shortIdOf(one, agentIn(one))).filter((one) => one.startsWith(`${call.agent}-`))
  const listed = own.slice(-mostListed).join(", ")
  const message = `there is no agent ${call.child} to continue: this chat has ${listed === "" ? "none" : listed}, and forgets those that it called longest ago; call ${call.toolCall.name} without \`agent\` to begin another`
  return failed(call, "child_refused", message, { metadata: { agents: own.slice(-mostListed) } })
}

/** How many agents a refused call lists. */
const mostListed = 8

/** The children that the record no longer has when these begin (SUB19). */
export const forgotten = (
  { children = [], thread, open, tasks = [] }: Pick<Conversation, "children" | "thread" | "open" | "tasks">,
  began: ReadonlyArray<string>,
  { most, runs }: { readonly most: number; readonly runs: (child: string) => boolean }
): ReadonlyArray<string> => {
  const others = children.filter((child) => !began.includes(child))
  const many = others.length + began.length - most
  if (many <= 0) return []
  const calls = open === undefined ? [] : openToolCalls({ thread, open })
  const named = [...calls, ...tasks].map(({ arguments: given }) => given?.["agent"])
  const inUse = new Set([
    ...named.flatMap((name) => (typeof name === "string" ? withShortId(children, name) : [])),
    ...tasks.flatMap(({ id }) => childOfCall(children, id) ?? [])
  ])
  return others.filter((child) => !runs(child) && !inUse.has(child)).slice(0, many)
}

/** One input of a child, for one call. */
export interface ChildInput {
  readonly id: string
  readonly message: (counted: Usage.Usage) => UserInput
}

/** The input of a call: the first of its child, or another one. */
export const inputOf = (call: SubagentCall): ChildInput => {
  if (call.follows !== undefined) return { id: call.follows.input, message: () => call.input }
  if (call.child === undefined && call.isMember !== true) return { id: firstInput, message: () => call.input }
  const key = digest(call.key)
  return {
    id: `call-${key}`,
    message: (counted) => ({ role: "user", content: call.input, metadata: { call: { key, counted } } })
  }
}

/** What the child had used before the input of a call, which is counted already (SUB7). */
export const countedBefore = (record: Conversation | undefined, call: SubagentCall): Usage.Usage => {
  if (call.follows !== undefined) return call.follows.counted
  const { id } = inputOf(call)
  if (record === undefined || id === firstInput) return Usage.empty
  const messages = [...record.thread.messages, ...(record.inbox ?? []).map(({ message }) => message)]
  return messages.map((message) => calledBy(message)).findLast((found) => isOf(found, id))?.counted ?? record.usage
}

const isOf = (called: Called | undefined, input: string): boolean =>
  called !== undefined && `call-${called.key}` === input

const calledBy = ({ role, metadata }: Message): Called | undefined =>
  role === "user" ? (metadata?.["call"] as Called | undefined) : undefined

/** The id of the input of a message that another agent sent. */
const sentAs = ({ metadata }: Message): unknown => {
  const sender = metadata?.["from"]
  return isRecord(sender) ? sender["input"] : undefined
}

/** The part of the thread that answers this input, and whether it is the last part (SUB18). An input that still waits has none. */
const partOf = ({ messages }: Thread, { id }: ChildInput): { readonly thread: Thread; readonly isLast: boolean } => {
  const isFor = (message: Message) => isOf(calledBy(message), id) || sentAs(message) === id
  const from = id === firstInput ? 0 : messages.findLastIndex(isFor)
  if (from === -1) return { thread: { messages: [] }, isLast: true }
  const next = messages.findIndex((message, at) => at > from && calledBy(message) !== undefined)
  return next === -1
    ? { thread: { messages: messages.slice(from) }, isLast: true }
    : { thread: { messages: messages.slice(from, next) }, isLast: false }
}

/** What the model reads of a child whose turn is over; a child that waits suspends the call (SUB10). */
export const resultOf = (
  call: SubagentCall,
  chat: { readonly id: string; readonly context: ChatContext | undefined } | undefined,
  wait: ChildWait | undefined,
  asked: typeof asksOf = asksOf
): Returned => {
  const context = chat?.context
  if (chat === undefined || context === undefined) return failed(call, "cancelled", "the call was cancelled")
  const { lastHaltedReason: haltedReason, usage: counted } = context.record
  const { thread, isLast } = partOf(context.record.thread, inputOf(call))
  const said = lastSaid(thread)
  const text = said === "" ? "" : `; its last text: ${said}`
  const halt = haltIn(wait)
  if (halt !== undefined) return HandlerResult.halt(halt, `${haltedText(halt)}${text}`)
  const asks = isLast ? asked({ id: chat.id, context }) : []
  if (asks.length > mostAsks) {
    return failed(call, "child_failed", `the agent ${call.agent} asked for more than ${mostAsks} decisions at once`)
  }
  if (asks.length > 0) return new ChildWaits({ chat: chat.id, asks, counted })
  const shortId = shortIdOf(chat.id, call.agent)
  if (haltedReason === "completed" || !isLast) return answerOf(call, thread, { said: text, shortId })
  const message = `the agent ${call.agent} ended without an answer, because of ${haltedReason}${text}; call ${call.toolCall.name} with the agent ${shortId} to continue it`
  return failed(call, "child_failed", message, { metadata: { haltedReason } })
}

/** A child that gets an input. */
export interface Sending {
  readonly send: (input: UserInput, options?: { readonly id: string }) => Turn
  /** Gives it a message of a tool. */
  readonly note: (input: UserInput, options: { readonly id?: string; readonly whenBusy?: "steer" }) => Turn
  readonly retry: () => Turn
}

/** The turn of the child; `undefined` when it is over (SUB5), or goes on in the turn of a later input, such as the end of a task. */
export const turnOf = (
  context: ChatContext | undefined,
  child: Sending,
  { id, message }: ChildInput,
  counted: Usage.Usage
): Turn | undefined => {
  const isKnown = context?.record.known?.includes(id) === true
  const runs = context?.turn !== undefined && context.record.inputs?.includes(id) === true
  if (!isKnown || runs) {
    // A message that woke the child waits for it.
    const [waiting] = context?.inbox.find((input) => input.id === id)?.messages ?? []
    if (waiting?.role !== "user") return child.send(message(counted), { id })
    const { writer: _, ...sent } = waiting
    return child.note(sent, { id })
  }
  const { running, lastHaltedReason } = context.record
  if (context.turn !== undefined) return undefined
  return !running && lastHaltedReason !== "cancelled" ? undefined : child.retry()
}

/** Whether the call that a child works for goes on, so that what the child waits for is its wait. */
const isOwned = (child: Conversation, parent: Conversation | undefined, id: string): boolean => {
  const last = child.thread.messages.map((message) => calledBy(message)).findLast((called) => called !== undefined)
  const key = last?.key ?? id.slice(id.lastIndexOf("-") + 1)
  const { tasks = [], open } = parent ?? {}
  const calls = open?.calls.some((one) => one.state === "waiting" && one.child?.chat === id) === true
  return calls || tasks.some((task) => task.id === key || task.child?.chat === id)
}

/**
 * The failure of a call for a child that waits for a person: the answer is for the call that waits. If that call is over, `endWait` ends the
 * wait (SUB20).
 */
export const stillAsks = async (
  { id, context }: { readonly id: string; readonly context: ChatContext | undefined },
  { wait, parent }: { readonly wait: ChildWait | undefined; readonly parent: Conversation | undefined },
  call: SubagentCall,
  endWait: () => Promise<void>
): Promise<HandlerResult.Failed | undefined> => {
  if (context === undefined || wait !== undefined) return undefined
  const { known } = context.record
  if (known?.includes(inputOf(call).id) === true || asksOf({ id, context }).length === 0) return undefined
  // A message that the child read before its first input led to the wait.
  if (call.child === undefined) return undefined
  if (!isOwned(context.record, parent, id)) {
    await endWait()
    return undefined
  }
  const message = `the agent ${call.child} waits for a person; call it again when it has answered`
  return failed(call, "child_refused", message)
}

/**
 * Resolves when the other call of a child that runs is over, or this one is aborted; `undefined` if none runs (SUB18). Several calls can wait
 * for the same one, so each looks again:
 *
 *   1. calls B and C wait for call A, which ends
 *   2. B looks, and begins in the same turn of the loop
 *   3. C looks, and waits for B
 */
export const callBefore = (
  run: { readonly key: string; readonly over: { readonly promise: Promise<void> } } | undefined,
  { key, signal }: SubagentCall
): Promise<void> | undefined => {
  if (run === undefined || run.key === key || signal.aborted) return undefined
  const { promise, resolve } = Promise.withResolvers<void>()
  const over = (): void => {
    signal.removeEventListener("abort", over)
    resolve()
  }
  signal.addEventListener("abort", over)
  void run.over.promise.then(over)
  return promise
}

/** The failure of a call beyond a bound of depth or width (SUB2, SUB13); otherwise its child counts. */
export const boundMet = (
  { id, depth, others }: { readonly id: string; readonly depth: number; readonly others: number },
  call: SubagentCall,
  tree: TreeLimits
): HandlerResult.Failed | undefined => {
  const { maxDepth, maxChildren } = call
  if (depth > maxDepth) {
    const message = `a chat may have ${maxDepth} levels of agents below it, and this one would be level ${depth}; do the task without ${call.agent}`
    return failed(call, "child_refused", message, { metadata: { maxDepth } })
  }
  if (others >= maxChildren) {
    const message = `${maxChildren} agents run for this chat, and no more may; call ${call.agent} again when one of them has answered`
    return failed(call, "child_refused", message, { metadata: { maxChildren } })
  }
  if (tree.begins(id)) return undefined
  const { maxTreeChildren } = tree.bounds
  const many = `${maxTreeChildren} agents have begun for the last message, and no more may; do the task without ${call.agent}`
  return failed(call, "child_refused", many, { metadata: { maxTreeChildren } })
}
