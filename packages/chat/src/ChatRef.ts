/**
 * The address of a living chat: it outlives the chat's process.
 *
 * Owns: the turns its senders wait for, and the observers. Does not own the process, which its supervisor restarts, nor
 * the thread, which the store keeps.
 *
 * REF1. Every turn ends: with its result, or, when the process died in the middle of it, with a `chat_died` error. A turn
 *       that had not begun when the process died is run by the next one.
 * REF2. Turns run in the order they were sent.
 * REF3. Observers stay across restarts.
 *
 * @module
 */
import { type Pid, Process, StateMachine } from "@troupe/otp"
import { SessionError } from "./ChatError.ts"
import type { chatMachine } from "./ChatMachine.ts"
import { unknownToolCall } from "./internal/chatContext.ts"
import { LiveTurn } from "./internal/liveTurn.ts"
import type { ChatSnapshot, LiveView, SnapshotObserver } from "./internal/liveView.ts"
import type { RunOptions } from "./internal/resolveOptions.ts"
import { submittedContent } from "./internal/submittedContent.ts"
import { type UserInput, userMessage } from "./internal/userMessage.ts"
import type { Message } from "./Message.ts"
import type { StepWatcher } from "./StepMachine.ts"
import type { Thread } from "./Thread.ts"
import * as Threads from "./Thread.ts"

export type { ChatSnapshot, LiveContext, SnapshotObserver } from "./internal/liveView.ts"
export type { ToolCallView } from "./internal/toolBatch.ts"
export type { LiveTurn } from "./internal/liveTurn.ts"
export type { UserInput } from "./internal/userMessage.ts"

/** The process behind a chat. */
export type ChatPid = StateMachine.MachinePid<typeof chatMachine>

/** What a chat needs of the Troupe it lives in. */
export interface ChatHome {
  readonly options: (id: string) => RunOptions
  readonly revive: (id: string) => Promise<ChatPid>
  readonly stop: (id: string) => Promise<void>
}

/** A chat: send to it, watch it, cancel it. */
export class ChatRef {
  readonly id: string
  readonly #home: ChatHome
  readonly #view: LiveView
  #pid: ChatPid | undefined
  #turns: Array<LiveTurn> = []
  #sent = new Set<LiveTurn>()
  /** The turn that was cancelled while there was no process. */
  #cancelled: LiveTurn | undefined
  #stopping: Promise<void> | undefined

  constructor(id: string, home: ChatHome, view: LiveView) {
    this.id = id
    this.#home = home
    this.#view = view
  }

  /** The chat's process; `undefined` while there is none. */
  get pid(): Pid | undefined {
    return this.#pid
  }

  /** The thread as last committed or extended. */
  get thread(): Thread {
    return this.getSnapshot()?.context.thread ?? Threads.empty
  }

  /**
   * Says something, and runs steps until the chat waits for the user again.
   *
   * **Details**: delivered at once; a turn that is running ends first. The turn is the events, to be read or not, and
   * `result()`. Leaving the loop detaches, it does not cancel. If a tool asked a question, this answers it.
   *
   * **Errors**: throws a `ValidationError` (`invalid_message`) for what is no message. Reading, and `result()`, fail with a `SessionError`: `awaiting_tool_results` when tool results must come
   * first, `chat_died` when the process died in the middle, `chat_stopped` after `stop`.
   */
  send(input: UserInput): LiveTurn {
    return this.#start([userMessage(input)], false)
  }

  /**
   * Runs the last question again, from the last committed step: after a crash, an error, a cancel, or for another answer.
   *
   * **Errors**: as for {@link send}; throws a `SessionError` (`nothing_to_retry`) when nothing was said yet.
   */
  retry(): LiveTurn {
    if (this.thread.messages.length === 0) {
      throw new SessionError("nothing_to_retry", `Nothing was said yet in the chat ${this.id}; use send`)
    }
    return this.#start([], true)
  }

  /**
   * Answers the calls the chat waits for, all of them, by call id, and goes on.
   *
   * **Errors**: throws a `SessionError` (`unknown_tool_call_id`) for a call the chat does not wait for, a `ToolError`
   * (`encoding_failed`) for a result that has no JSON form.
   */
  submitToolResults(results: Readonly<Record<string, unknown>>): LiveTurn {
    const pending = new Set(this.getSnapshot()?.context.pendingToolCalls.map((call) => call.id))
    const unknown = Object.keys(results).find((id) => !pending.has(id))
    if (unknown !== undefined) throw unknownToolCall(unknown, pending)
    const messages = Object.entries(results).map(([toolCallId, value]): Message => ({
      role: "tool",
      toolCallId,
      content: submittedContent(toolCallId, value)
    }))
    return this.#start(messages, false)
  }

