/**
 * The child chats of tool calls: sub-agents.
 *
 * Owns: the calls that run a child. Does not own their supervisors (`ChildSupervisors`), the chats, which the directory starts, nor the
 * conversations, which the store keeps.
 *
 * SUB3. The process of a child is below the process of its parent, and ends with it. A child that crashes is restarted, and its
 *         interrupted turn runs again, a few times.
 * SUB4. When a call ends, the process of its child has ended. An interrupted call cancels the turn of its child first.
 * SUB5. A call that runs again finds its child: it takes the result of a turn that is over, and continues an interrupted one. What
 *         the child may have done is in its own journal, so no call of the child that writes runs twice.
 */
import type { ToolSlots } from "../async/index.ts"
import { type Pid, Process } from "@troupe/otp"
import type { Team } from "../agents/index.ts"
import { SessionError } from "../errors/index.ts"
import type { FamilySpending, FixedOptions } from "../options/index.ts"
import {
  type AgentRef,
  type ChildWait,
  type Conversation,
  isChildId,
  type Mode,
  type ParentRef
} from "../record/index.ts"
import { blank } from "../store/index.ts"
import { haltedText } from "../call/index.ts"
import { haltIn } from "../step/index.ts"
import type { Returned, SubagentCall } from "../tool/index.ts"
import * as Usage from "../model/Usage.ts"
import { describe } from "../values/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"
import { chatStopped } from "../view/index.ts"
import { ChildModes, clampedTo, isLooser, permissionsWithin } from "./childMode.ts"
import { ChildNotes } from "./childNotes.ts"
import {
  type Account,
  cycleText,
  type FamilyChat,
  memberId,
  Spending,
  type TreeBounds,
  TreeLimits,
  WaitGraph,
  type WorkProcess
} from "../family/index.ts"
import type { BackgroundTasks } from "./backgroundTasks.ts"
import { failed } from "./childAnswer.ts"
import {
  boundMet,
  callBefore,
  childOf,
  countedBefore,
  inputOf,
  resultOf,
  type Sending,
  stillAsks,
  turnOf
} from "./childCalls.ts"
import { areOver, tasksOver, workOn } from "./childTasks.ts"
import { type Answering, answering, asksOf, decisionsFor, ownAsksOf, type Turn } from "./childWaits.ts"
import { ChildSupervisors, TeamDown } from "./teams.ts"

/** The address of a child whose process has started. */
interface ChildRef extends Answering, Sending {
  /** Ends the turn or the wait of the child, and its tasks. */
  readonly cancel: (options: { readonly tasks: true }) => Promise<void>
}

/** The functions that children need from the directory. */
export interface ChildrenHome {
  readonly treeBounds: TreeBounds
  readonly now: () => number
  /** The supervisor of the chats without a parent, once it is up; `chatsUp` is it if it is up now. */
  readonly chats: () => Promise<Pid>
  readonly chatsUp: () => Pid | undefined
  readonly called: (id: string) => Promise<ChildRef>
  readonly living: (id: string) => FamilyChat | undefined
  readonly load: (id: string) => Promise<Conversation | undefined>
  readonly begin: (record: Conversation) => Promise<unknown>
  readonly agentRef: (name: string) => AgentRef
  /** Whether a chat has background tasks here. */
  readonly hasTasks: (id: string) => boolean
  /** Has an agent work on, as a task of the chat that called it; returns whether that has a place for it. */
  readonly wake: BackgroundTasks["wake"]
  /** Passes the events of a child to the stream of its parent (NEST1). */
  readonly follow: (parent: string, child: string, call: SubagentCall) => void
  /** The slots of the calls of all chats, if they are bounded. */
  readonly toolSlots: ToolSlots | undefined
}

