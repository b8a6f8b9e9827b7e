/**
 * The live things of one process of a chat, which are no data of its chart.
 *
 * Owns: the live parts of the turns, the journal of the running step, the permission mode, and the requests to set it.
 * Does not own what the chart decides, nor where records are stored.
 *
 * ENV2. A saved record has what only the environment has: the journal of the running step, with the agent that its completed
 *       calls hand over to, and the permission mode.
 * ENV3. When a turn ends, the live things of its steps are released: a chat at rest holds none.
 * JOUR3. Every save of the chat while the step runs includes the current journal.
 */
import { Clock } from "@troupe/otp"
import { BatchLife, type ToolBatchInput } from "../batch/index.ts"
import type {
  ChatContext,
  ChatEvent,
  Closed,
  Expired,
  Judgement,
  Moment,
  RunningReply,
  StepEnded,
  TurnFacts,
  Verdict
} from "./chatContext.ts"
import { inForm, type RunOptions, withCurrentTools } from "../options/index.ts"
import { handedToBy, handedToLast, ServedTurn, type ServesTurns, type Serving } from "../agents/index.ts"
import type { ResponseFormat } from "../model/index.ts"
import type {
  AgentRef,
  Conversation,
  ChatResult,
  InboxEntry,
  Mode,
  ModeStanding,
  StepResult,
  OpenStep
} from "../record/index.ts"
import { dataOf, type Discarded, LiveTurns, type Turn, type TurnData } from "../inbox/index.ts"
import type { PreflightError, SessionError } from "../errors/index.ts"
import { emit } from "../events/index.ts"
import { has, type LifecycleEvent, PermissionMode, type Permissions, type RequestParams } from "../gate/index.ts"
import { held, type Held, original, json } from "../values/index.ts"
import {
  chainSpent,
  finalizeOf,
  passOptions,
  type Standing,
  terminalCondition,
  turnSpent,
  closed,
  type Compacting,
  type CompactionOpening,
  Compactions,
  type CompactionStep,
  Journal,
  withJournal,
  leftOut,
  type Opened,
  openToolCalls,
  resultsSince,
  type StepLive,
  StepRun,
  type StepWatcher
} from "../step/index.ts"
import type { MemoryChange } from "../compaction/index.ts"
import type { Engine } from "../tool/index.ts"
import { lastEvents } from "./endTurn.ts"
import { type WaitEnd, waitEnded } from "./suspensionExpiry.ts"
import type { RequestEnv, RunnableRequest } from "../request/index.ts"
import { ignoreRejection } from "../async/index.ts"
import type { DueHooks } from "./lifecycleHooks.ts"
import { notifyHooks } from "./runLifecycleHooks.ts"
import type { SaveRecord } from "../store/index.ts"

/**
 * What an environment is made of.
 *
 * - `commit` saves a record; `accept` stores an input that waits, if the store does not have it
 * - `optionsOf` returns the options of a turn for requests of another agent; without it there are no agents. `serving` returns the engine and the options of an agent
 * - `turn` makes the live part of a turn that was not added: of a turn in plain data, or after a restart
 * - `typing` is called when a step begins, with a function that shows its reply and its calls in the chart's context. It
 *   returns a function that is called when the step is over
 */
export interface ChatParts extends ServesTurns<Turn> {
  readonly engine: Engine
  readonly clock?: Clock.Clock | undefined
  readonly commit?: SaveRecord | undefined
  readonly accept?: ((input: InboxEntry) => Promise<unknown>) | undefined
  readonly watcher?: StepWatcher | undefined
  readonly turn?: ((id: string) => Turn) | undefined
  readonly serving?: ((agent: string | undefined) => Serving) | undefined
  readonly typing?: ((shows: (reply: RunningReply) => void) => () => void) | undefined
}

/** A request of the host or a client, whose caller waits. */
export interface Ask {
  /** Gets the promise of the save, if there is one now. */
  readonly counts: (kept: void | Promise<void>) => void
  /** Called in place of `counts` when what was requested is not possible. */
  readonly refuses?: (() => void) | undefined
}

