/**
 * Starts, finds and restarts the live chats of a Troupe.
 *
 * Owns: the requested chats, and the starts under way. Does not own how long chats stay in memory (`Passivation`), the
 * supervision tree of their processes, nor the contents of a chat.
 *
 * TROUPE1. At most one process lives for a chat id.
 * TROUPE2. A chat that crashes is restarted from its last committed state, within its supervisor's restart limit. Too many
 *          crashes end the supervisor, which is restarted too. Its chats, and a chat that could not be loaded again, start
 *          again with the next input.
 * TROUPE4. The chat is loaded from the store before its supervisor is asked to start it: a slow load delays that chat only.
 * TROUPE5. The load of a long thread is checked and begun with in turns of the event loop of their own.
 * INSPECT1. With `inspect`, XState runs the charts of a chat in one actor system: the chat, its steps, model requests and
 *           batches, and every tool call. The chat behaves the same.
 */
import { EventLoop, OtpError, type Pid, StateMachine, type System } from "@troupe/otp"
import { optionsOfRun, type TurnOptions } from "../options/index.ts"
import { AgentChoices, agentOf, type AgentTable, type AskedAgent, checkAgents, otherAgent } from "../agents/index.ts"
import { againAfter, isRecord, SessionError, ValidationError } from "../errors/index.ts"
import { ChatEnv, chatMachine, chatStart } from "../loop/index.ts"
import type { ChatBlobs } from "../model/index.ts"
import { type Conversation, isChildId, saved } from "../record/index.ts"
import { checkRecord, type Draft, type Fence, fenceOf, type Home } from "../store/index.ts"
import { type DraftKeeping, chatMoved, chatStopped, followChild, LiveState, LiveView } from "../view/index.ts"
import { type InboxLimits, inputId } from "../inbox/index.ts"
import {
  type ChatHome,
  LiveChat,
  Passivation,
  StartSlots,
  type ChatPid,
  withDecision,
  type SupervisionTree
} from "../live/index.ts"
import type { WaitedCalls } from "../call/index.ts"
import { boardsOf, handleOf } from "./chatHandle.ts"
import type { Memories } from "./memories.ts"
import { FamilyMember } from "./familyMember.ts"
import { LocalChatRef } from "./LocalChatRef.ts"
import { ignoreRejection, outsideTurn, type ToolSlots } from "../async/index.ts"
import { acceptFiles, blobsIn, ChatLife, hasOther, mayAct, tasksOf } from "./chatLife.ts"
import { type BackgroundTasks, ChildChats, withoutLimit } from "../children/index.ts"
import type { Boards, TreeBounds } from "../family/index.ts"
import { describe } from "../values/index.ts"
import type { TroupeOptions } from "./troupeOptions.ts"

/** A requested chat, and its address. */
export interface Living {
  readonly chat: LiveChat
  readonly ref: LocalChatRef
  /** The blobs of the chat, if the store keeps blobs. */
  readonly blobs: ChatBlobs | undefined
}

/** The parts that chats are started with. */
export interface ChatParts {
  readonly system: System.System
  readonly tree: SupervisionTree
  readonly agents: AgentTable
  readonly toolSlots: ToolSlots | undefined
  readonly waited: WaitedCalls
  readonly suspension: Pick<TroupeOptions, "suspendedTtlMs" | "answer">
  readonly limits: InboxLimits
  /** How often the draft of a reply is stored: `Infinity` for only when its chat ends, `undefined` for never. */
  readonly draftEveryMs: number | undefined
  readonly passivateAfterMs: number
  readonly maxLiveChats: number
  readonly maxStartingChats: number
  readonly maxTasks: number
  readonly maxChainRequests: number
  readonly treeBounds: TreeBounds
  readonly home: Home | undefined
  /** How many bytes the blobs of one chat may have; `undefined` if the store keeps no blobs. */
  readonly mostBlobBytes: number | undefined
  /** Called with the inspection events of the charts, if anybody inspects them. */
  readonly inspect: TroupeOptions["inspect"]
  readonly memories: Memories
  /** Called when the directory no longer holds a chat strongly. */
  readonly released: (id: string) => void
}