/** A call that runs a child, and the process of its parent. */
interface Run {
  /** The team that the child is a member of; its last supervisor, and the process of the leader then. */
  readonly team: Team | undefined
  supervisor: { readonly pid: Pid; readonly leader: Pid } | undefined
  readonly parent: string
  /** How many other children of the parent ran when it began. */
  readonly others: number
  readonly pid: Pid
  readonly depth: number
  readonly span: SubagentCall["span"]
  /** The key of the call, and the process of its work if that can go on as a background task. */
  readonly key: string
  readonly under: WorkProcess | undefined
  /** What the child waited for, with the decisions. */
  readonly wait: ChildWait | undefined
  readonly account: Account
  /** The mode of the parent that the child is within, if it has one. */
  bound: Mode | undefined
  /** The end of the run, from its beginning on. */
  ending: Promise<void> | undefined
  /** Whether the child rests, and its tasks work. */
  hasTasks: boolean
  /** Resolves when the run is over. */
  readonly over: PromiseWithResolvers<void>
}

/** The refusal of a call that met a bound, if it did. */
type Refused = HandlerResult.Failed | undefined

/** The part of its parent's drain time that a child has. */
const drainShare = 0.75

/** How often a child may crash in one run of its call. */
const mostCrashes = 3

export class ChildChats {
  readonly #home: ChildrenHome
  readonly #runs = new Map<string, Run>()
  readonly #spending: Spending
  readonly tree: TreeLimits
  readonly notes: ChildNotes
  readonly #modes: ChildModes
  readonly supervisors: ChildSupervisors
  /** Which chats wait for which others. */
  readonly graph = new WaitGraph()

