/**
 * The background tasks of a conversation: calls whose work goes on while the conversation does.
 *
 * TASKREC1. A task is in the record from the entry with the result of its call, which says that the task runs, until the entry
 *           whose thread has its end. Both follow from the messages and the known ids, so that an entry which is not stored
 *           changes neither.
 * TASKREC2. A rewind keeps the ids of the ends that the record knew. So a task whose end was reported does not run again.
 * TASKREC3. What the sub-agent of a task waits for is in the record with its task, until the task ends or waits for something else. The
 *           decisions are there too. A rewind changes neither.
 */
import * as z from "zod"
import { ChildWait } from "./Approval.ts"
import { type Message, Usage, type UserMessage } from "../model/index.ts"
import { openRecord } from "../values/index.ts"

/**
 * A background task that runs.
 *
 * - `id`: follows from the key of its call, so that each run of the call has the same task
 * - `toolCallId`, `tool`, `arguments`: the call
 * - `agent`: the agent whose tool it is; absent without agents
 * - `key`: the idempotency key of every run
 * - `child`: what its sub-agent waits for, with the decisions; absent if it waits for nothing
 * - `usedMs`: how long it worked before that wait
 * - `follows`: the input of an agent whose call was over before its own tasks, and what the agent had used then; the task goes on with
 *   those
 *
 * **Units**: `startedAt` is in whole milliseconds since the epoch, and `usedMs` in milliseconds.
 */
export const BackgroundTask = z.lazy(() =>
  z
    .object({
      id: z.string(),
      toolCallId: z.string(),
      tool: z.string(),
      arguments: openRecord,
      agent: z.string().optional(),
      key: z.string(),
      startedAt: z.number(),
      child: ChildWait.optional(),
      usedMs: z.number().optional(),
      follows: z.object({ input: z.string(), counted: Usage }).readonly().optional()
    })
    .readonly()
)
export type BackgroundTask = z.infer<typeof BackgroundTask>

/** How a task ended. `interrupted`: its program ended while it ran, and its effect is not known. */
export type TaskStatus = "done" | "failed" | "interrupted" | "timed_out" | "cancelled"

/** The end of a task; `text` is what the model reads. */
export interface TaskEnd {
  readonly status: TaskStatus
  readonly text: string
}

/** The wait of a task: its sub-agent waits for decisions that it does not have. */
export const waitOfTask = ({ child }: BackgroundTask): ChildWait | undefined =>
  child?.asks.some(({ decision }) => decision === undefined) === true ? child : undefined

const mark = "task/"

/** The id of the input that reports the end of a task. */
export const endInputOf = (task: string): string => `${mark}${task}`

/** Whether an id of an input is that of the end of a task. */
export const isEndInput = (id: string): boolean => id.startsWith(mark)

/** The parts of a conversation that its tasks follow from. */
interface Tasked {
  readonly thread: { readonly messages: ReadonlyArray<Message> }
  readonly open?: { readonly at: number } | undefined
  readonly known?: ReadonlyArray<string> | undefined
  readonly tasks?: ReadonlyArray<BackgroundTask> | undefined
}

const none: ReadonlyArray<never> = []

/** The tasks that the results of calls begin. */
export const begunBy = (messages: ReadonlyArray<Message>): ReadonlyArray<BackgroundTask> =>
  messages.flatMap((message): ReadonlyArray<BackgroundTask> => {
    if (message.role !== "tool" || message.metadata?.["task"] === undefined) return none
    const { data } = BackgroundTask.safeParse(message.metadata["task"])
    return data === undefined ? none : [data]
  })

/** The tasks of a conversation that have not ended (TASKREC1). */
export const tasksOf = ({ thread, open, known = none, tasks = none }: Tasked): ReadonlyArray<BackgroundTask> => {
  const begun = open === undefined ? none : begunBy(thread.messages.slice(open.at + 1))
  return begun.length === 0 && tasks.length === 0 ? none : unended([...tasks, ...begun], known)
}

/** The tasks that have not ended, each once, as it is listed first. */
export const unended = (
  tasks: ReadonlyArray<BackgroundTask>,
  known: ReadonlyArray<string>
): ReadonlyArray<BackgroundTask> => {
  const byId = new Map<string, BackgroundTask>()
  for (const task of tasks) if (!byId.has(task.id)) byId.set(task.id, task)
  return Array.from(byId.values()).filter(({ id }) => !known.includes(endInputOf(id)))
}

/** The tasks with this one, in the place that it has. */
export const withTask = (
  tasks: ReadonlyArray<BackgroundTask> = none,
  task: BackgroundTask
): ReadonlyArray<BackgroundTask> => {
  const at = tasks.findIndex(({ id }) => id === task.id)
  return at === -1 ? [...tasks, task] : tasks.with(at, task)
}

/** The tasks and the known ids of a record after a rewind to it, from the record `now` (TASKREC2). No rewind changes a wait. */
export const tasksAfterRewind = (
  { known = none, tasks = none }: Pick<Tasked, "known" | "tasks">,
  now: Pick<Tasked, "known" | "tasks">
): Pick<Tasked, "known" | "tasks"> => {
  const ends = (now.known ?? none).filter((id) => isEndInput(id) && !known.includes(id))
  const all = ends.length === 0 ? known : [...known, ...ends]
  const left = unended(
    tasks.map((task) => now.tasks?.find(({ id }) => id === task.id) ?? task),
    all
  )
  return { ...(all.length === 0 ? {} : { known: all }), ...(left.length === 0 ? {} : { tasks: left }) }
}

/** The message that reports the end of a task. */
export const endMessage = ({ id, tool }: BackgroundTask, { status, text }: TaskEnd): UserMessage => ({
  role: "user",
  content: `The background task ${id} (${tool}) has ended: ${status}.${text === "" ? "" : `\n${text}`}`,
  writer: { type: "task" },
  metadata: { task: { id, tool, status } }
})

/** The end of a task that a message reports. */
export const endIn = ({ role, metadata, content }: Message, task: string): TaskEnd | undefined => {
  if (role !== "user" || metadata?.["task"] === undefined) return undefined
  const { data } = Reported.safeParse(metadata["task"])
  if (data?.id !== task) return undefined
  const said = typeof content === "string" ? content : ""
  const at = said.indexOf("\n")
  return { status: data.status, text: at === -1 ? "" : said.slice(at + 1) }
}

/** Whether a message reports the end of a task. */
export const isEndMessage = ({ role, metadata }: Message): boolean =>
  role === "user" && metadata?.["task"] !== undefined && Reported.safeParse(metadata["task"]).success

/** Whether a message reports the end of a task that failed. */
export const isFailedEnd = ({ role, metadata }: Message): boolean =>
  role === "user" && metadata?.["task"] !== undefined && Reported.safeParse(metadata["task"]).data?.status === "failed"

const Reported = z.lazy(() =>
  z.object({
    id: z.string(),
    status: z.enum(["done", "failed", "interrupted", "timed_out", "cancelled"])
  })
)
