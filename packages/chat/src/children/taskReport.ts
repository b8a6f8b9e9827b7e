/**
 * The reports of background tasks to their chat: of their ends, and of their waits for a person.
 *
 * Owns: the timer of the next look at a report. A wait of the sub-agent of a task is reported as its end is. Does not own the inputs that report ends, whose rows the store has. Calls the directory,
 * which loads a chat to report an end.
 *
 * BG1. The end of a task that the store has is an input with the id `task/` and the id of the task. It is in the thread exactly
 *      once, over crashes, restarts and unloading.
 * BG3. A task goes on while its chat has no process. Its end loads the chat.
 * BG11. The tasks of a sub-agent are background tasks of its chat. The end of one that comes when no call runs the agent is stored as an
 *       input, which the agent reads before its next one.
 * BG10. A task whose sub-agent waits for a person waits too: its deadline stands still, and its chat may be unloaded. When all of its
 *       waits are decided, and the store has that, it goes on with the decisions, also in another program. With `suspendedTtlMs`
 *       a task that waits longer ends `timed_out`.
 * BG5. An end joins the running turn, or starts a turn of a chat at rest. It waits while a question is open, while calls wait, and while
 *      the chain is over (CHAIN3, CHAIN5).
 */
import type { Clock } from "@troupe/otp"
import { inBackground } from "../async/index.ts"
import { SessionError } from "../errors/index.ts"
import type { ChatContext } from "../loop/index.ts"
import type { UserMessage } from "../model/index.ts"
import {
  type BackgroundTask,
  type ChildWait,
  endInputOf,
  endMessage,
  type InboxEntry,
  isChildId,
  type Receipt
} from "../record/index.ts"
import { chatStopped, type ShownTask } from "../view/index.ts"
import type { TaskRun } from "./taskRun.ts"

/** A chat, as its tasks use it. */
export interface TaskedChat {
  readonly context: Pick<ChatContext, "record" | "inbox"> | undefined
  /** Gives the chat the message as an input of this id, once. */
  readonly report: (message: UserMessage, input: string) => Promise<Receipt>
  /** Notes what the sub-agent of a task waits for; resolves when the record has it. */
  readonly note: (task: BackgroundTask) => Promise<void>
  /** Shows its tasks. */
  readonly changed: (tasks: ReadonlyArray<ShownTask>) => void
}

/** The functions that a report needs from the directory of chats. */
interface ReportHome {
  readonly clock: Clock.Clock
  /** Loads the chat. */
  readonly called: (chat: string) => Promise<unknown>
  /** The chat, if it is in memory. */
  readonly living: (chat: string) => TaskedChat | undefined
  /** Stores an input of an agent that has no process. */
  readonly keep: (chat: string, input: InboxEntry) => Promise<unknown>
}

/** A task of a chat. */
interface Reported {
  readonly chat: string
  readonly run: TaskRun
  /** Whether the chat still has the task. */
  readonly hasTask: () => boolean
}

/** How long after a report it is looked at whether the thread has the end, in milliseconds: at first, and at most. */
const againMs = 1_000
const mostAgainMs = 64_000

/**
 * Reports the end until the thread has it, while the chat has the task. The same id is the same input, so that a report which is
 * tried again is not doubled (BG1). An input that waits is released.
 */
export const reportEnd = ({ chat, run, hasTask }: Reported, home: ReportHome): Promise<void> => {
  const { task, end } = run
  run.isKept = false
  const report = async (living: TaskedChat): Promise<boolean> => {
    if (end === undefined) return true
    const receipt = living.report(endMessage(task, end), endInputOf(task.id))
    run.isReported()
    const { status } = await receipt
    return status === "delivered"
  }
  const keep = async (): Promise<boolean> => {
    if (end === undefined || !isChildId(chat) || !hasTask()) return false
    await home.keep(chat, { id: endInputOf(task.id), named: true, whenBusy: "steer", message: endMessage(task, end) })
    run.isKept = true
    return true
  }
  return untilDone(chat, run, { ...home, hasTask, report, keepForRest: keep })
}