export class ChatDirectory {
  readonly #parts: ChatParts
  readonly #children: ChildChats
  readonly tasks: BackgroundTasks
  readonly boards: Boards
  readonly #passivation: Passivation<Living>
  readonly #drafting: DraftKeeping | undefined
  readonly #reviving = new Map<string, Promise<ChatPid>>()
  readonly #slots: StartSlots
  readonly #choices = new AgentChoices()
  /** The functions that return the own options of turns that begin without any: the newest is called. */
  readonly ownOptions = new Set<(chat: LocalChatRef) => TurnOptions>()
  /** The chats whose process is being ended: the next start waits for that. */
  readonly #ending = new Map<string, Promise<void>>()

  constructor(parts: ChatParts) {
    this.#parts = parts
    this.#children = childrenOf(parts, this)
    this.tasks = tasksOf(parts, this, this.#children)
    this.boards = boardsOf(parts, this)
    this.#slots = new StartSlots(parts.maxStartingChats)
    const { draftEveryMs: everyMs, passivateAfterMs: afterMs, system, tree } = parts
    const keep = (draft: Draft): void => void tree.notify(draft)
    this.#drafting = everyMs === undefined ? undefined : { clock: system.clock, everyMs, keep }
    const released = releasing(parts, this.#children)
    this.#passivation = new Passivation(system.clock, afterMs, (id) => this.#reviving.has(id), released)
  }

  /** The chats that have a process or are to have one, by id. */
  get held(): Passivation<Living>["held"] {
    return this.#passivation.held
  }

  /** The chat, if it is still in memory. */
  get(id: string): Living | undefined {
    return this.#passivation.get(id)
  }

  /** Returns the chat with this id after its process has started; `asked` is the agent that the caller gives. */
  async called(id: string, asked?: AskedAgent): Promise<LocalChatRef> {
    if (asked !== undefined) this.#parts.agents.ref(asked.name)
    await this.#ending.get(id)
    const fence = this.#fence(id)
    const known = this.get(id)
    if (known !== undefined && !isSame(known.chat.fence, fence)) {
      await known.chat.leave()
      return this.called(id, asked)
    }
    this.#admit(id, known)
    const living = known ?? this.#made(id, fence)
    const { chat, ref } = living
    chat.rest.touched()
    try {
      await this.#revive(id, asked)
    } catch (error) {
      // The first start failed, so no caller has its address.
      if (chat.context === undefined && !this.#reviving.has(id) && this.held.get(id) === living) {
        this.#passivation.forget(id)
        this.#left(id)
      }
      throw error
    }
    if (asked === undefined) return ref
    await this.#choices.choose(chat, () => handOver(chat, asked, () => this.load(id)))
    if (chat.context?.record.agent?.name !== asked.name) throw otherAgent(id, chat.context?.record.agent, asked)
    return ref
  }

  /** Whether the chat has a process or is in the store. */
  async has(id: string): Promise<boolean> {
    await this.#reviving.get(id)?.catch(() => undefined)
    return this.#parts.tree.whereis(id) !== undefined || (await this.load(id)) !== undefined
  }

  /** The fence of a chat that is requested now. Throws when this program is not its home. */
  #fence(id: string): Fence | undefined {
    const { home } = this.#parts
    const fence = home?.fenceOf(id)
    if (home !== undefined && fence === undefined) throw chatMoved(id)
    return fence
  }

  /** ADMIT1 */
  #admit(id: string, known: Living | undefined): void {
    const { maxLiveChats } = this.#parts
    if (known?.chat.pid !== undefined || this.#reviving.has(id) || this.#passivation.admits(maxLiveChats)) return
    const message = `This program has ${maxLiveChats} live chats, and none of them is idle; try again soon`
    throw new SessionError("overloaded", message, { metadata: { id, maxLiveChats } })
  }

  #made(id: string, fence: Fence | undefined): Living {
    const { system, agents } = this.#parts
    const drafting = fence === undefined ? this.#drafting : draftingUnder(this.#drafting, fence)
    const state = new LiveState(drafting)
    const view = new LiveView(system, state, agents.none.chatOptions.permissions?.mode)
    const chat = new LiveChat(id, this.home, { state, view }, fence)
    const living = { chat, ref: new LocalChatRef(chat, this.tasks), blobs: blobsIn(this.#parts, id, fence) }
    this.#passivation.hold(id, living)
    return living
  }

  /** Stops all chats, and unloads no more idle chats. */
  async stopAll(): Promise<void> {
    this.#passivation.stop()
    await Promise.all(this.#passivation.all.map(({ chat }) => chat.stop()))
  }

  readonly home: ChatHome = {
    limits: () => this.#parts.limits,
    accept: (id, input, fence) =>
      typeof input.message.content === "string"
        ? this.#parts.tree.add<"accept">({ type: "accept", id, input, fence })
        : acceptFiles(this.#parts.tree, this.get(id)?.blobs, { type: "accept", id, input, fence }),
    options: (id, turn, agent) => {
      const { agents, toolSlots, home, maxChainRequests, waited } = this.#parts
      // A turn of an unloaded chat has its options before the chat is held again.
      const living = this.get(id)
      const own = agents.of(agent).fixed(turn)
      const children = agents.isEmpty ? undefined : this.#children
      return optionsOfRun(this.#parts.memories.recalling(id, children?.within(id, own) ?? own), {
        sessionId: id,
        agent,
        toolSlots,
        maxChainRequests,
        chat: living && handleOf(living, children, { parts: this.#parts, chats: this, agent, all: this.#children }),
        blobs: living?.blobs,
        family: children?.spending(id),
        waited,
        mayAct: home === undefined ? undefined : () => mayAct(home, living?.chat)
      })
    },
    ownOptions: (id) => ownOptionsOf(this.ownOptions, this.held.get(id)),
    agentRef: (name) => this.#parts.agents.ref(name),
    serving: (agent) => this.#parts.agents.of(agent),
    hooks: () => this.#parts.agents.none.chatOptions.hooks,
    modeSet: (id) => this.#children.modeSet(id),
    revive: (id) => this.#revive(id),
    isNeeded: (id) => this.tasks.needs(id),
    stop: (id, isMoved) => this.#end(id, isMoved),
    left: (id) => this.#left(id),
    newId: () => inputId(this.#parts.system),
    completed: (call, error) => withDecision(error, call, this.#parts.tree),
    kept: (id, withinMs) => kept(this.#parts, id, withinMs),
    hasOther: (id, version) => hasOther(this.#parts, id, version)
  }

  /** Returns the chat's process, and starts it if there is none (TROUPE1). */
  #revive(id: string, asked?: AskedAgent): Promise<ChatPid> {
    const underWay = this.#reviving.get(id)
    if (underWay !== undefined) return underWay
    return this.#found(id, () => this.#find(id, asked))
  }

  /** Runs `work` while no process of the chat is started. If `work` succeeds, a process is started (CONV2). */
  async between(id: string, work: () => Promise<void>): Promise<void> {
    for (let underWay = this.#reviving.get(id); underWay !== undefined; underWay = this.#reviving.get(id)) {
      await underWay.catch(() => undefined)
    }
    const chat = this.held.get(id)?.chat
    await this.#found(id, () => work().then(() => this.#find(id, undefined, chat)))
  }

  #found(id: string, find: () => Promise<ChatPid>): Promise<ChatPid> {
    this.#passivation.hold(id)
    const reviving = this.#slots.during(find).finally(() => this.#reviving.delete(id))
    this.#reviving.set(id, reviving)
    return reviving
  }

  /**
   * Retries when a process of the tree, and so the supervisor of chats, ended meanwhile. No other process of the chat can
   * start between the load and the start: all starts come through here, one at a time per chat.
   */
  async #find(id: string, asked?: AskedAgent, chat = this.held.get(id)?.chat): Promise<ChatPid> {
    const { tree, agents } = this.#parts
    await outsideTurn()
    for (;;) {
      const alive = tree.whereis(id)
      if (alive !== undefined) return alive
      const chats = await this.#children.supervisor(id)
      const living = this.held.get(id)
      if (living === undefined) throw chat?.gone ?? chatStopped(id)
      this.#checkHome(living.chat)
      try {
        const record = await this.load(id)
        await otherTasks(record)
        checkRecord(id, record)
        checkAgents(agents, record, asked)
        await otherTasks(record)
        let loaded: { readonly record: Conversation | undefined } | undefined = { record }
        return await this.#children.supervisors.start(id, chats, (parent) => {
          const first = loaded
          loaded = undefined
          return first === undefined ? this.#startAgain(id) : this.#start(parent, id, first.record, asked)
        })
      } catch (error) {
        if (error instanceof OtpError.StartIgnored || !this.#children.isUp(id, chats)) continue
        throw error instanceof OtpError.StartFailed ? error.reason : error
      }
    }
  }

  /** HOME1 */
  #checkHome(chat: LiveChat): void {
    const { home } = this.#parts
    if (home === undefined || isSame(home.fenceOf(chat.id), chat.fence)) return
    ignoreRejection(chat.leave())
    throw chatMoved(chat.id)
  }

  /**
   * Called when the supervisor restarts a crashed chat: starts it through the directory (TROUPE4). When the start fails,
   * its waiting turns fail, and the next request tries again. A start under way may be the one that crashed, so it finishes
   * first.
   */
  #startAgain(id: string): "ignore" {
    const again = (): void => void this.#revive(id).catch(() => {})
    const underWay = this.#reviving.get(id)
    if (underWay === undefined) again()
    else underWay.then(again, again)
    return "ignore"
  }

  #start(parent: Pid, id: string, record: Conversation | undefined, asked: AskedAgent | undefined): ChatPid | "ignore" {
    const { tree, agents, system, suspension, inspect } = this.#parts
    const { chat, blobs } = this.held.get(id) ?? {}
    if (chat === undefined || tree.whereis(id) !== undefined) return "ignore"
    // The tree is restarting, and this supervisor with it: a process started here would be ended at once.
    if (!this.#children.isUp(id, parent)) return "ignore"
    this.#children.began(id)
    const recalled = chat.recall(record)
    const agent = agentOf(agents, { record: recalled, before: chat.context?.record.agent, asked })
    const { engine } = agents.of(recalled?.open?.agent ?? agent?.name)
    const parts = { ...this.#parts, engine, tasks: this.tasks, children: this.#children, blobs }
    const life = new ChatLife(chat, parts, record, recalled)
    const env = new ChatEnv(life)
    const isChild = isChildId(id)
    const pid = StateMachine.startLink(parent, chatMachine, {
      input: chatStart({
        id,
        engine,
        clock: system.clock,
        record: isChild && recalled !== undefined ? withoutLimit(recalled) : recalled,
        cutOff: chat.cutOff(record),
        stores: true,
        agent,
        ...suspension,
        ...(isChild && { suspendedTtlMs: undefined })
      }),
      env,
      ...(inspect !== undefined && { inspect }),
      label: chatLabel(id)
    })
    life.pid = pid
    tree.register(id, pid, parent)
    chat.attached({ pid, env, saves: life })
    this.tasks.attached(id, record, recalled)
    return pid
  }

  #end(id: string, isMoved: boolean): Promise<void> {
    const ended = this.#ended(id, isMoved)
    const over = (): void => void this.#ending.delete(id)
    this.#ending.set(id, ended.then(over, over))
    return ended
  }

  async #ended(id: string, isMoved: boolean): Promise<void> {
    const { tree, draftEveryMs } = this.#parts
    await outsideTurn()
    this.#passivation.forget(id)
    const pid = tree.whereis(id)
    if (pid !== undefined)
      await tree.terminate(pid, (supervisor) => this.#children.supervisors.end(id, supervisor, pid))
    if (isMoved) await this.tasks.drop(id)
    this.#children.released(id)
    if (isMoved && draftEveryMs !== undefined) await tree.ask({ type: "drafted", id }).catch(noDraft)
    this.#left(id)
  }

  /** Forgets the number of a chat's newest entry, after its last draft. */
  #left(id: string): void {
    if (!this.#parts.tree.notify({ left: id })) this.#parts.released(id)
  }

  /** Loads the record of the chat. */
  async load(id: string): Promise<Conversation | undefined> {
    try {
      return await this.#parts.tree.ask({ type: "load", id })
    } catch (cause) {
      // The store refuses the id.
      if (cause instanceof ValidationError) throw cause
      if (cause instanceof SessionError && cause.reason === "troupe_stopped") throw cause
      throw notLoaded(id, cause)
    }
  }
}

/** Gives a chat of which nothing is stored the agent that the caller gives; another chat keeps its own (AGENT3). */
const handOver = async (chat: LiveChat, asked: AskedAgent, load: () => Promise<unknown>): Promise<void> => {
  if (chat.context?.record.agent?.name === asked.name) return
  const isNew = !chat.isBusy && (await load()) === undefined
  if (!isNew) throw otherAgent(chat.id, chat.context?.record.agent, asked)
  await chat.handOff(asked.name)
}

/** The stored record, if the store answers in time. */
const kept = ({ system, tree }: ChatParts, id: string, withinMs: number): ReturnType<ChatHome["kept"]> =>
  new Promise((resolve) => {
    const timer = system.clock.setTimeout(() => resolve(undefined), withinMs)
    const answered = (answer: { readonly record: Conversation | undefined } | undefined) => {
      system.clock.clearTimeout(timer)
      resolve(answer)
    }
    tree.ask({ type: "load", id }).then(
      (record) => answered({ record }),
      () => answered(undefined)
    )
  })

const notLoaded = (id: string, cause: unknown): SessionError => {
  const message = `The chat ${id} could not be loaded: ${describe(cause)}${againAfter(cause)}`
  return new SessionError("store_failed", message, { cause })
}

/** The number of messages that are checked, or begun with, without a pause. */
const fewMessages = 256

/** Lets other tasks run before work on a long thread (TROUPE5). */
const otherTasks = (record: unknown): Promise<void> | undefined =>
  isLong(record) ? new Promise(EventLoop.nextTurn) : undefined

/** Whether a value, which may be no record yet, has a long thread. */
const isLong = (value: unknown): boolean => {
  if (!isRecord(value) || !isRecord(value["thread"])) return false
  const { messages } = value["thread"]
  return Array.isArray(messages) && messages.length > fewMessages
}

/** A store that fails to keep a draft ends no chat (DRAFT2). */
const noDraft = (): undefined => undefined

/** Whether two fences are of one epoch of one home. */
const isSame = (one: Fence | undefined, other: Fence | undefined): boolean =>
  one?.epoch === other?.epoch && one?.key === other?.key

const draftingUnder = (drafting: DraftKeeping | undefined, fence: Fence): DraftKeeping | undefined =>
  drafting && { ...drafting, keep: (draft) => drafting.keep({ ...draft, fence }) }

/** Forgets a chat that the directory no longer holds strongly. */
const releasing =
  ({ released }: ChatParts, children: ChildChats) =>
  (id: string): void => {
    children.released(id)
    released(id)
  }

/** The children of the chats of a directory. */
const childrenOf = (
  { system, tree, agents, home, toolSlots, treeBounds }: ChatParts,
  chats: ChatDirectory
): ChildChats =>
  new ChildChats({
    treeBounds,
    now: () => system.clock.now(),
    chats: () => tree.chats(),
    chatsUp: () => tree.chatsUp,
    called: (id) => chats.called(id),
    living: (id) => {
      const chat = chats.get(id)?.chat
      return chat && new FamilyMember(chat)
    },
    load: (id) => chats.load(id),
    begin: (record) => {
      const { id } = record
      return tree.ask({ type: "append", id, entries: [saved(record)], after: 0, fence: fenceOf(home, id) })
    },
    agentRef: (name) => agents.ref(name),
    hasTasks: (id) => chats.tasks.has(id),
    wake: (...work) => chats.tasks.wake(...work),
    follow: (parent, child, call) => followChild(chats.get(parent)?.chat, chats.get(child)?.chat, call),
    toolSlots
  })

/** The own options of a turn that begins without any. A turn of a sub-agent has none: its call begins it. */
const ownOptionsOf = (all: ChatDirectory["ownOptions"], living: Living | undefined): TurnOptions | undefined =>
  living === undefined || isChildId(living.ref.id) ? undefined : [...all].at(-1)?.(living.ref)

const ofTroupe = new WeakMap<object, ChatDirectory>()

/** Registers the chats of a Troupe for observers. Not part of the public Troupe. */
export const keepsLiving = (troupe: object, chats: ChatDirectory): void => void ofTroupe.set(troupe, chats)

const none: ReadonlyMap<string, Living> = new Map()

/** The chats of a Troupe that have a process or are to have one, by id. */
export const livingChatsOf = (troupe: object): ReadonlyMap<string, Living> => ofTroupe.get(troupe)?.held ?? none

/** The label of a chat's process. */
const chatLabel = (id: string): string => `Chat ${id}`

const labelBegins = chatLabel("").length

/** The id of the chat that has this process, if any. */
export const chatAt = (chats: ReadonlyMap<string, Living>, pid: Pid): string | undefined => {
  const id = pid.label.slice(labelBegins)
  return chats.get(id)?.chat.pid === pid ? id : undefined
}
