/** The tasks in this program: which there are, and the process, the progress and the end of each. */
import { DynamicSupervisor, type Pid, Process, StateMachine } from "@troupe/otp"
import { ignoreRejection } from "../async/index.ts"
import { isAbout } from "../step/index.ts"
import { type CallEnd, type RunnableCall, toolCallMachine, type ToolCallEvent } from "../call/index.ts"
import { ToolError } from "../errors/index.ts"
import type { RunOptions } from "../options/index.ts"
import { type BackgroundTask, type ChildWait, isChildId, rootOf, type TaskEnd, waitOfTask } from "../record/index.ts"
import type { ChatHandle, Returned, SubagentCall, Tool } from "../tool/index.ts"
import type { ShownTask } from "../view/index.ts"
import type { WorkProcess } from "../family/index.ts"
import { resultOf } from "./taskEnd.ts"

/** The deadline of a task whose tool has none: an hour. */
const usualTimeoutMs = 3_600_000

/** The parts that a process of a task is started with. */
export interface RunParts {
  readonly supervisor: () => Promise<Pid>
  readonly tool: Tool
  readonly options: RunOptions
  /** Runs a sub-agent below the process of the task. */
  readonly subagent: ((call: SubagentCall, under: WorkProcess) => Promise<Returned>) | undefined
  readonly progressed: (value: unknown) => void
}

/** How the process of a task ended. */
interface Over {
  readonly end: CallEnd | undefined
  readonly reason: unknown
  readonly call: RunnableCall
  /** How long the task has worked. */
  readonly usedMs: number
}

/** Whether these are the waits of the same calls. */
const isSameWait = ({ asks }: ChildWait, other: ChildWait | undefined): boolean =>
  asks.length === other?.asks.length &&
  asks.every((ask, at) => ask.id === other.asks[at]?.id && isAbout(ask, other.asks[at]))

export class TaskRun {
  task: BackgroundTask
  /** Whether the call has the task as its result. */
  isTask: boolean
  /** Whether the store has the task (BG2). */
  isRecorded = false
  /** Whether its chat is to record it, beside the results of calls. */
  isNoting = false
  end: TaskEnd | undefined
  /** Whether the store has its end for an agent that rests: the next process of the agent takes it. */
  isKept = false
  progress: unknown = undefined
  /** The timer of the next look at the report of the end or of the wait, or of the end of the wait. */
  look: unknown = undefined
  /** How many sub-agents run. */
  children = 0
  readonly #ended = Promise.withResolvers<TaskEnd>()
  #reported: PromiseWithResolvers<void> | undefined
  #over: Promise<Over> | undefined
  #pid: Pid<ToolCallEvent> | undefined
  #isCancelled = false

