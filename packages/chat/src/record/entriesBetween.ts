/** The named entries that lead from one record to another: their fold over the record before is the record. */
import * as Equal from "effect/Equal"
import type { Conversation, OpenCall, OpenStep } from "./Conversation.ts"
import { type Entry, evolve, saved } from "./entries.ts"
import { identicalPrefix } from "../json/index.ts"
import type { Message } from "../model/index.ts"

/** The entries of a save. */
export const entriesBetween = (before: Conversation, record: Conversation): ReadonlyArray<Entry> => {
  const entries = new Entries(before)
  if (!isOfCaller(before, record) || !isBeginning(before.known, record.known)) return [entries.whole(record)]
  const isOpened = entries.step(before.open, record)
  entries.thread(record, isOpened)
  if (isOpened) entries.calls(record)
  entries.state(record)
  return entries.isOf(record) ? entries.all : [new Entries(before).whole(record)]
}

/** The fields that no turn changes. */
const callers = ["id", "parent", "context", "metadata", "status", "lastOutcome"] as const

const isOfCaller = (before: Conversation, record: Conversation): boolean => {
  for (const field of callers) {
    if (before[field] !== record[field] && !isSame(before[field], record[field])) return false
  }
  return true
}

const isSame = (one: unknown, other: unknown): boolean =>
  one === other || (typeof one === "object" && typeof other === "object" && Equal.equals(one, other))

const isBeginning = (before: ReadonlyArray<string> = [], after: ReadonlyArray<string> = []): boolean =>
  before === after || before.every((id, place) => id === after[place])

/** The entries found so far, and the record that they lead to. */
class Entries {
  readonly all: Array<Entry> = []
  #now: Conversation
  /** The draft of a record that was loaded may be beside its entry. */
  readonly #draft: string | undefined

  constructor(before: Conversation) {
    this.#now = before
    this.#draft = before.draft
  }

  add(entry: Entry): void {
    this.all.push(entry)
    this.#now = evolve(this.#now, entry)
  }