  /**
   * Cancels the running turn; turns sent after it still run.
   *
   * **Details**: resolves when it is over, within the drain deadline (`drainMs`) whatever its tools do: its events end with
   * `chat_completed`, `haltedReason: "cancelled"`. Every call has its result in the thread, and what was said is kept.
   * A store that hangs has the same time again, before the turn and at its end. Without a running turn it does nothing.
   */
  async cancel(): Promise<void> {
    const [running] = this.#turns
    if (running === undefined) return
    if (this.#pid === undefined) this.#cancelled = running
    else Process.send(this.#pid, { type: "turn.cancel" })
    await running.ended
  }

  /** Told of every new snapshot; text that streams is gathered for a moment. The observer stays across restarts. */
  subscribe(observer: SnapshotObserver | ((snapshot: ChatSnapshot) => void)): { readonly unsubscribe: () => void } {
    return this.#view.subscribe(typeof observer === "function" ? { next: observer } : observer)
  }

  /** The present snapshot; of a chat between two processes, the last one. */
  getSnapshot(): ChatSnapshot | undefined {
    return this.#view.snapshot()
  }

  /** Ends the chat's process; what was committed is kept, `troupe.chat(id)` starts it again. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #stop(): Promise<void> {
    await this.#home.stop(this.id)
    if (this.#turns.length > 0) this.#endAll(stopped(this.id))
    this.#view.complete()
  }

  /** What the chat's process tells of its running step. */
  get watcher(): StepWatcher {
    return this.#view
  }

  /** The supervisor started a process for this chat. */
  attached(pid: ChatPid): void {
    this.#pid = pid
    this.#view.transitioned(StateMachine.snapshot(pid))
    StateMachine.subscribe(pid, (snapshot) => this.#view.transitioned(snapshot))
    Process.onExit(pid, (reason) => this.#died(pid, reason))
    for (const turn of this.#turns) this.#deliver(turn)
    const [first] = this.#turns.filter((turn) => !turn.over)
    if (first !== undefined && first === this.#cancelled) Process.send(pid, { type: "turn.cancel" })
    this.#cancelled = undefined
  }

  #start(messages: ReadonlyArray<Message>, retry: boolean): LiveTurn {
    const turn = new LiveTurn(messages, this.#home.options(this.id), retry, () => this.#view.changed())
    if (this.#stopping !== undefined) {
      turn.fail(stopped(this.id))
      return turn
    }
    this.#turns.push(turn)
    void turn.ended.then(() => this.#forget(turn))
    if (this.#pid !== undefined) this.#deliver(turn)
    else this.#revive()
    return turn
  }

  #deliver(turn: LiveTurn): void {
    if (this.#pid === undefined || turn.over || this.#sent.has(turn)) return
    this.#sent.add(turn)
    Process.send(this.#pid, { type: "turn.start", turn: turn.turn })
  }

  #revive(): void {
    this.#home.revive(this.id).catch((error: unknown) => this.#endAll(error))
  }

  #died(pid: ChatPid, reason: unknown): void {
    if (this.#pid !== pid) return
    this.#pid = undefined
    const [running] = this.#turns
    this.#sent.clear()
    if (this.#stopping !== undefined) return
    if (running?.turn.outlet.begun === true) {
      running.fail(
        new SessionError(
          "chat_died",
          `The chat ${this.id} died in the middle of a turn; it is started again with what was committed: retry() goes on from there, or send again`,
          { cause: reason }
        )
      )
    }
    if (this.#turns.some((turn) => !turn.over)) this.#revive()
  }

  /** A turn that failed while its process goes on failed at the reader's side (a throw of `onEvent`): the process cannot go on. */
  #forget(turn: LiveTurn): void {
    this.#turns = this.#turns.filter((other) => other !== turn)
    const isRunning = this.#sent.delete(turn) && turn.turn.outlet.begun
    if (isRunning && turn.failure !== undefined && this.#pid !== undefined) Process.exit(this.#pid, turn.failure.error)
  }

  #endAll(error: unknown): void {
    for (const turn of this.#turns) turn.fail(error)
  }
}

const stopped = (id: string): SessionError =>
  new SessionError("chat_stopped", `The chat ${id} was stopped; troupe.chat("${id}") starts it again`)