  constructor(task: BackgroundTask, isTask: boolean) {
    this.task = task
    this.isTask = isTask
    ignoreRejection(this.#ended.promise)
  }

  get view(): ShownTask {
    const { id, toolCallId, tool, agent, startedAt } = this.task
    const { progress } = this
    return {
      id,
      toolCallId,
      tool,
      ...(agent !== undefined && { agent }),
      startedAt,
      status: this.end?.status ?? (this.wait === undefined ? "running" : "waiting"),
      progress
    }
  }

  /** What its sub-agent waits for; then it has no process. */
  get wait(): ChildWait | undefined {
    return this.#over === undefined ? waitOfTask(this.task) : undefined
  }

  /** Its sub-agent waits for a person: the deadline of the task stands still. */
  waits(child: ChildWait, usedMs: number): void {
    this.task = { ...this.task, child, usedMs }
    this.#over = undefined
    this.#pid = undefined
  }

  /** Takes the decisions that a stored task has; returns whether the task is to go on. A task with another wait has none for this one. */
  decided(stored: BackgroundTask): boolean {
    const { wait } = this
    if (wait === undefined || stored.child === undefined || !isSameWait(wait, stored.child)) return false
    this.task = stored
    return this.wait === undefined
  }

  /** Whether a stored task has the wait of this one. */
  isNoted({ child }: BackgroundTask): boolean {
    const own = this.task.child
    return own === undefined ? child === undefined : isSameWait(own, child)
  }

  /** Whether a process of the task was started. */
  get began(): boolean {
    return this.#over !== undefined
  }

  /** Resolves with the end; rejects when the task leaves this program before. */
  get ended(): Promise<TaskEnd> {
    return this.#ended.promise
  }

  /** Resolves when its chat has its end as an input; rejects when the task leaves this program before. */
  get reported(): Promise<void> {
    this.#reported ??= Promise.withResolvers()
    return this.#reported.promise
  }

  finish(end: TaskEnd): void {
    this.end = end
    this.#ended.resolve(end)
  }

  /** Its chat has its end as an input. */
  isReported(): void {
    this.#reported?.resolve()
  }

  abandon(error: Error): void {
    this.#ended.reject(error)
    this.#reported?.reject(error)
  }

  /** Starts the process, and resolves when it has ended. */
  start(parts: RunParts): Promise<Over> {
    this.#over ??= this.#run(parts)
    return this.#over
  }

  /** Starts the process, and resolves with the result of its call. */
  async result(parts: RunParts): Promise<Returned> {
    const { call, end, reason } = await this.start(parts)
    return resultOf(call.toolCall, end, reason)
  }

  /** Cancels the work; resolves when its process has ended. */
  async cancel(): Promise<void> {
    this.#isCancelled = true
    if (this.#pid !== undefined) Process.send(this.#pid, { type: "call.cancel" })
    await this.#over?.catch(() => undefined)
  }

  async #run(parts: RunParts): Promise<Over> {
    const call = this.#callOf(parts)
    const { id, tool, usedMs = 0 } = this.task
    const { drainMs, system } = parts.options
    const startedAt = system.clock.now()
    const pid = await DynamicSupervisor.startChild(await parts.supervisor(), {
      id,
      restart: "temporary",
      start: (parent) =>
        StateMachine.startLink(parent, toolCallMachine, {
          input: { name: tool, drainMs },
          env: { call: () => call },
          label: `Task ${tool}`
        })
    })
    this.#pid = pid
    const { promise, resolve } = Promise.withResolvers<Over>()
    Process.onExit(pid, (reason) => {
      const workedMs = Math.max(0, Math.floor(system.clock.now() - startedAt))
      resolve({ call, reason, end: StateMachine.output(pid), usedMs: usedMs + workedMs })
    })
    // A queued call that is cancelled never begins.
    Process.send(pid, this.#isCancelled ? { type: "call.cancel" } : { type: "call.start" })
    return promise
  }

  #callOf({ tool, options, subagent, progressed }: RunParts): RunnableCall {
    const { toolCallId, key, arguments: args, usedMs = 0 } = this.task
    const { onToolError: _, onToolTimeout: __, ...rest } = options
    return {
      key,
      tool: {
        ...tool,
        handler: tool.background?.handler ?? tool.handler,
        timeoutMs: Math.max(1, (tool.timeoutMs ?? usualTimeoutMs) - usedMs)
      },
      toolCall: { id: toolCallId, name: tool.name, arguments: args },
      // A call that is no task yet is suspended as any other one is, and has no such questions.
      asks: this.isTask ? { former: this.task.child, clock: options.system.clock } : undefined,
      options: { ...rest, trace: undefined, chat: options.chat && this.#handle(options.chat, subagent) },
      progressed: (value) => {
        this.progress = value
        progressed(value)
      },
      wants: () => {
        const message = "a background task sets no permission mode"
        throw new ToolError("denied", { message, toolName: tool.name, toolCallId })
      }
    }
  }

  /** The chat, as the handler of a task uses it: its calls begin no tasks. */
  #handle({ id, send }: ChatHandle, subagent: RunParts["subagent"]): ChatHandle {
    if (subagent === undefined) return { id, send }
    return {
      id,
      send,
      subagent: async (call) => {
        const pid = this.#pid
        if (pid === undefined) throw new Error("a task runs a sub-agent before its process")
        this.children += 1
        try {
          return await subagent(call, {
            pid,
            isTask: () => this.isTask,
            wait: this.task.child,
            follows: this.task.follows
          })
        } finally {
          this.children -= 1
        }
      }
    }
  }
}

/** The background tasks in this program, by chat. */
export class TaskTable {
  readonly #chats = new Map<string, Map<string, TaskRun>>()

  /** The ids of the chats that have any. */
  get chats(): ReadonlyArray<string> {
    return Array.from(this.#chats.keys())
  }

  has(chat: string): boolean {
    return this.#chats.has(chat)
  }

  get(chat: string, id: string): TaskRun | undefined {
    return this.#chats.get(chat)?.get(id)
  }

  /** The tasks of a chat, and its calls that may become tasks. */
  of(chat: string): ReadonlyArray<TaskRun> {
    return Array.from(this.#chats.get(chat)?.values() ?? [])
  }

  tasks(chat: string): ReadonlyArray<TaskRun> {
    return this.of(chat).filter(({ isTask }) => isTask)
  }

  /** The tasks of a chat that work or wait. */
  open(chat: string): ReadonlyArray<TaskRun> {
    return this.tasks(chat).filter(({ end }) => end === undefined)
  }

  /** The chats with tasks that end with this one: itself, and those below a root. */
  within(chat: string): ReadonlyArray<string> {
    return this.chats.filter((one) => one === chat || (isChildId(one) && rootOf(one) === chat))
  }

  /** Whether a task of the tree that the chat is in runs a sub-agent. */
  runsAgents(chat: string): boolean {
    const root = rootOf(chat)
    return this.chats.some((one) => rootOf(one) === root && this.of(one).some(({ children }) => children > 0))
  }

  isOf(chat: string, run: TaskRun): boolean {
    return this.get(chat, run.task.id) === run
  }

  add(chat: string, run: TaskRun): void {
    const runs = this.#chats.get(chat) ?? new Map<string, TaskRun>()
    this.#chats.set(chat, runs.set(run.task.id, run))
  }

  delete(chat: string, run: TaskRun): void {
    if (!this.isOf(chat, run)) return
    const runs = this.#chats.get(chat)
    runs?.delete(run.task.id)
    if (runs?.size === 0) this.#chats.delete(chat)
  }

  /** Removes the tasks of a chat, and returns them. */
  clear(chat: string): ReadonlyArray<TaskRun> {
    const runs = this.of(chat)
    this.#chats.delete(chat)
    return runs
  }
}
