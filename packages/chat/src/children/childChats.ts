/**
 * The child chats of tool calls: sub-agents.
 *
 * Owns: the calls that run a child, and the supervisors of children, one for each parent that has some. Does not own the chats, which
 * the directory starts, nor the conversations, which the store keeps.
 *
 * SUB3. The process of a child is below the process of its parent, and ends with it. A child that crashes is restarted, and its
 *         interrupted turn runs again, a few times.
 * SUB4. When a call ends, the process of its child has ended. An interrupted call cancels the turn of its child first.
 * SUB5. A call that runs again finds its child: it takes the result of a turn that is over, and continues an interrupted one. What
 *         the child may have done is in its own journal, so no call of the child that writes runs twice.
 */
import { DynamicSupervisor, type Pid, Process } from "@troupe/otp"
import { SessionError, ToolError } from "../errors/index.ts"
import type { ChatContext } from "../loop/index.ts"
import * as Messages from "../model/Message.ts"
import { type AgentRef, childId, type Conversation, isChildId, type ParentRef } from "../record/index.ts"
import { blank } from "../store/index.ts"
import { digest, type SubagentCall } from "../tool/index.ts"
import { describe } from "../toolResult/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"
import { chatStopped } from "../view/index.ts"

/** A turn of a chat. */
interface Turn {
  readonly result: () => Promise<unknown>
}

/** A live chat of this program. */
export interface FamilyChat {
  readonly id: string
  readonly pid: Pid | undefined
  readonly context: ChatContext | undefined
  readonly cancel: () => Promise<void>
  readonly stop: () => Promise<void>
}

/** The address of a child whose process has started. */
interface ChildRef {
  readonly send: (input: string, options: { readonly id: string }) => Turn
  readonly retry: () => Turn
}

/** The functions that children need from the directory. */
export interface ChildrenHome {
  /** The supervisor of the chats without a parent, once it is up; `chatsUp` is it if it is up now. */
  readonly chats: () => Promise<Pid>
  readonly chatsUp: () => Pid | undefined
  readonly called: (id: string) => Promise<ChildRef>
  readonly living: (id: string) => FamilyChat | undefined
  readonly load: (id: string) => Promise<Conversation | undefined>
  readonly save: (record: Conversation) => Promise<unknown>
  readonly agentRef: (name: string) => AgentRef
}

/** A call that runs a child, and the process of its parent. */
interface Run {
  readonly parent: string
  readonly pid: Pid
}

/** The id of the one input of a child. */
const task = "task"

/** How often a child may crash in one run of its call. */
const mostCrashes = 3

export class ChildChats {
  readonly #home: ChildrenHome
  readonly #runs = new Map<string, Run>()
  readonly #supervisors = new WeakMap<Pid, Promise<Pid>>()

  constructor(home: ChildrenHome) {
    this.#home = home
  }

  /** The supervisor that starts a chat; for a child throws when no call runs it, or its parent has no process any more. */
  async supervisor(id: string): Promise<Pid> {
    const chats = await this.#home.chats()
    return isChildId(id) ? this.#ofChild(id) : chats
  }

  /** Whether a supervisor may start the chat. */
  isUp(id: string, supervisor: Pid): boolean {
    const chats = this.#home.chatsUp()
    return isChildId(id) ? chats !== undefined && Process.isAlive(supervisor) : chats === supervisor
  }

