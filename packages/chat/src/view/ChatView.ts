/**
 * The state of a chat for a user interface: plain data, the same for a chat in this program and for one behind a server.
 *
 * SHOW1. Applying the patch between two views to the first gives the second, also after a trip through JSON.
 * SHOW2. There is no patch between equal views.
 * SHOW3. A view reads back unchanged from its JSON text. Its errors have no stack and no cause.
 * SHOW4. Parts, messages and calls that did not change are the same objects in the next view.
 * SHOW5. The size of a patch grows with the added messages and text; messages that both views have are not compared in
 *        depth.
 *
 * @module
 */
import type { RequestDelayed } from "../events/index.ts"
import type { HaltedReason, Mode, PendingApproval, PendingQuestion } from "../record/index.ts"
import {
  asShown,
  isSame,
  type PartialReply,
  samePrefix,
  sharing,
  sharingEach,
  shown,
  shownError,
  withObject
} from "../json/index.ts"
import {
  type CallView,
  callOf,
  type ChildPatch,
  childPatches,
  type Grown,
  grown,
  grownPatch,
  withChildren
} from "./callView.ts"
import type { ChatPhase, ChatSnapshot, ChatStatus, LiveContext, ShownTask } from "./liveView.ts"
import type { Message, ToolCall, Usage } from "../model/index.ts"

export { mainArgument } from "../json/index.ts"

/** An error in a view: no stack, no cause. */
interface ErrorView {
  readonly name: string
  readonly reason: string | undefined
  readonly message: string
}

/** An input that waits for its turn. */
interface InputView {
  readonly id: string
  readonly message: Message
}

/** The view of a chat, as plain JSON. Unchanged parts are the same objects as in the view before. */
export interface ChatView {
  /** The id of the conversation. */
  readonly id: string
  /** The name of the agent of the next request, if the chat has one. */
  readonly agent: string | undefined
  /** `running`, or the status of the conversation. */
  readonly status: ChatStatus
  /** The activity of the chat; `interrupted` when the end of the program cut a turn short, and `retry` continues it. */
  readonly phase: ChatPhase
  /** The thread as committed. */
  readonly messages: ReadonlyArray<Message>
  /**
   * The reply that streams, or the known text of the interrupted one; `reasoning` is absent until there is some. A reply in JSON
   * also has its `object` so far, which nothing has validated.
   */
  readonly partial: PartialReply
  /**
   * The wait of the request before it is sent again, if it takes more than a second: its length `waitMs`, its end `retryAt` on
   * the system's clock, both in whole milliseconds, and the `reason`. It is there until the reply begins.
   */
  readonly delayed: RequestDelayed | undefined
  /**
   * The calls of the running step, or of the last one until the next begins. The running call of a sub-agent with `events` has
   * its `child`.
   */
  readonly toolCalls: ReadonlyArray<CallView>
  /** The background tasks whose end the thread does not have. */
  readonly tasks: ReadonlyArray<ShownTask>
  /** The question of a tool that waits for the user. */
  readonly question: PendingQuestion | undefined
  /** The calls that wait for a decision. */
  readonly approvals: ReadonlyArray<PendingApproval>
  /** The calls that the caller answers. */
  readonly pendingToolCalls: ReadonlyArray<ToolCall>
  /** The inputs that wait. */
  readonly inbox: ReadonlyArray<InputView>
  /** The tokens and the cost of the conversation. */
  readonly usage: Usage
  /** The mode that the next calls are judged by. */
  readonly permissionMode: Mode
  /** Why the last ended turn ended. */
  readonly haltedReason: HaltedReason | undefined
  /** The error of the last turn, until the next begins. */
  readonly error: ErrorView | undefined
}

/** The changes from one view to the next: only the additions of messages, text and reasoning. */
export interface ChatViewPatch {
  /** How many messages stay, and those after them. */
  readonly messages?: { readonly kept: number; readonly added: ReadonlyArray<Message> }
  /** `json`: the text has an object, which the reader of the patch reads from the text. */
  readonly text?: Grown & { readonly json?: true }
  /** What was added to the reasoning. */
  readonly reasoning?: Grown
  /** The texts of the children of calls, if nothing else of the calls changed. */
  readonly children?: ReadonlyArray<ChildPatch>
  /** The other parts that changed; a part that became `undefined` is `null`. */
  readonly rest?: { readonly [Key in Exclude<keyof ChatView, "messages" | "partial">]?: ChatView[Key] | null }
}

