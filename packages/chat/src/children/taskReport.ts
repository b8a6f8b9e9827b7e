/**
 * The report of the end of a background task to its chat.
 *
 * Owns: the timer of the next look at a report. A wait of the sub-agent of a task is reported as its end is. Does not own the inputs that report ends, whose rows the store has. Calls the directory,
 * which loads a chat to report an end.
 *
 * BG1. The end of a task that the store has is an input with the id `task/` and the id of the task. It is in the thread exactly
 *      once, over crashes, restarts and unloading.
 * BG3. A task goes on while its chat has no process. Its end loads the chat.
 * BG5. An end joins the running turn, or starts a turn of a chat at rest. It waits while a question is open, while calls wait, and while
 *      the chain is over (CHAIN3, CHAIN5).
 */
import type { Clock } from "@troupe/otp"
import { inBackground } from "../async/index.ts"
import { SessionError } from "../errors/index.ts"
import type { ChatContext } from "../loop/index.ts"
import type { UserMessage } from "../model/index.ts"
import { type BackgroundTask, endInputOf, endMessage, type Receipt } from "../record/index.ts"
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
export interface ReportHome {
  readonly clock: Clock.Clock
  /** Loads the chat. */
  readonly called: (chat: string) => Promise<unknown>
  /** The chat, if it is in memory. */
  readonly living: (chat: string) => TaskedChat | undefined
}

/** A task of a chat. */
export interface Reported {
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
  const report = async (living: TaskedChat): Promise<boolean> => {
    if (end === undefined) return true
    const receipt = living.report(endMessage(task, end), endInputOf(task.id))
    run.isReported()
    const { status } = await receipt
    return status === "delivered"
  }
  return untilDone(chat, run, { ...home, hasTask, report })
}

/**
 * Notes what the sub-agent of a task waits for, until the record of its chat has it, or the task waits no more (TASKREC3). Calls `noted`
 * when the record has it.
 */
export const reportWait = ({ chat, run, hasTask }: Reported, home: ReportHome, noted: () => void): Promise<void> => {
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
}

const untilDone = async (chat: string, run: TaskRun, reporting: Reporting, afterMs = againMs): Promise<void> => {
  const { hasTask, report, called, living, clock } = reporting
  if (!hasTask()) return
  const reported = called(chat).then(() => {
    const found = living(chat)
    // A chat that starts from a record without the task has dropped it.
    if (found === undefined || !hasTask()) throw chatStopped(chat)
    return report(found)
  })
  const isDone = await reported.catch(
    (error: unknown) => error instanceof SessionError && (error.reason === "moved" || error.reason === "troupe_stopped")
  )
  if (isDone || !hasTask()) return
  const next = Math.min(2 * afterMs, mostAgainMs)
  run.look = inBackground(clock, () => void untilDone(chat, run, reporting, next), afterMs)
}