  /** Adds an entry with new messages. If they lead to the messages of a thread, these are not copied. */
  #placed(
    entry: Extract<Entry, { readonly type: "InputTaken" | "Replied" | "MessagesAdded" }>,
    to: Conversation["thread"]["messages"] | undefined
  ): void {
    if (to === undefined) return this.add(entry)
    this.all.push(entry)
    const now = evolve(this.#now, { ...entry, messages: [] })
    this.#now = { ...now, thread: { ...now.thread, messages: to } }
  }

  whole(record: Conversation): Entry {
    const known = this.#now.known ?? []
    return saved(record, {
      messages: sharedPrefix(this.#now.thread.messages, record.thread.messages),
      known: sharedPrefix(known, record.known ?? [])
    })
  }

  /** The changes of the step that is open before; returns whether another one is open after. */
  step(before: OpenStep | undefined, { thread, open }: Conversation): boolean {
    if (before === undefined) return open !== undefined
    if (open !== undefined && open.at === before.at && open.id === before.id) {
      this.#changes(thread.messages, open)
      return false
    }
    const results = resultsAt(thread.messages, before)
    before.calls.forEach(({ state }, call) => {
      const message = state === "done" ? undefined : results[call]
      if (message !== undefined) this.add({ type: "CallEnded", call, messages: [message] })
    })
    this.add({ type: "StepEnded" })
    return open !== undefined
  }

  /** The states of the calls of the step that is open after. */
  calls({ thread, open }: Conversation): void {
    if (open !== undefined) this.#changes(thread.messages, open)
  }

  #changes(messages: ReadonlyArray<Message>, open: OpenStep): void {
    const results = resultsOf(messages, open)
    const intended: Array<
      { readonly call: number } & Omit<Extract<OpenCall, { readonly state: "intended" }>, "state">
    > = []
    open.calls.forEach((state, call) => {
      const was = this.#now.open?.calls[call]
      const result = results[call]
      if (was === undefined || isSame(was, state)) return
      if (state.state === "intended")
        intended.push({ call, ...(state.arguments !== undefined && { arguments: state.arguments }) })
      else if (state.state === "done" && result !== undefined) this.add({ type: "CallEnded", call, messages: [result] })
      else this.add({ type: state.state === "waiting" ? "CallAsked" : "Decided", call, state })
    })
    if (intended.length > 0) this.add({ type: "CallsIntended", calls: intended })
    if (!isSame(this.#now.open?.halt, open.halt))
      this.add({ type: "StepHalted", ...(open.halt !== undefined && { halt: open.halt }) })
  }

  /** The messages beside the results of the open step. */
  thread({ thread, inputs, known, open, running, lastHaltedReason }: Conversation, isOpened: boolean): void {
    // A turn that ended has left no save.
    if (running && this.#now.lastHaltedReason !== lastHaltedReason)
      this.add({ type: "TurnEnded", reason: lastHaltedReason })
    const now = this.#now
    const { length } = now.thread.messages
    const kept = sharedPrefix(now.thread.messages, thread.messages)
    const end = isOpened && open !== undefined ? open.at : thread.messages.length
    const rest = { ...(kept < length && { at: kept }), messages: thread.messages.slice(kept, end) }
    const to = kept === length && end === thread.messages.length ? thread.messages : undefined
    const added = known?.slice(now.known?.length ?? 0) ?? []
    const learned = added.length === 0 ? {} : { known: added }
    if (!isSame(now.inputs, inputs) || added.length > 0)
      this.#placed({ type: "InputTaken", ...rest, inputs: inputs ?? [], ...learned }, to)
    else if (rest.messages.length > 0 || (kept < length && kept < end)) {
      const isReply = rest.messages.some(({ role }) => role === "assistant")
      this.#placed({ type: isReply ? "Replied" : "MessagesAdded", ...rest }, to)
    }
    if (isOpened && open !== undefined) this.#opened(thread.messages, open)
    if (running && !this.#now.running) this.add({ type: "TurnContinued" })
    if (!isSame(thread.metadata, this.#now.thread.metadata) && thread.metadata !== undefined)
      this.add({ type: "MessagesAdded", messages: [], metadata: thread.metadata })
    if (!isSame(thread.compaction, this.#now.thread.compaction))
      this.add({ type: "Compacted", compaction: thread.compaction })
  }

  #opened(messages: ReadonlyArray<Message>, { id, agent, at, calls }: OpenStep): void {
    const manual = calls.flatMap(({ state }, call) => (state === "manual" ? [call] : []))
    const of = { ...(id !== undefined && { id }), ...(agent !== undefined && { agent }) }
    this.add({ type: "Replied", at, messages: messages.slice(at, at + 1), step: { ...of, manual } })
  }

  /** The fields beside the thread and its step. */
  state(record: Conversation): void {
    const { pendingQuestion, pendingToolCalls, expiresAt, usage, chain, agent, permissionMode, children, draft } =
      record
    if (!record.running && (this.#now.running || this.#now.lastHaltedReason !== record.lastHaltedReason))
      this.add({ type: "TurnEnded", reason: record.lastHaltedReason })
    const now = this.#now
    if (
      now.expiresAt !== expiresAt ||
      !isSame(now.pendingQuestion, pendingQuestion) ||
      !isSame(now.pendingToolCalls, pendingToolCalls)
    )
      this.add({ type: "WaitChanged", pendingQuestion, pendingToolCalls, expiresAt })
    if (!isSame(now.usage, usage) || !isSame(now.chain, chain)) this.add({ type: "Used", usage, chain })
    if (!isSame(now.agent, agent)) this.add({ type: "AgentSet", agent })
    if (!isSame(now.permissionMode, permissionMode)) this.add({ type: "ModeSet", permissionMode })
    if (!isSame(now.children, children)) this.add({ type: "ChildrenChanged", children })
    if (now.draft !== draft || this.#draft !== undefined) this.add({ type: "ReplyCut", draft })
    this.#tasks(record)
  }

  #tasks({ tasks = [] }: Conversation): void {
    const before = this.#now.tasks ?? []
    if (before === tasks) return
    for (const { id } of before) if (!tasks.some((task) => task.id === id)) this.add({ type: "TaskEnded", id })
    for (const task of tasks) {
      const earlier = before.find(({ id }) => id === task.id)
      if (earlier === undefined) this.add({ type: "TaskBegan", task })
      else if (!isSame(earlier, task)) this.add({ type: "TaskChanged", task })
    }
  }

  /** Whether the entries lead to this record. */
  isOf(record: Conversation): boolean {
    return isSameRecord(this.#now, record)
  }
}

/** Whether two records of a conversation have the same thread and the same state. */
export const isSameRecord = (one: Conversation, other: Conversation): boolean => {
  const { messages, metadata, compaction } = one.thread
  const { length } = other.thread.messages
  if (messages.length !== length || sharedPrefix(messages, other.thread.messages) !== length) return false
  for (const field of fields) {
    if (one[field] !== other[field] && !isSame(one[field], other[field])) return false
  }
  return isSame(metadata, other.thread.metadata) && isSame(compaction, other.thread.compaction)
}

/** The fields that entries change, beside the thread. */
const fields = [
  "running",
  "lastHaltedReason",
  "pendingQuestion",
  "pendingToolCalls",
  "inputs",
  "known",
  "expiresAt",
  "open",
  "agent",
  "permissionMode",
  "tasks",
  "chain",
  "children",
  "draft",
  "usage"
] as const

/** The length of the equal beginning of two lists. */
export const sharedPrefix = <A>(before: ReadonlyArray<A>, after: ReadonlyArray<A>): number => {
  const most = Math.min(before.length, after.length)
  let kept = identicalPrefix(before, after)
  while (kept < most && (before[kept] === after[kept] || isSame(before[kept], after[kept]))) kept++
  return kept
}

/** The results of an open step, by the places of their calls. */
const resultsOf = (messages: ReadonlyArray<Message>, { at, calls }: OpenStep): ReadonlyArray<Result | undefined> => {
  let next = at + 1
  return calls.map(({ state }) => (state === "done" ? resultAt(messages, next++) : undefined))
}

/** The results behind the message of a step that is over, by the places of their calls. */
const resultsAt = (messages: ReadonlyArray<Message>, { at }: OpenStep): ReadonlyArray<Result | undefined> => {
  const message = messages[at]
  let next = at + 1
  return (message?.role === "assistant" ? (message.toolCalls ?? []) : []).map(({ id }) => {
    const result = resultAt(messages, next)
    if (result?.toolCallId !== id) return undefined
    next += 1
    return result
  })
}

type Result = Extract<Message, { readonly role: "tool" }>

const resultAt = (messages: ReadonlyArray<Message>, at: number): Result | undefined => {
  const message = messages[at]
  return message?.role === "tool" ? message : undefined
}
