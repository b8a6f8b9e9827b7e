/**
 * Sends commands to the process of a chat or to its running calls, and waits until they are done.
 *
 * REF15. A request to the process, such as a mode or a handoff, settles when the process ends, also while its save waits.
 */
import { EventLoop, type Pid, Process, type StateMachine } from "@troupe/otp"
import type { CallCommand, ToolCallView } from "../call/index.ts"
import { isConflict, storeFailure, SessionError } from "../errors/index.ts"
import type { ChatEnv, ModeAsk, chatMachine } from "../loop/index.ts"
import type { LiveState } from "../view/index.ts"
import type { AgentRef, BackgroundTask, Mode } from "../record/index.ts"
import type { StoreCall, StoreValues } from "../store/index.ts"
import {
  type Asked,
  type Decided,
  type DecidedBefore,
  decidedBefore,
  pendingApprovalsOf,
  waitsFor
} from "../step/index.ts"
import { undecidedCall } from "../inbox/index.ts"

/** Cancels or restarts calls of the running step: those with the id or, without an id, all. Rejects when the process dies first. */
export const controlCalls = (
  id: string,
  chat: Pid | undefined,
  { control, toolCalls }: LiveState,
  type: CallCommand["type"],
  toolCallId: string | undefined
): Promise<void> => {
  const isMeant = (call: ToolCallView) =>
    call.status !== "done" &&
    (toolCallId === undefined || call.id === toolCallId) &&
    (type === "calls.cancel" || call.status === "running")
  if (control === undefined || chat === undefined || !Process.isAlive(chat) || !toolCalls.some(isMeant)) {
    return toolCallId === undefined ? Promise.resolve() : Promise.reject(notRunning(id, toolCallId))
  }
  return new Promise((resolve, reject) => {
    const forget = Process.onExit(chat, (reason) => reject(died(id, reason)))
    const done = () => {
      forget()
      resolve()
    }
    control({ type, toolCallId, done })
  })
}

/** The process that a request is sent to, and its environment. */
export type AskedProcess = Pick<ChatProcess, "pid"> & { readonly env: ChatEnv | undefined }

/** Waits until the request counts and, if it is stored now, is stored. */
const counted = async (
  id: string,
  pid: ChatPid,
  what: string,
  ask: (counts: ModeAsk["counts"], refuse: (error: Error) => void) => void
): Promise<void> => {
  let forget = (): void => undefined
  const ended = new Promise<never>((_, reject) => {
    // An answer that came before the end of the process settles in this turn of the event loop; no other one comes (REF15).
    forget = Process.onExit(pid, (reason) => EventLoop.nextTurn(() => reject(died(id, reason))))
  })
  const failed = (cause: unknown): never => {
    throw storeFailure(`${what} counts, and could not be stored in ${id}`, cause)
  }
  const answered = new Promise<void>((resolve, reject) => {
    ask((kept) => resolve(Promise.resolve(kept).catch(failed)), reject)
  })
  return Promise.race([answered, ended]).finally(() => forget())
}

/** How many of the newest entries are searched for a decision. */
const searched = 100

/** Asks the store for the record of a chat, and for its log. */
interface Log {
  readonly ask: <Type extends "load" | "history" | "at">(
    call: Extract<StoreCall, { readonly type: Type }>
  ) => Promise<StoreValues[Type]>
}

/**
 * The error of a decision that was not the first, with the one that was applied, as the log has it; `undefined` for another error. A
 * store without a log, or one that fails, adds nothing to the error.
 */
export const withDecision = (
  refusal: unknown,
  { id, asked }: { readonly id: string; readonly asked: Asked },
  log: Log
): Promise<unknown> | undefined =>
  isLateDecision(refusal, asked)
    ? decisionIn(log, id, asked).then(
        (found) => found && undecidedCall(asked.toolCallId, found.waiting, found.before),
        () => undefined
      )
    : undefined

/**
 * Whether the record has no decision about the call: it is over, another wait of a sub-agent has its address, or another program has
 * written.
 */
const isLateDecision = (error: unknown, { about }: Asked): boolean =>
  isConflict(error) ||
  (error instanceof SessionError &&
    error.reason === "unknown_tool_call_id" &&
    ("outcome" in error.metadata || (about !== undefined && !("decision" in error.metadata))))

/** What was decided, and the calls that wait. */
interface Found {
  readonly before: DecidedBefore
  readonly waiting: ReadonlyArray<string>
}

