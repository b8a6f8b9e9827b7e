/**
 * The background tasks of the chats of a Troupe.
 *
 * Owns: the tasks that run in this program, and the ends that no stored thread has. Does not own the list of tasks in a record, which
 * follows from the thread, nor the reports of ends (`taskReport`).
 *
 * BG2. A task of a tool with `background: true` starts after the store has the result of its call. No end is reported of a task
 *      that the store does not have.
 * BG4. A chat that starts from a record with a task that has no process runs the task again, under the same key, if its tool only
 *      reads or has `onUnknown: "retry"`. Any other task has ended `interrupted`, also one whose tool or agent the code lacks.
 * BG7. A chat has at most `maxTasks` tasks. A call beyond the bound fails (`task_refused`); with `afterMs` it runs to its end.
 * BG8. A deletion of its chat cancels a task, and so does a rewind to before its call; neither reports it. When the chat leaves,
 *      or the Troupe stops, its tasks are interrupted, and their next start follows BG4.
 *
 * When a program ends at some moment:
 *   1. before the entry with the result of the call: the call did not run, or follows `onUnknown` of a call.
 *   2. after that entry, and before the row of the end: the next start follows BG4.
 *   3. after the row, and before the entry that takes it: the next start releases the held input.
 *   4. after that entry: the record has no task, and the thread has its end.
 */
import type { Pid } from "@troupe/otp"
import { ignoreRejection, outsideTurn } from "../async/index.ts"
import { isRecord, SessionError, ToolError } from "../errors/index.ts"
import type { RunOptions } from "../options/index.ts"
import {
  agentIn,
  type BackgroundTask,
  type ChildWait,
  type Conversation,
  endIn,
  endInputOf,
  shortIdOf,
  type TaskEnd,
  tasksOf
} from "../record/index.ts"
import type { Message } from "../model/index.ts"
import { type BackgroundCall, digest, type Returned, type SubagentCall, TaskBegan, type Tool } from "../tool/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"
import { chatStopped, type ShownTask } from "../view/index.ts"
import { cancelledBefore, endOf, interrupted, undecided, waitIn } from "./taskEnd.ts"
import { memberId, type WorkProcess } from "../family/index.ts"
import { awaitDecision, limited, noteWait, reportEnd, type TaskedChat, type TaskWaitsHome } from "./taskReport.ts"
import { type RunParts, TaskRun, TaskTable } from "./taskRun.ts"

/** The functions that tasks need from the directory of chats. */
export interface TasksHome extends TaskWaitsHome {
  readonly maxTasks: number
  readonly supervisor: () => Promise<Pid>
  readonly options: (chat: string, agent: string | undefined) => RunOptions
  readonly subagent: ((chat: string, call: SubagentCall, under: WorkProcess) => Promise<Returned>) | undefined
}

/** The work of an agent that rests, for a task of the chat that called it. */
export interface WakeWork extends Pick<SubagentCall, "key" | "input" | "follows"> {}

export class BackgroundTasks {
  readonly #home: TasksHome
  readonly #table = new TaskTable()
  #isStopped = false

  constructor(home: TasksHome) {
    this.#home = home
  }

  /** Whether the chat must stay in memory: sub-agents run within the mode and the budget of the chats above. */
  needs(chat: string): boolean {
    return this.#table.runsAgents(chat)
  }

  /** Whether the chat has tasks here. */
  has(chat: string): boolean {
    return this.#table.has(chat)
  }

  list(chat: string): ReadonlyArray<ShownTask> {
    return this.#table.tasks(chat).map(({ view }) => view)
  }

  /** Resolves with the end of a task. */
  async result(chat: string, id: string): Promise<TaskEnd> {
    const run = this.#table.get(chat, id)
    if (run !== undefined) return run.ended
    const thread = this.#home.living(chat)?.context?.record.thread
    const end = thread?.messages.map((message) => endIn(message, id)).findLast((found) => found !== undefined)
    if (end === undefined) throw unknownTask(chat, id)
    return end
  }

  /** Resolves with the id of the input that is the end of a task, when the chat has that input. */
  async reported(chat: string, id: string): Promise<string> {
    const run = this.#table.get(chat, id)
    await (run === undefined ? this.result(chat, id) : run.reported)
    return endInputOf(id)
  }

  /** Cancels a task, and resolves when its work has ended. */
  async cancel(chat: string, id: string): Promise<void> {
    const run = this.#table.get(chat, id)
    if (run?.isTask !== true) return void (await this.result(chat, id))
    if (run.end !== undefined) return
    if (!run.began) this.#ended(chat, run, cancelledBefore(run.task))
    else await run.cancel()
    await run.ended
  }