type Rest = Exclude<keyof ChatView, "messages" | "partial">

const rest: ReadonlyArray<Rest> = [
  "id",
  "agent",
  "status",
  "phase",
  "delayed",
  "toolCalls",
  "tasks",
  "question",
  "approvals",
  "pendingToolCalls",
  "inbox",
  "usage",
  "permissionMode",
  "haltedReason",
  "error"
]

/** The view of a chat without a snapshot. */
const nothing: ChatView = {
  id: "",
  agent: undefined,
  status: "idle",
  phase: "idle",
  messages: [],
  partial: { text: "" },
  delayed: undefined,
  toolCalls: [],
  tasks: [],
  question: undefined,
  approvals: [],
  pendingToolCalls: [],
  inbox: [],
  usage: {},
  permissionMode: "default",
  haltedReason: undefined,
  error: undefined
}

/**
 * The view of a snapshot; unchanged parts are the same objects as in `before`.
 *
 * **Details**: values without a JSON form are replaced: bytes by their count, a large number by its digits, an error by its
 * name and message. Without a snapshot the view is empty.
 *
 * @example
 * ```ts import.meta.vitest
 * import { Fake, Troupe } from "@troupe/chat"
 * import { ChatView } from "@troupe/chat/view"
 *
 * const troupe = await Troupe.start({ adapter: Fake.make({ script: [{ text: "Hi." }, { finish: "stop" }] }) })
 * const chat = await troupe.chat("c1")
 * const before = ChatView.of("c1", chat.getSnapshot())
 * await chat.send("Hello").result()
 * const after = ChatView.of("c1", chat.getSnapshot(), before)
 *
 * after.messages.map(({ content }) => content) // => ["Hello", "Hi."]
 * ChatView.apply(before, ChatView.patch(before, after) ?? {}) // => after
 * await troupe.stop()
 * ```
 */
export const of = (id: string, snapshot: ChatSnapshot | undefined, before?: ChatView): ChatView => {
  if (snapshot === undefined) return sharing(before, { ...nothing, id })
  const { context } = snapshot
  const { partial } = context
  const after: ChatView = {
    id,
    agent: context.agent?.name,
    status: context.status,
    phase: context.phase,
    messages: messagesOf(context.thread.messages, before?.messages),
    partial: before !== undefined && isSamePartial(before.partial, partial) ? before.partial : partial,
    delayed: sharing(before?.delayed, context.delayed),
    toolCalls: sharingEach(before?.toolCalls, context.toolCalls.map(callOf)),
    tasks: sharingEach(before?.tasks, context.tasks.map(taskOf)),
    question: sharing(before?.question, asCopy(context.pendingQuestion)),
    approvals: sharingEach(before?.approvals, asCopy(context.pendingApprovals)),
    pendingToolCalls: sharingEach(before?.pendingToolCalls, asCopy(context.pendingToolCalls)),
    inbox: sharingEach(
      before?.inbox,
      context.inbox.map((entry) => ({ id: entry.id, message: messageOf(entry.message) }))
    ),
    usage: sharing(before?.usage, asCopy(context.usage)),
    permissionMode: context.permissionMode,
    haltedReason: context.lastHaltedReason,
    error: sharing(before?.error, errorOf(context))
  }
  if (before === undefined) return after
  return (Object.keys(after) as ReadonlyArray<keyof ChatView>).every((part) => after[part] === before[part])
    ? before
    : after
}

const isSamePartial = (one: PartialReply, other: PartialReply): boolean =>
  isSameText(one, other) && one.reasoning === other.reasoning

const isSameText = (one: PartialReply, other: PartialReply): boolean =>
  one.text === other.text && (one.object === undefined) === (other.object === undefined)

const asCopy = <A>(value: A): A => shown(value) as A

const taskOf = ({ progress, ...task }: ShownTask): ShownTask => ({ ...task, progress: shown(progress) })

const errorOf = ({ result, failure }: Pick<LiveContext, "result" | "failure">): ErrorView | undefined => {
  const error: unknown = result?.metadata["error"] ?? failure
  return error === undefined || error === null ? undefined : shownError(error)
}

