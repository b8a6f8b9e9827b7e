/**
 * The waits of the sub-agents of background tasks.
 *
 * TASKWAIT1. What the sub-agent of a task waits for is listed as that of a call is, under an address of the same form. Each is decided once.
 *            The task goes on when all of them are.
 */
import {
  type BackgroundTask,
  type ChildWait,
  type Decision,
  type OpenCall,
  type PendingApproval,
  waitOfTask
} from "../record/index.ts"
import type { ToolCall } from "../model/index.ts"
import {
  approvalsOf,
  askBelow,
  type Asked,
  type Decided,
  decidedCall,
  decisionFor,
  waitingForChild
} from "./childAsks.ts"

type Tasks = ReadonlyArray<BackgroundTask>

const none: ReadonlyArray<never> = []

const callOf = ({ toolCallId: id, tool: name, arguments: given }: BackgroundTask): ToolCall => ({
  id,
  name,
  arguments: given
})

/** The state that a call with this wait has in an open step. */
const stateOf = ({ startedAt }: BackgroundTask, child: ChildWait): OpenCall => waitingForChild(child, startedAt)

/** Tasks have no message in the open step. */
const noMessage = -1

/** What the sub-agents of the tasks wait for. */
export const taskApprovals = (tasks: Tasks = none): ReadonlyArray<PendingApproval> =>
  tasks.flatMap((task): ReadonlyArray<PendingApproval> => {
    const child = waitOfTask(task)
    const state = child && stateOf(task, child)
    if (state?.state !== "waiting") return none
    return approvalsOf(callOf(task), state).map((approval) => ({ ...approval, task: task.id }))
  })

/** The wait with this address, and the tool of its task with the agent that has the tool. */
export const taskAskAt = (
  id: string,
  tasks: Tasks = none
): (Pick<BackgroundTask, "agent" | "tool"> & { readonly ask: ChildWait["asks"][number] }) | undefined => {
  for (const task of tasks) {
    const ask = task.child && askBelow(stateOf(task, task.child), callOf(task), id)
    if (ask !== undefined) return { ask, tool: task.tool, agent: task.agent }
  }
  return undefined
}

/** What was decided about the wait with this address. */
export const taskDecision = (asked: Asked, tasks: Tasks = none): Decision | undefined => {
  for (const task of tasks) {
    const decision = task.child && decisionFor(stateOf(task, task.child), callOf(task), asked, noMessage)
    if (decision !== undefined) return decision
  }
  return undefined
}

/** The tasks after the decisions; `undefined` if one of these is for no wait of theirs, so that none takes effect. */
export const decideTasks = (decisions: ReadonlyArray<Decided>, tasks: Tasks = none): Tasks | undefined => {
  let now = tasks
  for (const decided of decisions) {
    const next = withDecision(now, decided)
    if (next === undefined) return undefined
    now = next
  }
  return now
}

const withDecision = (tasks: Tasks, decided: Decided): Tasks | undefined => {
  for (const [at, task] of tasks.entries()) {
    const wait = waitOfTask(task)
    const call = wait && decidedCall(stateOf(task, wait), callOf(task), decided, noMessage)
    if (call !== undefined && "child" in call) return tasks.with(at, { ...task, child: call.child })
  }
  return undefined
}