  constructor(home: ChildrenHome) {
    this.#home = home
    this.supervisors = new ChildSupervisors(home)
    this.notes = new ChildNotes({
      ...home,
      most: home.treeBounds.maxKnownAgents,
      runs: (child) => this.#runs.has(child)
    })
    this.tree = new TreeLimits(home.treeBounds, home.living, home.now)
    this.#modes = new ChildModes({
      living: home.living,
      runOf: (id) => this.#runs.get(id),
      runsOf: (id) => this.#runsOf(id)
    })
    this.#spending = new Spending({
      tree: this.tree,
      living: home.living,
      runs: () => Array.from(this.#runs).filter(([, { ending }]) => ending === undefined),
      isRun: (id) => this.#runs.get(id)?.ending === undefined && this.#runs.has(id),
      accountOf: (child) => this.#runs.get(child)?.account
    })
  }

  #runsOf(id: string): ReadonlyArray<readonly [child: string, run: Run]> {
    return Array.from(this.#runs).filter(([, { parent }]) => parent === id)
  }

  /** Whether a call runs a turn of the child. */
  works(child: string): boolean {
    const run = this.#runs.get(child)
    if (run === undefined || run.ending !== undefined) return false
    return run.hasTasks || this.#home.living(child)?.context?.turn !== undefined
  }

  /** What a chat and its children spend. */
  spending(id: string): FamilySpending {
    return this.#spending.of(id)
  }

  /** The process of a chat has ended (SUB14). */
  released(id: string): void {
    if (!this.#home.hasTasks(id)) this.tree.forget(id)
  }

  /** A process of this chat starts. */
  began(id: string): void {
    this.#spending.began(id)
  }

  /** The options of a turn: those of a child are within its parent's (SUB9). */
  within(id: string, fixed: FixedOptions): FixedOptions {
    const run = this.#runs.get(id)
    if (run === undefined) return fixed
    const { tracing, permissions, drainMs } = fixed
    return {
      ...fixed,
      permissions: permissionsWithin(permissions, () => this.#modes.of(run.parent)),
      // A child that is cancelled ends before the call that waits for it must.
      drainMs: Math.ceil(drainMs * drainShare ** run.depth),
      ...(tracing === undefined || run.span === undefined ? {} : { tracing: { ...tracing, parent: run.span } })
    }
  }

  /** The host has set the mode of a chat: its children follow (SUB9). */
  modeSet(id: string): Promise<void> {
    return this.#modes.set(id)
  }

  /** A chat has stored its state: its children in the background follow a stricter mode (SUB9). */
  stored(id: string): void {
    this.#modes.stored(id)
  }

  /** The supervisor that starts a chat; for a child throws when no call runs it, or its parent has no process. */
  supervisor(id: string): Promise<Pid> {
    return isChildId(id) ? this.#ofChild(id) : this.#home.chats()
  }

  /** Whether a supervisor may start the chat. */
  isUp(id: string, supervisor: Pid): boolean {
    const chats = this.#home.chatsUp()
    return isChildId(id) ? chats !== undefined && Process.isAlive(supervisor) : chats === supervisor
  }

  async #ofChild(id: string): Promise<Pid> {
    await this.#home.chats()
    const run = this.#runs.get(id)
    if (run === undefined || !Process.isAlive(run.pid)) throw chatStopped(id)
    return this.supervisors.of(run)
  }

  /**
   * Runs the child of a call below the process of its parent, or below `under`, and returns what the model reads. `asker` is the chat that
   * waits, if it is another one than the parent.
   */
  async run(parentId: string, called: SubagentCall, under?: WorkProcess, asker = parentId): Promise<Returned> {
    const call = under?.follows === undefined ? called : { ...called, follows: under.follows }
    const parent = this.#home.living(parentId)
    const pid = under?.pid ?? parent?.pid
    if (parent === undefined || pid === undefined || call.signal.aborted)
      return failed(call, "cancelled", "the call was cancelled")
    const id = childOf(parent, call)
    if (typeof id !== "string") return id
    const waits = () => under?.isTask() !== true
    const cycle = waits() ? this.graph.cycle(asker, id) : undefined
    if (cycle !== undefined) {
      return failed(call, "child_refused", cycleText(cycle), { metadata: { reason: "cycle" } })
    }
    const over = this.graph.begin(asker, id, waits)
    try {
      let before = callBefore(this.#runs.get(id), call)
      for (; before !== undefined; before = callBefore(this.#runs.get(id), call)) await before
      if (call.signal.aborted) return failed(call, "cancelled", "the call was cancelled")
      return await this.#runOf(parent, { id, pid, asker }, call, under)
    } finally {
      over()
    }
  }

  async #runOf(
    parent: FamilyChat,
    { id, pid, asker }: { readonly id: string; readonly pid: Pid; readonly asker: string },
    call: SubagentCall,
    under: WorkProcess | undefined
  ): Promise<Returned> {
    const depth = (parent.context?.record.parent?.depth ?? 0) + 1
    const wait = under?.wait?.chat === id ? under.wait : decisionsFor(this.#home.living(asker)?.context, id)
    const bound = this.#modes.of(parent.id)
    const run: Run = {
      team:
        parent.team?.members.some((member) => memberId(parent.id, member) === id) === true ? parent.team : undefined,
      supervisor: undefined,
      parent: parent.id,
      others: this.#runsOf(parent.id).filter(([other]) => other !== id).length,
      pid,
      depth,
      span: call.span,
      key: call.key,
      under,
      wait,
      account: { key: accountKey(call, under), counted: wait?.counted ?? Usage.empty, former: Usage.empty },
      bound,
      ending: undefined,
      hasTasks: false,
      over: Promise.withResolvers()
    }
    this.#runs.set(id, run)
    let interrupted: Promise<void> | undefined
    const interrupt = () => {
      interrupted = this.#interrupted(id, run)
    }
    call.signal.addEventListener("abort", interrupt, { once: true })
    const takeBack = under === undefined ? this.#home.toolSlots?.lend() : undefined
    try {
      const refused = await this.#begin(id, run, call, { chat: parent.id, call: call.toolCall.id, depth })
      if (refused !== undefined) return refused
      // The call of a background task is over when its child starts, so that the stream has no event of it (NEST1).
      return await this.#answer(id, run, under === undefined ? call : { ...call, events: false })
    } catch (cause) {
      if (call.signal.aborted) return failed(call, "cancelled", "the call was cancelled")
      const halt = haltIn(wait)
      // The child gets no halt, and the chats above have it all the same (SUB12).
      if (halt !== undefined) return HandlerResult.halt(halt, haltedText(halt))
      const metadata = cause instanceof TeamDown ? { metadata: { reason: "team_down" } } : {}
      return failed(call, "child_failed", `the agent ${call.agent} failed: ${describe(cause)}`, { cause, ...metadata })
    } finally {
      call.signal.removeEventListener("abort", interrupt)
      await (interrupted ?? this.#ended(id, run))
      takeBack?.()
      run.over.resolve()
    }
  }

  /**
   * The store has the parent of a child before the child has a process, and the record of the parent says that it began (SUB15). Returns which
   * bound a call met; one that continues its child meets none.
   */
  async #begin(id: string, { wait, account, others }: Run, call: SubagentCall, parent: ParentRef): Promise<Refused> {
    const isNoted = () => this.#home.living(parent.chat)?.context?.record.children?.includes(id) === true
    const record = await this.#home.load(id)
    // A deletion of the parent may have looked for its children.
    if (call.signal.aborted) throw chatStopped(parent.chat)
    const isNew = wait === undefined && record?.known?.includes(inputOf(call).id) !== true
    const refused = isNew ? boundMet({ id, depth: parent.depth, others }, call, this.tree) : undefined
    if (refused !== undefined) return refused
    if (record === undefined) {
      if (wait !== undefined || isNoted()) throw new Error(`its conversation ${id} was deleted after it had begun`)
      await this.#home.begin({ ...blank(id), agent: this.#home.agentRef(call.agent), parent })
    }
    if (wait === undefined) account.counted = countedBefore(record, call)
    if (!isNoted()) await this.notes.begun(parent.chat, id)
    return undefined
  }

  async #answer(id: string, run: Run, call: SubagentCall): Promise<Returned> {
    for (let crashes = 0; ; crashes++) {
      const ref = await this.#home.called(id)
      if (!this.#isOf(id, run) || call.signal.aborted) return failed(call, "cancelled", "the call was cancelled")
      call.progress({ chat: id, agent: call.agent })
      if (call.events) this.#home.follow(run.parent, id, call)
      const refused = (await this.#stillAsks(id, run, call, ref)) ?? (await this.#refused(id, run, call))
      if (refused !== undefined) return refused
      const answers = () => answered(() => this.#home.living(id), run.wait, ref)
      try {
        if (!(await hasRead(this.#home.living(id), call, answers)))
          return resultOf(call, this.#home.living(id), run.wait)
        const child = this.#home.living(id)
        await endOf(child, turnOf(child?.context, ref, inputOf(call), run.account.counted))
        await answers()
        await this.#home.living(id)?.rests()
        const goesOn = await this.#tasksOver(id, run, call)
        return resultOf(call, this.#home.living(id), run.wait, goesOn ? ownAsksOf : asksOf)
      } catch (error) {
        const hasDied = error instanceof SessionError && error.reason === "chat_died"
        const isLast = run.team === undefined && crashes === mostCrashes
        if (!hasDied || isLast || !Process.isAlive(run.pid) || call.signal.aborted) throw error
        if (run.team !== undefined) await this.supervisors.down(id, error.cause, run, (child) => this.works(child))
      }
    }
  }

  /** Waits for the tasks of the child (SUB21); returns whether they go on in a task of the parent (SUB22). */
  async #tasksOver(id: string, run: Run, call: SubagentCall): Promise<boolean> {
    const chat = this.#home.living(id)
    if (chat === undefined || haltIn(run.wait) !== undefined || areOver(chat)) return false
    if (chat.turnEnds === "now" && call.follows === undefined) {
      if (await this.#home.wake(run.parent, id, workOn(chat, call))) return true
    }
    run.hasTasks = true
    await tasksOver(chat, call.signal)
    run.hasTasks = false
    return false
  }

  #stillAsks(id: string, { wait, parent }: Run, call: SubagentCall, ref: ChildRef): ReturnType<typeof stillAsks> {
    const { living } = this.#home
    const child = { id, context: living(id)?.context }
    return stillAsks(child, { wait, parent: living(parent)?.context?.record }, call, () => ref.cancel({ tasks: true }))
  }

  /** A child whose conversation has a looser mode gets that of its parent. Without a rest of the budget it does not start. */
  async #refused(id: string, run: Run, call: SubagentCall): Promise<HandlerResult.Failed | undefined> {
    const chat = this.#home.living(id)
    const bound = this.#modes.of(run.parent)
    run.bound = bound
    if (chat !== undefined && isLooser(chat.standing, bound)) {
      await chat.setPermissionMode(clampedTo(chat.mode ?? "default", bound))
    }
    // A child that is to halt sends no request.
    const spent = haltIn(run.wait) === undefined ? this.#spending.overspent(id) : undefined
    if (spent === undefined) return undefined
    const message = `the budget is used up, so that the agent ${call.agent} does not start`
    return failed(call, "child_refused", message, { metadata: { haltedReason: spent.reason, ...spent.metadata } })
  }

  #isOf(id: string, run: Run): boolean {
    return this.#runs.get(id) === run
  }

  /** A parent whose process has ended has ended that of its child, whose turn is interrupted (SUB3). */
  async #interrupted(id: string, run: Run): Promise<void> {
    const chat = this.#home.living(id)
    if (this.#isOf(id, run) && Process.isAlive(run.pid)) {
      const { hasTasks, called } = this.#home
      // The process of the child ends also when it cannot be cancelled.
      await (hasTasks(id) ? called(id).then((ref) => ref.cancel({ tasks: true })) : chat?.cancel())?.catch(
        () => undefined
      )
    }
    await this.#ended(id, run)
  }

  /** Ends the run once: its usage counts from then on as that of a call that has ended (SUB4, SUB7). */
  #ended(id: string, run: Run): Promise<void> {
    return (run.ending ??= this.#end(id, run))
  }

  async #end(id: string, run: Run): Promise<void> {
    if (!this.#isOf(id, run)) return
    const chat = this.#home.living(id)
    const usage = chat && usageOf(chat, run)
    const isTask = run.under?.isTask() === true
    if (usage !== undefined) this.#spending.childEnded({ parent: run.parent, key: run.account.key, isTask }, id, usage)
    this.#spending.passUp(id, run.parent)
    // Its tasks are within its mode and its budget.
    await (this.#home.hasTasks(id) ? chat?.pause() : chat?.stop())
    if (this.#isOf(id, run)) this.#runs.delete(id)
  }
}

/** Gives the child the answers that it waits for (SUB11). A turn that ends in an error is the last. */
const answered = async (
  child: () => FamilyChat | undefined,
  wait: ChildWait | undefined,
  ref: ChildRef
): Promise<void> => {
  if (wait === undefined) return
  for (let reason = ""; reason !== "error";) {
    const { id = "", context } = child() ?? {}
    const turn = context === undefined ? undefined : answering({ id, context }, wait.asks, ref)
    if (turn === undefined) return
    reason = (await turn.result()).haltedReason
  }
}

/** Whether the child has read the messages before the input of a call: one that led to a question would get the input as its answer. */
const hasRead = async (child: FamilyChat | undefined, call: SubagentCall, answers: () => Promise<void>) => {
  if (child?.context?.record.known?.includes(inputOf(call).id) === true) return true
  await answers()
  await child?.rests()
  return child?.context === undefined || asksOf({ id: child.id, context: child.context }).length === 0
}

/**
 * Waits until the child rests: its turn is over, or waits behind a question. Rejects when the turn failed.
 *
 *   1. the child is interrupted, and its turn is retried
 *   2. the end of a task begins a turn, which continues that one, whose calls then wait for a person
 *   3. the retry is refused: the call has the same waits
 */
const endOf = async (child: FamilyChat | undefined, turn: Turn | undefined): Promise<void> => {
  await child?.rests()
  if (turn?.over !== true) return
  await turn.result().catch((error: unknown) => {
    if (!(error instanceof SessionError && error.reason === "awaiting_approval")) throw error
  })
}

/** The key under which a run counts. No step may have counted what a task used before it waited: that stays under a key of its own. */
const accountKey = ({ key }: SubagentCall, under: WorkProcess | undefined): string =>
  under?.wait === undefined ? key : `${key} ${JSON.stringify(under.wait.counted)}`

/**
 * The usage of a child whose call has ended. A call whose process has died runs again, and counts then. A background task does not, when
 * it missed its deadline; the step of its child has no end then.
 */
const usageOf = ({ context, stepUsage }: FamilyChat, { pid, under }: Run): Usage.Usage | undefined => {
  if (context === undefined || Process.isAlive(pid)) return context?.record.usage
  return under === undefined ? undefined : Usage.add(context.record.usage, stepUsage)
}