  /** Cancels all tasks of a chat that run, and resolves when their work has ended. */
  async cancelAll(chat: string): Promise<void> {
    await Promise.all(this.#table.open(chat).map(({ task }) => this.cancel(chat, task.id)))
  }

  /** Begins the work of a call; returns its result, or that it is a task. */
  begin(chat: string, agent: string | undefined, call: BackgroundCall): Returned | Promise<Returned> {
    const { tool } = call
    const id = digest(call.key)
    const task = begunTask(id, agent, call, this.#home)
    if (this.#table.get(chat, id)?.isTask === true || hasEnd(this.#home.living(chat)?.context, id))
      return new TaskBegan(task)
    if (tool === undefined || (tool.background?.afterMs ?? 0) > 0) return this.#inTime(chat, task, call)
    if (this.#isFull(chat)) return refused(call, this.#home.maxTasks)
    this.#add(chat, new TaskRun(task, true))
    return new TaskBegan(task)
  }

  /**
   * Has an agent that the chat called work on an input that waits for it (TELL6), or on its own tasks (SUB22), as a task. Resolves when the record
   * of the chat has the task: with false without a place for a further task, and without the tool that called the agent.
   */
  async wake(chat: string, child: string, work: WakeWork): Promise<boolean> {
    const id = digest(work.key)
    const living = this.#home.living(chat)
    const has = this.#table.get(chat, id) !== undefined || hasEnd(living?.context, id)
    const task = living && wokenTask({ chat, child, id, ...work }, living, this.#home)
    if (has) return true
    if (task === undefined || this.#isStopped || this.#isFull(chat)) return false
    const run = this.#add(chat, new TaskRun(task, true))
    run.isNoting = true
    try {
      await living?.note(task)
      return true
    } catch (error) {
      this.#drop(chat, run)
      throw error
    } finally {
      run.isNoting = false
    }
  }

  /** The result of a call that ends in time; otherwise the call becomes a task. */
  async #inTime(chat: string, task: BackgroundTask, call: BackgroundCall): Promise<Returned> {
    const { clock } = this.#home
    const { signal, tool, progress } = call
    const parts = this.#partsOf(chat, task, tool)
    if (parts === undefined) return missing(call)
    const run = this.#add(chat, new TaskRun(task, false))
    const abort = () => void run.cancel()
    signal.addEventListener("abort", abort, { once: true })
    const { promise: late, resolve } = Promise.withResolvers<undefined>()
    const due = () => {
      if (!this.#isFull(chat) && !signal.aborted) resolve(undefined)
    }
    const afterMs = tool?.background?.afterMs ?? 0
    const timer = afterMs === Infinity ? undefined : clock.setTimeout(due, afterMs)
    const passed = (value: unknown) => {
      if (!run.isTask) progress(value)
      parts.progressed(value)
    }
    try {
      const result = run.result({ ...parts, progressed: passed })
      const first = await Promise.race([result, late])
      if (first !== undefined) return first
      run.isTask = true
      void this.#follow(chat, run, parts)
      this.#changed(chat)
      return new TaskBegan(task)
    } finally {
      clock.clearTimeout(timer)
      signal.removeEventListener("abort", abort)
      if (!run.isTask) this.#forget(chat, run)
    }
  }

  /** The store has this record of the chat: its tasks start, and their ends are reported (BG2). */
  recorded(chat: string, record: Conversation): void {
    const runs = this.#table.of(chat)
    if (runs.length === 0) return
    const tasks = new Map(tasksOf(record).map((task) => [task.id, task]))
    for (const run of runs) {
      const task = tasks.get(run.task.id)
      if (task !== undefined) this.#record(chat, run, task)
      else if (run.isRecorded || (run.isTask && !run.isNoting && !record.running)) this.#drop(chat, run)
    }
  }

  /** A process of the chat starts from a record, which may have more than the stored one (BG4, BG8). */
  attached(chat: string, stored: Conversation | undefined, record: Conversation | undefined): void {
    if (!this.#isStopped && this.#concerns(chat, stored)) void this.#attached(chat, stored, record)
  }

  /** Whether the record can have tasks, or the chat has some here. */
  #concerns(chat: string, record: Conversation | undefined): boolean {
    return record?.tasks !== undefined || record?.open !== undefined || this.#table.has(chat)
  }

  async #attached(chat: string, stored: Conversation | undefined, record: Conversation | undefined): Promise<void> {
    const known = new Set((record === undefined ? [] : tasksOf(record)).map(({ id }) => id))
    for (const run of this.#table.of(chat)) if (run.isTask && !known.has(run.task.id)) this.#drop(chat, run)
    const rows = new Map(stored?.inbox?.map(({ id, message }) => [id, message]))
    const left = (stored === undefined ? [] : tasksOf(stored)).map((task) => {
      const run = this.#table.get(chat, task.id)
      return { task, run: run ?? this.#left(chat, task, rows.get(endInputOf(task.id))), isNew: run === undefined }
    })
    this.#changed(chat)
    await outsideTurn()
    for (const { task, run, isNew } of left) {
      if (!isNew) this.#found(chat, run, task)
      else if (this.#table.isOf(chat, run)) this.#again(chat, run)
    }
  }

  /** A task that a former program left; `row` is the waiting input with its end, if it has ended. */
  #left(chat: string, task: BackgroundTask, row: Message | undefined): TaskRun {
    const run = new TaskRun(task, true)
    const end = row === undefined ? undefined : endIn(row, task.id)
    if (end !== undefined) run.finish(end)
    return this.#add(chat, run)
  }

  /** BG4; a task that has ended, or was cancelled before it began here, is only reported. */
  #again(chat: string, run: TaskRun): void {
    const tool = toolIn(chat, run.task, this.#home)
    const isSafe = tool?.effect === "read" || tool?.onUnknown === "retry"
    if (run.end === undefined && run.wait === undefined && !isSafe) this.#ended(chat, run, interrupted)
    this.#record(chat, run, run.task)
  }

  /** Another process of the chat starts: its record may lack the wait of a task, or have a former one. */
  #found(chat: string, run: TaskRun, stored: BackgroundTask): void {
    this.#record(chat, run, stored)
    if (run.isKept) void reportEnd(this.#waiting(chat, run), this.#home)
    else if (run.end === undefined && !run.isNoted(stored)) noteWait(this.#waiting(chat, run), this.#home)
  }

  #record(chat: string, run: TaskRun, stored: BackgroundTask): void {
    if (run.decided(stored)) this.#changed(chat)
    else if (run.isRecorded) return
    run.isRecorded = true
    if (run.end !== undefined) void reportEnd(this.#waiting(chat, run), this.#home)
    else if (run.wait !== undefined) awaitDecision(this.#waiting(chat, run), this.#home, stored)
    else if (!run.began) void this.#follow(chat, run, this.#partsOf(chat, run.task, undefined))
  }

  #waits(chat: string, run: TaskRun, wait: ChildWait, usedMs: number): void {
    run.waits(limited(wait, this.#home), usedMs)
    this.#changed(chat)
    // BG2: the store has the result of its call first.
    if (run.isRecorded) noteWait(this.#waiting(chat, run), this.#home)
  }

  #waiting(chat: string, run: TaskRun): Parameters<typeof noteWait>[0] {
    const hasTask = () => !this.#isStopped && this.#table.isOf(chat, run)
    return { chat, run, hasTask, expired: () => this.#ended(chat, run, undecided) }
  }

  /** The parts of the process of a task; `undefined` if there is no such tool. */
  #partsOf(chat: string, task: BackgroundTask, given: Tool | undefined): RunParts | undefined {
    const { subagent, supervisor, options } = this.#home
    const tool = given ?? toolIn(chat, task, this.#home)
    if (tool === undefined) return undefined
    return {
      supervisor,
      tool,
      options: options(chat, task.agent),
      subagent: subagent && ((call, under) => subagent(chat, call, under)),
      progressed: () => this.#changed(chat)
    }
  }

  /** Waits for the end of the process of a task, which is started if there is none. */
  async #follow(chat: string, run: TaskRun, parts: RunParts | undefined): Promise<void> {
    if (parts === undefined) return this.#ended(chat, run, { status: "failed", text: "There is no such tool." })
    let end: TaskEnd
    try {
      const over = await run.start(parts)
      const wait = waitIn(over.end)
      if (wait !== undefined) return this.#table.isOf(chat, run) ? this.#waits(chat, run, wait, over.usedMs) : undefined
      end = endOf(over.call, over.end, over.reason)
    } catch {
      end = interrupted
    }
    if (this.#table.isOf(chat, run)) this.#ended(chat, run, end)
  }

  #ended(chat: string, run: TaskRun, end: TaskEnd): void {
    if (this.#isStopped) return
    this.#home.clock.clearTimeout(run.look)
    run.finish(end)
    this.#changed(chat)
    if (run.isRecorded) void reportEnd(this.#waiting(chat, run), this.#home)
  }

  /**
   * Interrupts the tasks of a chat and of those below it, and forgets them; resolves when their work has ended (BG8). Who awaits one gets
   * the error.
   */
  async drop(chat: string, error: SessionError = chatStopped(chat)): Promise<void> {
    const runs = this.#table.within(chat).flatMap((one) => this.#table.clear(one))
    await Promise.all(runs.map((run) => this.#abandon(run, error)))
  }

  /** Cancels the tasks of a chat that is deleted (BG8). */
  async deleted(chat: string): Promise<void> {
    await this.drop(chat, chatDeleted(chat))
  }

  /** Interrupts all tasks; resolves when their work has ended (BG8). */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#table.chats.map((chat) => this.drop(chat)))
  }

  #drop(chat: string, run: TaskRun): void {
    this.#forget(chat, run)
    run.abandon(chatStopped(chat))
    if (run.end === undefined) ignoreRejection(this.#abandon(run, chatStopped(chat)))
    this.#changed(chat)
  }

  async #abandon(run: TaskRun, error: SessionError): Promise<void> {
    this.#home.clock.clearTimeout(run.look)
    run.abandon(error)
    await run.cancel()
  }

  #isFull(chat: string): boolean {
    return this.#table.open(chat).length >= this.#home.maxTasks
  }

  #add(chat: string, run: TaskRun): TaskRun {
    this.#table.add(chat, run)
    if (run.isTask) this.#changed(chat)
    return run
  }

  #forget(chat: string, run: TaskRun): void {
    if (!this.#table.isOf(chat, run)) return
    this.#table.delete(chat, run)
    this.#home.clock.clearTimeout(run.look)
  }

  #changed(chat: string): void {
    this.#home.living(chat)?.changed(this.list(chat))
  }
}

/** Whether a chat has the end of a task, in its thread or its inbox. */
const hasEnd = ({ record, inbox = [] }: Partial<NonNullable<TaskedChat["context"]>> = {}, id: string): boolean => {
  const input = endInputOf(id)
  return record?.known?.includes(input) === true || inbox.some((waiting) => waiting.id === input)
}

/** The tool of a task; `undefined` if the code lacks the tool, or the agent whose tool it was. */
const toolIn = (chat: string, { tool, agent }: BackgroundTask, { options }: TasksHome): Tool | undefined => {
  try {
    return options(chat, agent).toolsByName.get(tool)
  } catch (error) {
    if (error instanceof SessionError && error.reason === "unknown_agent") return undefined
    throw error
  }
}

const begunTask = (
  id: string,
  agent: string | undefined,
  { toolCall, key }: Pick<BackgroundCall, "toolCall" | "key">,
  { clock }: TasksHome
): BackgroundTask => ({
  id,
  toolCallId: toolCall.id,
  tool: toolCall.name,
  arguments: toolCall.arguments ?? {},
  ...(agent !== undefined && { agent }),
  key,
  startedAt: Math.floor(clock.now())
})

/** The task of an agent that a message wakes; `undefined` without the tool that calls the agent. */
const wokenTask = (
  { chat, child, input, key, id, follows }: Record<"chat" | "child" | "id", string> & WakeWork,
  living: TaskedChat,
  home: TasksHome
): BackgroundTask | undefined => {
  const agent = living.context?.record.agent?.name
  const called = agentIn(child)
  const isMember = memberId(chat, called) === child
  const tool = home
    .options(chat, agent)
    .tools.find(({ subagent, schema }) => subagent === called && isMember !== takesAgent(schema))
  if (tool === undefined) return undefined
  const given = isMember ? { input } : { input, agent: shortIdOf(child, called) }
  const toolCall = { id: `call-${id}`, name: tool.name, arguments: given }
  return { ...begunTask(id, agent, { toolCall, key }, home), ...(follows !== undefined && { follows }) }
}

/** Whether the tool of an agent can continue each child, and is not that of a member of a team. */
const takesAgent = ({ properties }: Tool["schema"]): boolean => isRecord(properties) && "agent" in properties

const refused = ({ toolCall }: BackgroundCall, maxTasks: number): HandlerResult.Failed => {
  const message = `${maxTasks} background tasks run for this chat, and no more may; call ${toolCall.name} again when one of them has ended`
  const fields = { toolName: toolCall.name, toolCallId: toolCall.id, metadata: { maxTasks } }
  return HandlerResult.error(new ToolError("task_refused", { message, ...fields }))
}

const missing = ({ toolCall }: BackgroundCall): HandlerResult.Failed => {
  const fields = { toolName: toolCall.name, toolCallId: toolCall.id }
  return HandlerResult.error(new ToolError("not_found", { message: `there is no tool ${toolCall.name}`, ...fields }))
}

const chatDeleted = (chat: string): SessionError =>
  new SessionError("chat_stopped", `The chat ${chat} was deleted, and its background tasks were cancelled`)

const unknownTask = (chat: string, task: string): SessionError =>
  new SessionError(
    "unknown_task",
    `The chat ${chat} has no background task ${task}; chat.tasks() lists those that run`,
    {
      metadata: { task }
    }
  )