/** (SHOW5) Caches the view of a message, and of a thread's messages. */
const shownMessages = new WeakMap<Message, Message>()
const shownThreads = new WeakMap<ReadonlyArray<Message>, ReadonlyArray<Message>>()

const messageOf = (message: Message): Message => {
  let found = shownMessages.get(message)
  if (found === undefined) {
    found = asShown(message)
    shownMessages.set(message, found)
  }
  return found
}

/** Reuses the messages of the view before when the thread has equal ones, for example after a load from the store. */
const messagesOf = (
  messages: ReadonlyArray<Message>,
  before: ReadonlyArray<Message> | undefined
): ReadonlyArray<Message> => {
  let found = shownThreads.get(messages)
  if (found === undefined) {
    found = messages.map(messageOf)
    shownThreads.set(messages, found)
  }
  return sharingEach(before, found)
}

/**
 * The patch from `before` to `after`; `undefined` if they are equal. Without `before`, the whole view.
 *
 * **Details**: it is plain JSON. Messages and text that both views begin with are left out.
 */
export const patch = (before: ChatView | undefined, after: ChatView): ChatViewPatch | undefined => {
  if (before === after) return undefined
  const from = before ?? nothing
  const messages = messagesPatch(from.messages, after.messages)
  const text = textPatch(from.partial, after.partial)
  const reasoning = grownPatch(from.partial.reasoning, after.partial.reasoning)
  const differing = rest.filter((part) => before === undefined || !isSame(before[part], after[part]))
  const children =
    before !== undefined && differing.includes("toolCalls") ? childPatches(from.toolCalls, after.toolCalls) : undefined
  const changed = children === undefined ? differing : differing.filter((part) => part !== "toolCalls")
  const change: ChatViewPatch = {
    ...(messages !== undefined && { messages }),
    ...(text !== undefined && { text }),
    ...(reasoning !== undefined && { reasoning }),
    ...(children !== undefined && { children }),
    ...(changed.length === 0 ? {} : { rest: Object.fromEntries(changed.map((part) => [part, after[part] ?? null])) })
  }
  return before !== undefined && Object.keys(change).length === 0 ? undefined : change
}

const messagesPatch = (before: ChatView["messages"], after: ChatView["messages"]): ChatViewPatch["messages"] => {
  if (before === after) return undefined
  const kept = samePrefix(before, after)
  return kept === before.length && kept === after.length ? undefined : { kept, added: after.slice(kept) }
}

const textPatch = (before: PartialReply, after: PartialReply): ChatViewPatch["text"] => {
  if (isSameText(before, after)) return undefined
  const change = grownPatch(before.text, after.text) ?? { kept: after.text.length, added: "" }
  return after.object === undefined ? change : { ...change, json: true }
}

const patched = (
  before: PartialReply,
  { text, reasoning }: Pick<ChatViewPatch, "text" | "reasoning">
): PartialReply => {
  const thought = grown(before.reasoning, reasoning)
  const said = { text: grown(before.text, text), ...(thought === "" ? {} : { reasoning: thought }) }
  const isJson = text === undefined ? before.object !== undefined : text.json === true
  return isJson ? withObject(before, said) : said
}

/**
 * The view after a patch. Parts that the patch does not name stay unchanged; without a view they are those of an empty chat, so
 * `apply(undefined, { rest: { id } })` is the view of a chat that is not known yet. A page that loads it does not load {@link of}.
 */
export const apply = (before: ChatView | undefined, change: ChatViewPatch): ChatView => {
  const from = before ?? nothing
  const { messages, text, reasoning, children, rest: changed } = change
  const after: { -readonly [Part in keyof ChatView]: ChatView[Part] } = {
    ...from,
    ...(messages !== undefined && { messages: [...from.messages.slice(0, messages.kept), ...messages.added] }),
    ...(text === undefined && reasoning === undefined ? {} : { partial: patched(from.partial, change) }),
    ...(children !== undefined && { toolCalls: withChildren(from.toolCalls, children) })
  }
  if (changed !== undefined) for (const part of rest) take(after, part, changed)
  return after
}

const take = <Part extends Rest>(
  view: { [Key in Part]: ChatView[Key] },
  part: Part,
  changed: { readonly [Key in Part]?: ChatView[Key] | null }
): void => {
  const value = changed[part]
  if (value !== undefined) view[part] = value ?? undefined
}