/** A request to set the mode; exactly one of the functions is called, once. */
export interface ModeAsk extends Ask {
  /** The loosest mode that a client may set, and the permissions of the chat's options; absent for the host. */
  readonly bound?: { readonly within: Mode | "host"; readonly permissions: Permissions | undefined } | undefined
  readonly refused: (bound: Mode) => void
}

/** The data of a step in one of its phases. */
export interface StepOpening extends CompactionOpening {
  readonly turn: string
  /** The name of the agent of the request; `undefined` without agents. */
  readonly agent?: string | undefined
  readonly isSecond: boolean
  /** The form that the question asks for. */
  readonly asked?: ResponseFormat | undefined
  readonly params: RequestParams | undefined
  readonly standing: ModeStanding | undefined
}

/** A turn that begins, and what its chain used before. */
export interface TurnBegin
  extends Pick<StepOpening, "turn" | "agent">, Pick<Conversation, "chain">, Pick<ChatContext, "until"> {}

/** A step that ends, with the steps of its turn before it. */
export interface StepFinish
  extends StepOpening, Pick<Conversation, "chain">, Pick<ChatContext, "steps" | "stopped" | "until"> {
  /** The name of the agent of the next request, unless a call hands over. */
  readonly next: string | undefined
  /** How many steps the first pass had, in the second. */
  readonly firstSteps: number | undefined
}

/** A record, and the ids of the waiting inputs that it has in its thread. */
export interface Saving {
  readonly record: Conversation
  readonly takes?: ReadonlyArray<string>
  /** What its turn changes of the memories; absent before the end of a turn. */
  readonly changes?: ReadonlyArray<MemoryChange> | undefined
}

/** Asks the stop conditions about a step that ended, for a turn that is to stop or not. Throws what they throw. */
export type StepEnd = (stopped: StepFinish["stopped"]) => Omit<StepEnded, "type" | keyof Moment>

export interface TurnEnd {
  readonly turn: string
  readonly result: Held<ChatResult> | undefined
  readonly refusal: Held<PreflightError> | undefined
  readonly failure: Held<SessionError> | undefined
}

/** The events of a turn that can have hooks. */
export const lifecycleEvents: ReadonlyArray<LifecycleEvent> = [
  "SessionStart",
  "UserPromptSubmit",
  "PreIteration",
  "ChatParams",
  "Stop",
  "StopFailure",
  "SessionEnd"
]

export class ChatEnv extends BatchLife implements RequestEnv {
  readonly clock: Clock.Clock
  readonly engine: Engine
  readonly #parts: ChatParts
  readonly turns: LiveTurns
  #asks: Map<number, Ask> | undefined
  /** The step that runs (ENV3). */
  #step: StepRun | undefined
  #count = 0
  compactions: Compactions | undefined
  /** The options of the running turn for other agents, if it has some. */
  #served: ServedTurn<Turn> | undefined
  #mode: PermissionMode | undefined
  #journal: Journal | undefined
  /** Without a chat, a step runs in a turn of its own. */
  #opening: Pick<StepOpening, "turn" | "agent"> = noOpening

  constructor(parts: ChatParts) {
    super()
    this.#parts = parts
    this.turns = new LiveTurns(parts)
    this.engine = parts.engine
    this.clock = parts.clock ?? Clock.live
  }

  /** Whether there is a store. */
  get stores(): boolean {
    return this.#parts.commit !== undefined
  }

  /** The notes on the calls of the last step, until they are stored. */
  get journal(): Journal | undefined {
    return this.#journal
  }

  /** The permission mode of calls, once it was used. */
  get standing(): ModeStanding | undefined {
    return this.#mode?.standing
  }

  /** Adds the live part of a turn, and returns the turn as the chart holds it. */
  add(turn: Turn): TurnData {
    const data = dataOf(turn, `turn ${(this.#count += 1)}`)
    this.turns.set(data.id, turn)
    return data
  }

  /** Adds a turn, and returns the event that starts it. */
  start(turn: Turn): Extract<ChatEvent, { readonly type: "turn.start" }> {
    return { type: "turn.start", turn: this.add(turn), now: Math.floor(this.clock.now()) }
  }

  /** The live part of a turn. */
  turn(id: string): Turn {
    return this.turns.all.get(id) ?? this.turns.made(id)
  }

