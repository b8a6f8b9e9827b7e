/**
 * The tools by which a model sees, awaits and cancels the background tasks of its chat.
 *
 * Owns: nothing. The live chat of the call has the tasks.
 *
 * TASKTOOL1. A model lists and cancels only the background tasks of its own chat. The result of a cancel comes when the work has ended,
 *            and the end is in the thread once, as that of any task is (BG1).
 */
import * as z from "zod"
import { type ChatTasks, tool, type Tool, type ToolContext } from "../tool/index.ts"
import { error } from "../values/index.ts"

const tasksOf = ({ chat }: ToolContext): ChatTasks | undefined => chat?.tasks

const noTasks = () =>
  error("This chat has no background tasks; use the tool in a chat of a Troupe that is no sub-agent")

/** The longest wait, in seconds. */
const mostSeconds = 600

/**
 * Makes the tools `list_tasks`, `wait_tasks` and `cancel_task`, by which a model sees, awaits and cancels the background tasks of its chat.
 *
 * **Details**: `list_tasks` returns each task whose end the thread does not have: its `task`, its `tool`, its `status` and its `seconds`.
 * A `waiting` task waits for a person. `wait_tasks` takes 1 to 600 `seconds`, and returns the tasks with its `reason`: `ended` at the first
 * end of a task, `message` when an input waits for the chat, `time` when the seconds are over, or `none` without a task. `cancel_task` takes the id of a task, and returns when its work has ended.
 */
export const tasks = (): ReadonlyArray<Tool> => [
  tool({
    name: "list_tasks",
    description:
      "Lists the background tasks of this conversation that have not ended. A task that is `waiting` waits for a person.",
    parameters: z.strictObject({}),
    effect: "read",
    execute: (_, context) => {
      const own = tasksOf(context)
      if (own === undefined) return noTasks()
      return { tasks: own.list() }
    }
  }),
  tool({
    name: "wait_tasks",
    description:
      "Waits until a background task of this conversation ends, a message comes, or the seconds are over. Returns the tasks.",
    parameters: z.strictObject({ seconds: z.number().min(1).max(mostSeconds) }),
    effect: "read",
    // The call has the time of the longest wait, and some more.
    timeoutMs: (mostSeconds + 60) * 1_000,
    execute: async ({ seconds }, context) => {
      const own = tasksOf(context)
      if (own === undefined) return noTasks()
      const reason = await own.wait({ seconds, signal: context.signal })
      return { reason, tasks: own.list() }
    }
  }),
  tool({
    name: "cancel_task",
    description: "Cancels a background task of this conversation. A message reports its end.",
    parameters: z.strictObject({ task: z.string().describe("the id of the task") }),
    // A cancel that runs again finds the task cancelled.
    onUnknown: "retry",
    execute: async ({ task }, context) => {
      const own = tasksOf(context)
      if (own === undefined) return noTasks()
      const open = own.list().filter((one) => one.status === "running" || one.status === "waiting")
      if (!open.some((one) => one.task === task)) {
        const list = open.map((one) => one.task).join(", ")
        return error(
          `No background task ${task} runs; ${list === "" ? "this conversation has none" : `there are ${list}`}`
        )
      }
      await own.cancel(task)
      return { task, status: "cancelled" }
    }
  })
]
