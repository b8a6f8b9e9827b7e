/**
 * The report of the end of a background task to its chat.
 *
 * Owns: the timer of the next look at a report. Does not own the inputs that report ends, whose rows the store has. Calls the directory,
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
import { endInputOf, endMessage, type Receipt } from "../record/index.ts"
import { chatStopped, type ShownTask } from "../view/index.ts"
import type { TaskRun } from "./taskRun.ts"

/** A chat, as its tasks use it. */
export interface TaskedChat {
  readonly context: Pick<ChatContext, "record" | "inbox"> | undefined
  /** Gives the chat the message as an input of this id, once. */
  readonly report: (message: UserMessage, input: string) => Promise<Receipt>
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

/** How long after a report it is looked at whether the thread has the end, in milliseconds: at first, and at most. */
const againMs = 1_000
const mostAgainMs = 64_000

/**
 * Reports the end until the thread has it, while the chat has the task. The same id is the same input, so that a report which is
 * tried again is not doubled (BG1). An input that waits is released.
 */
export const reportEnd = async (
  chat: string,
  run: TaskRun,
  home: ReportHome,
  hasTask: () => boolean,
  afterMs = againMs
): Promise<void> => {
  const { task, end } = run
  if (end === undefined || !hasTask()) return
  const reported = home.called(chat).then(() => {
    const living = home.living(chat)
    // A chat that starts from a record without the task has dropped it.
    if (living === undefined || !hasTask()) throw chatStopped(chat)
    return living.report(endMessage(task, end), endInputOf(task.id))
  })
  const isDone = await reported.then(
    ({ status }) => status === "delivered",
    (error: unknown) => error instanceof SessionError && (error.reason === "moved" || error.reason === "troupe_stopped")
  )
  if (isDone || !hasTask()) return
  const next = Math.min(2 * afterMs, mostAgainMs)
  run.look = inBackground(home.clock, () => void reportEnd(chat, run, home, hasTask, next), afterMs)
}