  /** The live part of a turn, if it was added or made. */
  find(id: string | undefined): Turn | undefined {
    return id === undefined ? undefined : this.turns.all.get(id)
  }

  /** The time in whole milliseconds, and whether the signal of the turn is aborted. */
  moment(turn?: string): Moment {
    const aborted = this.find(turn)?.options.signal?.aborted === true
    return { now: Math.floor(this.clock.now()), ...(aborted && { aborted }) }
  }

  /** Begins a turn. */
  begin(begins: TurnBegin): Pick<Extract<ChatEvent, { readonly type: "turn.begun" }>, "facts" | "spent"> {
    const { turn, agent, chain, until } = begins
    const { outlet } = this.turn(turn)
    this.#served = agent === undefined ? undefined : new ServedTurn(this.#parts, agent)
    const options = this.#optionsOf({ turn, agent })
    outlet.begin()
    if (until !== "step") options.trace?.chatBegan()
    this.#journal = undefined
    this.compactions?.drop()
    const spent = chain === undefined ? options.family?.chainBegan(turn) : chainSpent(options, chain)
    return { facts: factsOf(options, this.stores), ...(spent !== undefined && { spent: held(spent) }) }
  }

  /** Prepares a phase of a step; returns a function to call at the end of the phase, if one is needed. */
  open(opening: StepOpening, send: (event: ChatEvent) => void): (() => void) | undefined {
    const { open, step } = opening
    const isRequest = open === undefined && step === undefined
    const options = isRequest ? this.#optionsOf(opening) : undefined
    const isDue = options?.compaction?.isDue(opening, options) === true
    if (isDue && (this.compactions ??= new Compactions()).delays(opening)) return undefined
    this.#stepOf(opening)
    if (options !== undefined) options.family?.sends()
    else if (this.stores) this.#journal ??= new Journal(() => send({ type: "journal.due" }))
    return this.#parts.typing?.((reply) => send({ type: "reply.grew", ...reply }))
  }

  request(): RunnableRequest {
    return this.compactions?.request ?? this.#running.request
  }