  async #ofChild(id: string): Promise<Pid> {
    const run = this.#runs.get(id)
    if (run === undefined || !Process.isAlive(run.pid)) throw chatStopped(id)
    const known = await this.#supervisors.get(run.pid)
    if (known !== undefined && Process.isAlive(known)) return known
    const made = DynamicSupervisor.startLink(run.pid, {
      label: "SubagentSupervisor",
      // The call counts the crashes of its child.
      maxRestarts: Number.MAX_SAFE_INTEGER
    })
    this.#supervisors.set(run.pid, made)
    return made
  }

  /** Runs the child of a call, and returns what the model reads. */
  async run(parent: FamilyChat, call: SubagentCall): Promise<HandlerResult.HandlerResult> {
    const { pid } = parent
    if (pid === undefined || call.signal.aborted) return failed(call, "cancelled", "the call was cancelled")
    const id = childId(parent.id, `${lastPart(call.key)}-${digest(call.key)}`)
    const depth = (parent.context?.caller.parent?.depth ?? 0) + 1
    const bound = this.#boundMet(parent.id, id, depth, call)
    if (bound !== undefined) return bound
    const run = { parent: parent.id, pid }
    this.#runs.set(id, run)
    const interrupt = () => void this.#interrupted(id, run)
    call.signal.addEventListener("abort", interrupt, { once: true })
    try {
      await this.#begin(id, this.#home.agentRef(call.agent), { chat: parent.id, call: call.toolCall.id, depth })
      call.progress({ chat: id, agent: call.agent })
      return await this.#answer(id, run, call)
    } catch (cause) {
      if (call.signal.aborted) return failed(call, "cancelled", "the call was cancelled")
      return failed(call, "child_failed", `the agent ${call.agent} failed: ${describe(cause)}`, { cause })
    } finally {
      call.signal.removeEventListener("abort", interrupt)
      await this.#ended(id, run)
    }
  }

  /** The store has the parent of a child before the child has a process. */
  async #begin(id: string, agent: AgentRef, parent: ParentRef): Promise<void> {
    if ((await this.#home.load(id)) === undefined) await this.#home.save({ ...blank(id), agent, parent })
  }

  #boundMet(parent: string, id: string, depth: number, call: SubagentCall): HandlerResult.Failed | undefined {
    const { maxDepth, maxChildren } = call
    if (depth > maxDepth) {
      const message = `a chat may have ${maxDepth} levels of agents below it, and this one would be level ${depth}; do the task without ${call.agent}`
      return failed(call, "child_refused", message, { metadata: { maxDepth } })
    }
    const others = Array.from(this.#runs).filter(([other, run]) => other !== id && run.parent === parent)
    if (others.length < maxChildren) return undefined
    const message = `${maxChildren} agents run for this chat, and no more may; call ${call.agent} again when one of them has answered`
    return failed(call, "child_refused", message, { metadata: { maxChildren } })
  }

  async #answer(id: string, run: Run, call: SubagentCall): Promise<HandlerResult.HandlerResult> {
    for (let crashes = 0; ; crashes++) {
      const ref = await this.#home.called(id)
      if (!this.#isOf(id, run) || call.signal.aborted) return failed(call, "cancelled", "the call was cancelled")
      const turn = this.#turn(id, ref, call.input)
      try {
        await turn?.result()
        return answerOf(call, this.#home.living(id))
      } catch (error) {
        const hasDied = error instanceof SessionError && error.reason === "chat_died"
        if (!hasDied || crashes === mostCrashes || !Process.isAlive(run.pid)) throw error
      }
    }
  }

  /** The turn of the child; `undefined` when it is over (SUB5). */
  #turn(id: string, ref: ChildRef, input: string): Turn | undefined {
    const context = this.#home.living(id)?.context
    if (context?.known.includes(task) !== true || context.turn !== undefined) return ref.send(input, { id: task })
    const isOver = context.interrupted === undefined && context.lastHaltedReason !== "cancelled"
    return isOver ? undefined : ref.retry()
  }

  #isOf(id: string, run: Run): boolean {
    return this.#runs.get(id) === run
  }

  /** A parent whose process has ended has ended that of its child, whose turn is interrupted (SUB3). */
  async #interrupted(id: string, run: Run): Promise<void> {
    const chat = this.#home.living(id)
    if (this.#isOf(id, run) && Process.isAlive(run.pid)) await chat?.cancel()
    await this.#ended(id, run)
  }

  /** SUB4 */
  async #ended(id: string, run: Run): Promise<void> {
    if (!this.#isOf(id, run)) return
    await this.#home.living(id)?.stop()
    if (this.#isOf(id, run)) this.#runs.delete(id)
  }
}

/** The part of a key after its last slash names the call by its step. */
const lastPart = (key: string): string => key.slice(key.lastIndexOf("/") + 1)

const failed = (
  { toolCall }: SubagentCall,
  reason: "cancelled" | "child_failed" | "child_refused",
  message: string,
  fields: { readonly cause?: unknown; readonly metadata?: Readonly<Record<string, unknown>> } = {}
): HandlerResult.Failed =>
  HandlerResult.error(new ToolError(reason, { message, toolName: toolCall.name, toolCallId: toolCall.id, ...fields }))

/** What the model reads of a child whose turn is over. */
const answerOf = (call: SubagentCall, chat: FamilyChat | undefined): HandlerResult.HandlerResult => {
  const context = chat?.context
  if (context === undefined) return failed(call, "cancelled", "the call was cancelled")
  const { lastHaltedReason: haltedReason, thread } = context
  const said = lastSaid(thread)
  if (haltedReason === "completed") return HandlerResult.ok(said)
  const text = said === "" ? "" : `; its last text: ${said}`
  const message = `the agent ${call.agent} ended without an answer, because of ${haltedReason}${text}`
  return failed(call, "child_failed", message, { metadata: { haltedReason } })
}

/** The last text of the model that is not blank. */
const lastSaid = ({ messages }: Conversation["thread"]): string =>
  messages
    .filter(({ role }) => role === "assistant")
    .map(Messages.text)
    .findLast((text) => text.trim() !== "") ?? ""