/** The newest decision about the call in the log, unless the call waits. */
const decisionIn = async (log: Log, id: string, asked: Asked): Promise<Found | undefined> => {
  const newest = await log.ask({ type: "load", id })
  if (newest === undefined) return undefined
  const { thread, open, version = 0 } = newest
  if (open !== undefined && waitsFor({ thread, open }, { ...asked, decision: { type: "halt" } })) return undefined
  const options = { after: Math.max(0, version - searched), limit: searched }
  const commits = await log.ask({ type: "history", id, options })
  for (const { seq, state } of commits.toReversed()) {
    if (state.open?.calls.some((call) => call.state === "decided") !== true) continue
    const record = await log.ask({ type: "at", id, seq })
    const { decision } = (record && decidedBefore(record, asked)) ?? {}
    if (decision === undefined) continue
    const waiting = pendingApprovalsOf(thread, open).map(({ toolCall }) => toolCall.id)
    return { before: { ...decidedBefore(newest, asked), decision }, waiting }
  }
  return undefined
}

/** Sets the permission mode, and waits until it is stored. */
export const sendMode = (id: string, { pid, env }: AskedProcess, mode: Mode, bound: ModeAsk["bound"]): Promise<void> =>
  counted(id, pid, "The permission mode", (counts, refuse) => {
    const refused = (loosest: Mode) => refuse(modeRefused(id, mode, loosest))
    Process.send(pid, { type: "mode.set", mode, ask: env?.ask({ bound, counts, refused }) })
  })

/** Hands the conversation over, and waits until that is stored, or is part of the next commit. */
export const sendAgent = (id: string, { pid, env }: AskedProcess, agent: AgentRef): Promise<void> =>
  counted(id, pid, `The handoff to ${agent.name}`, (counts) =>
    Process.send(pid, { type: "agent.set", agent, ask: env?.ask({ counts }) })
  )

/** Ends the chain, and waits until that is stored, or is part of the next commit. */
export const sendChainEnd = (id: string, { pid, env }: AskedProcess): Promise<void> =>
  counted(id, pid, "The end of the chain", (counts) =>
    Process.send(pid, { type: "chain.end", ask: env?.ask({ counts }) })
  )

/** Notes that children have begun, and waits until that is stored, or is part of the next commit. */
export const sendChildren = (
  id: string,
  { pid, env }: AskedProcess,
  children: ReadonlyArray<string>,
  forgets: ReadonlyArray<string>
): Promise<void> =>
  counted(id, pid, "The beginning of a sub-agent", (counts) =>
    Process.send(pid, { type: "children.began", children, forgets, ask: env?.ask({ counts }) })
  )

/** Notes what the sub-agent of a task waits for, and waits until that is stored, or is part of the next commit. */
export const sendTask = (id: string, { pid, env }: AskedProcess, task: BackgroundTask): Promise<void> =>
  counted(id, pid, "The wait of a background task", (counts) =>
    Process.send(pid, { type: "task.changed", task, ask: env?.ask({ counts }) })
  )

/** Decides what sub-agents of tasks wait for. Rejects with `refused()` when one of the decisions is for no wait. */
export const sendTaskDecisions = (
  id: string,
  { pid, env }: AskedProcess,
  decisions: ReadonlyArray<Decided>,
  refused: () => Error
): Promise<void> =>
  counted(id, pid, "The decision", (counts, refuse) =>
    Process.send(pid, {
      type: "tasks.decided",
      decisions,
      ask: env?.ask({ counts, refuses: () => refuse(refused()) })
    })
  )

/** The process of a chat. */
export type ChatPid = StateMachine.MachinePid<typeof chatMachine>

/** The process of a chat, and its environment. */
export interface ChatProcess {
  readonly pid: ChatPid
  readonly env: ChatEnv
}

export const died = (id: string, cause: unknown): SessionError =>
  new SessionError(
    "chat_died",
    `The chat ${id} died in the middle of a turn; it is started again with what was committed: retry() goes on from there, or send again`,
    cause === undefined ? {} : { cause }
  )

/** Whether a process had ended before its answer. */
export const hasDied = (error: unknown): boolean => error instanceof SessionError && error.reason === "chat_died"

const modeRefused = (id: string, mode: Mode, loosest: Mode): SessionError =>
  new SessionError(
    "mode_refused",
    `The permission mode ${mode} is looser than ${loosest}, the loosest that a client may set in the chat ${id}; set that or a stricter one`,
    { metadata: { mode, loosest } }
  )

const notRunning = (id: string, toolCallId: string): SessionError =>
  new SessionError(
    "tool_call_not_running",
    `No call ${toolCallId} runs in the chat ${id}; context.toolCalls of its snapshot lists those that do`,
    { metadata: { toolCallId } }
  )

export const busy = (id: string): SessionError =>
  new SessionError("busy", `A turn runs or waits in the chat ${id}; wait for it, or pass { cancel: true }`)

/** The error of an input that is in the thread; with `runs` its turn is not over. */
export const alreadyDelivered = (id: string, input: string, runs = false): SessionError => {
  const why = runs
    ? `runs now in the chat ${id}, and cannot be withdrawn; end its turn with cancel({ turn: ${JSON.stringify(input)} })`
    : `is in the thread of the chat ${id} already, and its turn is over`
  return new SessionError("already_delivered", `The input ${input} ${why}`, { metadata: { input } })
}