/**
 * Notes what the sub-agent of a task waits for, until the record of its chat has it, or the task waits no more (TASKREC3). Calls `noted`
 * when the record has it.
 */
const reportWait = ({ chat, run, hasTask }: Reported, home: ReportHome, noted: () => void): Promise<void> => {
  const { task } = run
  return untilDone(chat, run, {
    ...home,
    hasTask: () => hasTask() && run.task === task,
    report: async (living) => {
      await living.note(task)
      noted()
      return true
    }
  })
}

/** A report that is tried again, with a growing pause, until it is done or the task is no task of the chat. */
interface Reporting extends ReportHome {
  readonly hasTask: () => boolean
  /** Resolves with whether it is done. */
  readonly report: (living: TaskedChat) => Promise<boolean>
  /** Stores what is reported for an agent that rests, whose next process takes it; resolves with whether it did. */
  readonly keepForRest?: () => Promise<boolean>
}

const untilDone = async (chat: string, run: TaskRun, reporting: Reporting, afterMs = againMs): Promise<void> => {
  const { hasTask, report, keepForRest, called, living, clock } = reporting
  if (!hasTask()) return
  const reported = called(chat).then(() => {
    const found = living(chat)
    // A chat that starts from a record without the task has dropped it.
    if (found === undefined || !hasTask()) throw chatStopped(chat)
    return report(found)
  })
  const isDone = await reported.catch((error: unknown) => {
    if (!(error instanceof SessionError)) return false
    if (error.reason === "chat_stopped") return keepForRest?.().catch(() => false) ?? false
    return error.reason === "moved" || error.reason === "troupe_stopped"
  })
  if (isDone || !hasTask()) return
  const next = Math.min(2 * afterMs, mostAgainMs)
  run.look = inBackground(clock, () => void untilDone(chat, run, reporting, next), afterMs)
}

/** The functions that waits need from the tasks of a Troupe. */
export interface TaskWaitsHome extends ReportHome {
  /** How long a task may wait for a person; `undefined` is no limit. */
  readonly suspendedTtlMs: number | undefined
}

/** A task that waits. */
interface Waiting extends Reported {
  /** Called when the decision did not come in time. */
  readonly expired: () => void
}

/** The wait of a task that begins to wait now. */
export const limited = (wait: ChildWait, { clock, suspendedTtlMs }: TaskWaitsHome): ChildWait => {
  if (suspendedTtlMs === undefined) return wait
  const expiresAt = Math.floor(clock.now() + suspendedTtlMs)
  return { ...wait, asks: wait.asks.map((ask) => ({ ...ask, expiresAt })) }
}

/** Has the record of the chat say what the task waits for. */
export const noteWait = (waiting: Waiting, home: TaskWaitsHome): void => {
  home.clock.clearTimeout(waiting.run.look)
  void reportWait(waiting, home, () => expireWait(waiting, home))
}

/** The store has this task of the chat: what it lacks is noted, and the wait has its limit. */
export const awaitDecision = (waiting: Waiting, home: TaskWaitsHome, stored: BackgroundTask): void =>
  waiting.run.isNoted(stored) ? expireWait(waiting, home) : noteWait(waiting, home)

/** Ends a task that waits for too long. */
const expireWait = ({ run, hasTask, expired }: Waiting, { clock }: TaskWaitsHome): void => {
  const expiresAt = run.wait?.asks[0]?.expiresAt
  if (expiresAt === undefined || !hasTask()) return
  clock.clearTimeout(run.look)
  const due = (): void => {
    const waits = run.end === undefined && run.wait?.asks[0]?.expiresAt === expiresAt
    if (waits && hasTask()) expired()
  }
  run.look = inBackground(clock, due, Math.max(0, expiresAt - clock.now()))
}