  /** Compacts the thread of a turn, up to its next request for a summary. */
  compact(opening: StepOpening, send: (event: CompactionStep) => void): void {
    ;(this.compactions ??= new Compactions()).compact(opening, this.#live(opening), send)
  }

  batch(): ToolBatchInput {
    return this.#running.batch(this.#journal)
  }

  /** The request of the running step could not be opened. */
  refused(error: PreflightError): void {
    this.#step?.refused(error)
    this.#step = undefined
  }

  /** Emits the last events of a step. `ended` is called when they are read. */
  finish(finish: StepFinish, ended: (end: StepEnd) => void): void {
    const { turn, until, steps, step } = finish
    const { result: taken, open, events } = this.#stepOf(finish).finish(step?.ending ?? { type: "answered" })
    const result = this.compactions === undefined ? taken : this.compactions.added(taken)
    emit(this.turn(turn).outlet, events, () =>
      ended((stopped) => {
        this.#step = undefined
        const judgement =
          until === "step" ? { mayContinue: false } : this.#judge(finish, [...steps.map(original), result], stopped)
        return { result: held(result), open, standing: this.standing, ...judgement }
      })
    )
  }

  get #running(): StepRun {
    if (this.#step === undefined) throw new Error("a phase of a step runs without a step")
    return this.#step
  }

  /** The running step; it begins, or after a restore it is made from its data. */
  #stepOf(opening: StepOpening): StepRun {
    if (opening.step !== undefined && this.#step !== undefined) return this.#step
    this.#opening = opening
    this.#journal = undefined
    return (this.#step = new StepRun(this.#live(opening), opening))
  }

  /** The live things of a step. */
  #live(opening: StepOpening): StepLive {
    const { outlet } = this.turn(opening.turn)
    return {
      ...optionsIn(opening, this.#optionsOf(opening)),
      outlet,
      watcher: this.#parts.watcher,
      permissionMode: (this.#mode ??= new PermissionMode(opening.standing))
    }
  }

  /** Asks the stop conditions about the last of the steps of a turn. */
  #judge(
    { turn, next: agent, chain, firstSteps }: StepFinish,
    results: ReadonlyArray<StepResult>,
    stopped: Standing["stopped"]
  ): Judgement {
    this.#journal?.close()
    const result = results.at(-1)
    if (result === undefined) return { mayContinue: false }
    const target = this.#handedTo((tools) => handedToBy(result, tools))
    const options = this.#optionsOf({ turn, agent: target?.name ?? agent })
    const { timeMs, adapter } = factsOf(options, this.stores)
    const handoff = target === undefined ? undefined : { agent: target, timeMs, adapter }
    const isAborted = options.signal?.aborted === true
    const standing = { stopped: isAborted ? ("cancelled" as const) : stopped, steps: results, chain }
    const index = results.length - 1 - (firstSteps ?? 0)
    const pass = passOptions(options, firstSteps !== undefined)
    const terminal = terminalCondition(result, index, pass, standing) ?? options.family?.overspent(result.childUsage)
    const former = options.family?.takeFormer()
    if (terminal === undefined) return { mayContinue: true, handoff, former }
    const spent = turnSpent(options, chain, results)
    const mayContinue = results.length + (chain?.requests ?? 0) < options.maxTurns && spent === undefined
    return { terminal: held(terminal), spent: spent && held(spent), mayContinue, handoff, former }
  }

  /** The state after the open calls of a turn that is to stop got their results; they do not run. */
  close(turn: string, { open, ...state }: Closed & { readonly open: OpenStep }): Closed {
    const { options } = this.turn(turn)
    return closed({ ...state, open }, (toolCall, call) => leftOut(toolCall, call, "cancelled", options).message)
  }

  /** The state after the wait has expired, or a person has ended it. */
  expire(state: WaitEnd): Expired {
    return waitEnded(state, { toolResultEncoder: this.engine.toolResultEncoder ?? json }, Math.floor(this.clock.now()))
  }

  /** Calls hooks. */
  notify(due: DueHooks, signal: AbortSignal): Promise<Verdict> {
    const options = this.#optionsOf(due)
    const stops = due.due === "report" && options.signal?.aborted === true
    return notifyHooks(stops ? { ...due, stopping: true } : due, options, signal)
  }

  /** Saves a record (ENV2). */
  save(saving: Saving, isGivenUp?: () => boolean): void | Promise<void> {
    return this.#parts.commit?.(this.#complete(saving), saving.takes, saving.changes, isGivenUp)
  }

  /** Saves the record of a running step, if its journal is to be stored. */
  saveJournal(saving: Saving): void {
    const journal = this.#journal
    if (journal?.isDue === true) journal.save(() => this.save(saving))
  }

  /**
   * Saves a record that no caller waits for. If the store fails, its record stays as before, and the next start computes
   * the same.
   */
  keep(saving: Saving): void {
    unheeded(() => this.save(saving))
  }

  /** A commit has succeeded: the store has the outcomes in the journal. */
  stored(): void {
    this.#journal = undefined
  }

  /** Removes withdrawn turns, and the rows of the inputs among them, which `saving` names. */
  discard(inputs: ReadonlyArray<Discarded>, saving: Saving): void {
    const kept = saving.takes?.length === 0 ? undefined : this.save(saving)
    for (const { id, ask } of inputs) {
      this.turns.delete(id)
      answer(takenOf(this.#asks, ask), kept)
    }
  }

  /** Adds a request, for the event `mode.set`, `agent.set` or `input.withdraw`. */
  ask(ask: Ask | ModeAsk): number {
    this.#asks ??= new Map()
    this.#asks.set((this.#count += 1), ask)
    return this.#count
  }

  /** Sets the mode, which is in effect at once. `saving` is the record of a chat at rest, which stores it now. */
  setMode(mode: Mode, ask: number | undefined, standing: ModeStanding | undefined, saving: Saving | undefined): void {
    const asked = takenOf(this.#asks, ask) as ModeAsk | undefined
    const keeper = (this.#mode ??= new PermissionMode(standing))
    if (asked?.bound === undefined) keeper.set(mode)
    else {
      const { within, permissions } = asked.bound
      const refusal = keeper.setWithin(mode, within, permissions)
      if (refusal !== undefined) return asked.refused(refusal)
    }
    const kept = saving === undefined ? undefined : this.save(saving)
    answer(asked, kept)
  }

  /** Something that was requested counts, or is refused; `saving` is the record that stores it now. */
  keepAsked(ask: number | undefined, saving: Saving | "refused" | undefined): void {
    answer(takenOf(this.#asks, ask), typeof saving === "object" ? this.save(saving) : saving)
  }

  /** Emits the last events of a turn; calls `taken` when the reader has read past them. */
  complete(end: TurnEnd, taken: () => void): void {
    emit(this.turn(end.turn).outlet, lastEvents(end), taken)
  }

  /** Ends a turn. */
  end(turn: string, result: Held<ChatResult> | undefined): void {
    const { options, outlet, delivery } = this.turn(turn)
    if (result !== undefined) options.trace?.chatEnded(original(result))
    outlet.close()
    if (delivery?.status !== "pending") this.turns.delete(turn)
    this.#step = undefined
    this.#opening = noOpening
    this.#served = undefined
  }

  /** The engine and the options of an agent; `undefined` without agents. */
  serving(agent: string | undefined): Serving | undefined {
    return agent === undefined ? undefined : this.#parts.serving?.(agent)
  }

  /** The options of the turn for requests of this agent. */
  #optionsOf({ turn: id, agent }: Pick<StepOpening, "turn" | "agent">): RunOptions {
    const turn = this.turn(id)
    if (agent === turn.options.agent) return withCurrentTools(turn.options)
    this.#served ??= new ServedTurn(this.#parts, undefined)
    return withCurrentTools(this.#served.options(turn, agent))
  }

  /** The agent that the completed calls of the running step hand over to. */
  #handedTo(find: (toolsByName: RunOptions["toolsByName"]) => AgentRef | undefined): AgentRef | undefined {
    return this.#opening.agent === undefined ? undefined : find(this.#optionsOf(this.#opening).toolsByName)
  }

  /** The agent that the calls of an open step hand over to which are done since `before`; that of the record if none does. */
  agentIn(opened: Opened, agent: AgentRef | undefined, before: OpenStep | undefined): AgentRef | undefined {
    const handedTo = this.#handedTo((tools) => handedToLast(openToolCalls(opened), resultsSince(opened, before), tools))
    return handedTo ?? agent
  }

  #complete({ record }: Saving): Conversation {
    const permissionMode = this.#mode === undefined ? record.permissionMode : this.#mode.standing
    const now = this.#journal?.journalled
    if (now === undefined) return { ...record, permissionMode }
    return { ...withJournal(record, now, this.agentIn(now, record.agent, record.open)), permissionMode }
  }
}

/** The engine and the options of a step, from those of its turn. */
const optionsIn = (
  { isSecond, asked, params }: StepOpening,
  options: RunOptions
): Pick<StepLive, "engine" | "options"> => {
  const pass = passOptions(inForm(options, asked), isSecond)
  return { engine: options.engine, options: params === undefined ? pass : { ...pass, ...params } }
}

/** Calls a function whose failure changes nothing. */
const unheeded = (call: () => void | Promise<void>): void => {
  try {
    ignoreRejection(call())
  } catch {
    return
  }
}

/** Removes a request and returns it. */
const takenOf = (asks: Map<number, Ask> | undefined, ask = 0): Ask | undefined => {
  const asked = asks?.get(ask)
  asks?.delete(ask)
  return asked
}

/** Answers a request, if somebody waits for it. */
const answer = (asked: Ask | undefined, kept: void | Promise<void> | "refused"): void =>
  kept === "refused" ? asked?.refuses?.() : (asked?.counts ?? ignoreRejection)(kept)

const noOpening: Pick<StepOpening, "turn" | "agent"> = { turn: "" }

const noHooks: TurnFacts["hooks"] = []

const notCompacted: Compacting = Object.freeze({})

const factsOf = (options: RunOptions, stores: boolean): TurnFacts => {
  const { drainMs, budget, maxChainRequests, hooks, engine } = options
  return {
    adapter: engine.adapter?.name,
    drainMs,
    timeMs: budget?.timeMs,
    maxChainRequests,
    hooks: hooks === undefined ? noHooks : lifecycleEvents.filter((event) => has(hooks, event)),
    finalize: finalizeOf(options),
    stores,
    compacting: options.compaction === undefined ? undefined : notCompacted
  }
}
