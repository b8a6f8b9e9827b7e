/**
 * The background tasks of one chat, as its tools use them.
 *
 * Owns: the timer of a wait for the end of a task. Does not own the tasks.
 *
 * TASKTOOL2. A wait for tasks ends at the first end of one, when an input waits for the chat, when its time is over, or when its call is
 *            cancelled, whichever is first. Its timer and its watch end with it.
 */
import type { Clock } from "@troupe/otp"
import type { ChatHandle, ChatTasks } from "../tool/index.ts"
import type { ShownTask } from "../view/index.ts"
import type { BackgroundTasks } from "./backgroundTasks.ts"

/** The waiting inputs of a chat. */
interface Mail {
  readonly isWaiting: () => boolean
  /** Calls the function at each change of the inputs or of the tasks; returns the function that removes it. */
  readonly watch: (changed: () => void) => () => void
}

/** The tasks of a chat, for its tools (TASKTOOL1). */
export const tasksFor = (
  tasks: BackgroundTasks,
  chat: string,
  { clock, agent, mail }: { readonly clock: Clock.Clock; readonly agent: string | undefined; readonly mail: Mail }
): Pick<ChatHandle, "tasks" | "background"> => ({
  tasks: {
    list: () => shownTo(tasks.list(chat), clock.now()),
    cancel: (id) => tasks.cancel(chat, id),
    wait: (options) => firstEnd(() => tasks.list(chat), { ...options, clock, mail })
  },
  background: (call) => tasks.begin(chat, agent, call)
})

/** The tasks as a model reads them. */
const shownTo = (tasks: ReadonlyArray<ShownTask>, now: number): ReturnType<ChatTasks["list"]> =>
  tasks.map(({ id: task, tool, status, startedAt }) => {
    return { task, tool, status, seconds: Math.max(0, Math.round((now - startedAt) / 1_000)) }
  })

const isOpen = ({ status }: ShownTask): boolean => status === "running" || status === "waiting"

/** Why a wait is over. */
type Why = Awaited<ReturnType<ChatTasks["wait"]>>

/** Waits for the first end of a task (TASKTOOL2). */
const firstEnd = async (
  list: () => ReadonlyArray<ShownTask>,
  {
    seconds,
    signal,
    clock,
    mail
  }: Parameters<ChatTasks["wait"]>[0] & { readonly clock: Clock.Clock; readonly mail: Mail }
): Promise<Why> => {
  const many = list().filter(isOpen).length
  const why = (): Why | undefined => {
    const now = list()
    if (now.some((task) => !isOpen(task)) || now.length < many) return "ended"
    if (mail.isWaiting()) return "message"
    return many === 0 ? "none" : undefined
  }
  const { promise, resolve } = Promise.withResolvers<Why>()
  const look = (): void => {
    const found = why()
    if (found !== undefined) resolve(found)
  }
  const abort = (): void => resolve("cancelled")
  const timer = clock.setTimeout(() => resolve("time"), seconds * 1_000)
  const unwatch = mail.watch(look)
  signal.addEventListener("abort", abort, { once: true })
  try {
    if (signal.aborted) abort()
    look()
    return await promise
  } finally {
    clock.clearTimeout(timer)
    unwatch()
    signal.removeEventListener("abort", abort)
  }
}
