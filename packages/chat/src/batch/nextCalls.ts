/**
 * Which calls of a reply start next, which of them never start, and what each reads and writes.
 *
 * `next` is pure. `CallMoves` makes its moves each time that a call has changed. It owns why no further call starts, and does not own
 * the calls.
 *
 * Two calls conflict when at least one of them writes, and they have the same key or at least one has no key: a call
 * without a key may touch everything. A call that is over, or waits for an answer, conflicts with no other call.
 *
 * SCHED1. Under `effects` a call may start as soon as every earlier call that it conflicts with has ended. Of the calls
 *         that may start, the first in call order start. A call that has begun, or is over, never starts.
 * SCHED2. Under `reference` all calls except reads run first, one after another in call order; then all reads may start.
 * SCHED3. Under `concurrent` every call may start at once.
 * SCHED7. At most `limit` calls have a place: those that are starting, run, or are followed by their hooks. A call that was
 *         skipped while it was starting keeps its place until its owner clears its mark.
 * SCHED8. A halt cancels no running call. Under `effects` it skips the later calls that have not begun, under `reference`
 *         all calls that have not begun, under `concurrent` none. A question skips no call. After a stop, every call that
 *         has not begun is skipped; after a cancel, also each call whose sub-agent waits. Of several halts the first in
 *         call order counts, or under `observed` the first in time.
 */
import type { HaltOrder, Schedule } from "../options/index.ts"
import type { OpenCall } from "../record/index.ts"
import { closestName, quoted, ToolError, type ToolErrorReason } from "../errors/index.ts"
import { toolFailure } from "../call/index.ts"
import type * as HandlerResult from "../values/HandlerResult.ts"
import type { ToolCall } from "../model/index.ts"
import { ignoreRejection, isPromiseLike } from "../async/index.ts"
import { copied } from "../json/index.ts"
import type { ParsedArguments, Tool } from "../tool/index.ts"
import { describe } from "../values/index.ts"

/** The effect of a call, and the key of the resource that it touches; without a key it may touch any resource. */
export interface Access {
  readonly effect: "read" | "write"
  readonly key?: string | undefined
}

/**
 * What a call does at present, beside its state in the record.
 *
 * - `gating`: the gate judges it
 * - `starting`: it has its place, and its intent is being stored
 * - `running`, `cancelling`, `restarting`: its handler runs; in the last two the handler was aborted
 * - `following`: its handler has ended, and the hooks after it run
 * - `asking`: its sub-agent waits for a person
 */
export type CallMark = "gating" | "starting" | "running" | "cancelling" | "restarting" | "following" | "asking"

/** A call as the order of calls sees it. */
export interface OrderedCall {
  readonly state: OpenCall["state"]
  readonly mark: CallMark | undefined
  /** How a call that is over ends the turn. */
  readonly halts?: "halt" | "question" | undefined
}

/** What the order depends on, beside the calls and their accesses. */
export interface OrderRules {
  readonly schedule: Schedule
  /** How many calls have a place at once. */
  readonly limit: number
  /** The end of calls that have not begun, when no further call starts. */
  readonly stopped?: "cancelled" | "not_started" | undefined
}

/** The next moves: the calls that start, those that end without a run, and whether every call is over or waits. */
export interface Moves {
  readonly starts: ReadonlyArray<number>
  readonly skips: ReadonlyArray<number>
  readonly isOver: boolean
}

/** How many calls have a place at once, unless an option sets it: 4 as in the reference, else two for each processor. */
export const defaultLimit = (schedule: Schedule): number =>
  schedule === "reference" ? 4 : 2 * (globalThis.navigator?.hardwareConcurrency ?? 4)

const isQueued = ({ state, mark }: OrderedCall): boolean =>
  (state === "new" || state === "decided") && (mark === undefined || mark === "gating")

const hasPlace = ({ mark }: OrderedCall): boolean => mark !== undefined && mark !== "gating" && mark !== "asking"

/** Whether other calls wait for this one. */
const isActive = (call: OrderedCall): boolean =>
  call.state !== "done" && call.state !== "waiting" && (hasPlace(call) || isQueued(call))

/** Whether the sub-agent of a call waits. */
const isAsking = ({ state, mark }: OrderedCall): boolean => state === "waiting" && mark === "asking"

/** Whether a call can still be skipped. */
const isUnbegun = (call: OrderedCall): boolean =>
  isQueued(call) || (call.state !== "done" && call.mark === "starting") || (call.state === "waiting" && !isAsking(call))

/**
 * The next moves. `accesses` are those of the calls by position; a call without one conflicts with no other call.
 *
 * **Details**: one pass over the calls. A skipped call is over at once for the calls behind it.
 */
export const next = (
  calls: ReadonlyArray<OrderedCall>,
  accesses: ReadonlyArray<Access | undefined>,
  { schedule, limit, stopped }: OrderRules
): Moves => {
  const starts: Array<number> = []
  const earlier = new Earlier(calls, accesses, schedule)
  let places = limit
  let halts = false
  /** Whether a call that is not over has no access. */
  let isLoose = false
  for (let index = 0; index < calls.length; index++) {
    const call = calls[index] as OrderedCall
    if (hasPlace(call)) places--
    if (call.halts === "halt") halts = true
    else if (accesses[index] === undefined && call.state !== "done") isLoose = true
  }
  const skips: Array<number> = []
  const maySkip = halts || stopped !== undefined
  let isHalted = halts && schedule === "reference"
  let isOver = true
  for (let index = 0; index < calls.length; index++) {
    const call = calls[index] as OrderedCall
    if (call.state === "done") isHalted ||= schedule === "effects" && call.halts === "halt"
    else if (maySkip && isSkipped(call, isHalted, stopped)) skips.push(index)
    else if (isActive(call)) {
      isOver = false
      const access = accesses[index]
      if (places > 0 && isQueued(call) && !earlier.blocks(access)) {
        starts.push(index)
        places--
      }
      earlier.add(access)
      // Of the calls behind this one, none starts, and none is skipped.
      if (!maySkip && (places <= 0 || (earlier.isBarrier && !isLoose))) break
    }
  }
  return { starts, skips, isOver }
}

const isSkipped = (call: OrderedCall, isHalted: boolean, stopped: OrderRules["stopped"]): boolean =>
  ((isHalted || stopped !== undefined) && isUnbegun(call)) || (stopped === "cancelled" && isAsking(call))

/** What the earlier calls that are not over may touch. */
class Earlier {
  readonly #schedule: Schedule
  /** Under `reference`: whether a call that writes is not over, wherever it is. */
  readonly #writes: boolean
  #any = false
  #write = false
  #read = false
  #keys: Set<string> | undefined
  #written: Set<string> | undefined

  constructor(calls: ReadonlyArray<OrderedCall>, accesses: ReadonlyArray<Access | undefined>, schedule: Schedule) {
    this.#schedule = schedule
    this.#writes =
      schedule === "reference" && calls.some((call, index) => accesses[index]?.effect === "write" && isActive(call))
  }

  /** Whether every call with an access waits. */
  get isBarrier(): boolean {
    return this.#write && this.#schedule === "effects"
  }

  /** Whether a call with this access waits for an earlier call. */
  blocks(access: Access | undefined): boolean {
    if (access === undefined || this.#schedule === "concurrent") return false
    const { effect, key } = access
    if (this.#schedule === "reference") return effect === "read" ? this.#writes : this.#written !== undefined
    if (this.#write) return true
    if (effect === "read") return key === undefined ? this.#written !== undefined : this.#written?.has(key) === true
    return key === undefined ? this.#any : this.#read || this.#keys?.has(key) === true
  }

  add(access: Access | undefined): void {
    if (access === undefined || this.#write) return
    const { effect, key } = access
    this.#any = true
    if (effect === "write") (this.#written ??= new Set()).add(key ?? "")
    if (key !== undefined) (this.#keys ??= new Set()).add(key)
    else if (effect === "write") this.#write = true
    else this.#read = true
  }
}

/** The positions of halting calls, the one that counts first (SCHED8); `halts` are they in the order of their ends. */
export const inHaltOrder = (halts: ReadonlyArray<number>, haltOrder: HaltOrder | undefined): ReadonlyArray<number> =>
  haltOrder === "observed" ? halts : halts.toSorted((one, other) => one - other)

/** What the moves do to calls. Each function can change further calls before it returns. */
export interface MovesOwner<Call> {
  /** Starts a call; `false` if it got no slot, so that no further call starts now. */
  readonly start: (call: Call) => boolean
  /** The call never begins. */
  readonly skip: (call: Call, ended: "cancelled" | "not_started") => void
  /** No call may start now. */
  readonly rest?: (() => void) | undefined
  /** Every call is over or waits. */
  readonly over: () => void
}

/** The moves of a batch. No call starts before `begin`, nor after `stop`. */
export class CallMoves<Call extends OrderedCall> {
  readonly #calls: ReadonlyArray<Call>
  readonly #rules: Pick<OrderRules, "schedule" | "limit">
  readonly #owner: MovesOwner<Call>
  #accesses: ReadonlyArray<Access | undefined> | undefined
  #stopped: OrderRules["stopped"]
  #isMoving = false
  /** Whether a call has changed since the last look for moves. */
  #isStale = false

  constructor(calls: ReadonlyArray<Call>, rules: Pick<OrderRules, "schedule" | "limit">, owner: MovesOwner<Call>) {
    this.#calls = calls
    this.#rules = rules
    this.#owner = owner
  }

  /** Why no further call starts. */
  get stopped(): OrderRules["stopped"] {
    return this.#stopped
  }

  /** Calls may start. A call without an access conflicts with no other call. */
  begin(accesses: ReadonlyArray<Access | undefined>): void {
    this.#accesses = accesses
    this.proceed()
  }

  /** Keeps calls from starting; a cancel comes before any other reason. */
  stop(ended: "cancelled" | "not_started"): void {
    if (this.#stopped !== "cancelled") this.#stopped = ended
  }

  /** A call has changed: makes the next moves, until no call changes any more. */
  proceed(): void {
    this.#isStale = true
    if (this.#isMoving) return
    this.#isMoving = true
    while (this.#isStale) {
      this.#isStale = false
      this.#move()
    }
    this.#isMoving = false
  }

  #move(): void {
    const { schedule, limit } = this.#rules
    const stopped = this.#stopped
    const rules = { schedule, limit: this.#accesses === undefined ? 0 : limit, stopped }
    const { starts, skips, isOver } = next(this.#calls, this.#accesses ?? none, rules)
    for (const index of skips) this.#owner.skip(this.#calls[index] as Call, stopped ?? "not_started")
    for (const index of starts) {
      if (!this.#owner.start(this.#calls[index] as Call) || this.#isStale) return
    }
    if (starts.length === 0) this.#owner.rest?.()
    if (isOver) this.#owner.over()
  }
}

const none: ReadonlyArray<undefined> = []

/** What the accesses of calls depend on. */
interface AccessRules {
  readonly tools: ReadonlyMap<string, Tool>
  readonly schedule: Schedule
  /** Whether a call will not run, by its position. Such a call has no access, and its tool's `key` is not called. */
  readonly isOver: (index: number) => boolean
  /** The access of a call of an unknown tool. */
  readonly unknown: Access | undefined
}

/** The accesses of calls, by position, and the errors of calls whose key failed. Such a call must not run. */
export interface CallAccesses {
  readonly accesses: ReadonlyArray<Access | undefined>
  readonly faults: ReadonlyMap<number, ToolError>
}

/** The accesses of these calls. Under `concurrent` no call has one, and under `reference` no call has a key. */
export const accessesOf = (calls: ReadonlyArray<ToolCall>, rules: AccessRules): CallAccesses => {
  const { tools, schedule, isOver, unknown } = rules
  if (schedule === "concurrent") return { accesses: [], faults: noFaults }
  const faults = new Map<number, ToolError>()
  const accesses = calls.map((toolCall, index): Access | undefined => {
    if (isOver(index)) return undefined
    const tool = tools.get(toolCall.name)
    if (tool === undefined) return unknown
    if (schedule === "reference" || tool.key === undefined) return { effect: effectOf(tool) }
    const key = keyOf(tool, toolCall)
    if (!(key instanceof ToolError)) return { effect: effectOf(tool), key }
    faults.set(index, key)
    return undefined
  })
  return { accesses, faults }
}

const noFaults: CallAccesses["faults"] = new Map()

/** A call that only begins a background task changes nothing. */
const effectOf = ({ effect, background }: Tool): Tool["effect"] => (background?.afterMs === 0 ? "read" : effect)

/**
 * The key of a call, or the error of the `key` function.
 *
 * `key` is called only with arguments that fit the schema. When they do not fit, or the schema checks them
 * asynchronously, the call has no key, and its execution reports the invalid arguments.
 */
const keyOf = ({ name, parse, key }: Tool, toolCall: ToolCall): string | undefined | ToolError => {
  const { arguments: args } = toolCall
  const parsed = args === null || key === undefined ? undefined : parsedNow(parse, args)
  if (parsed === undefined) return undefined
  let found: unknown
  try {
    found = key?.(parsed)
  } catch (thrown) {
    return keyError(toolCall, "handler_raised", `the key of ${name} raised: ${describe(thrown)}`, thrown)
  }
  if (found === undefined || typeof found === "string") return found
  ignoreRejection(found)
  const message = `the key of ${name} is ${describe(found)}; return text, or undefined for none`
  return keyError(toolCall, "invalid_return", message, found)
}

const keyError = ({ id, name }: ToolCall, reason: ToolErrorReason, message: string, cause: unknown): ToolError =>
  new ToolError(reason, { message, toolName: name, toolCallId: id, ...(cause !== undefined && { cause }) })

/** The arguments as the tool's schema parses them; `undefined` if they do not fit or the schema is asynchronous. */
const parsedNow = (parse: Tool["parse"], args: Record<string, unknown>): Record<string, unknown> | undefined => {
  let parsed: ParsedArguments | PromiseLike<ParsedArguments>
  try {
    parsed = parse(copied(args))
  } catch {
    return undefined
  }
  if (isPromiseLike(parsed)) {
    ignoreRejection(parsed)
    return undefined
  }
  return parsed.valid ? parsed.arguments : undefined
}

/** The failure of an unknown tool; its text lists the tools and suggests the closest name. */
export const notFound = (toolCall: ToolCall, tools: ReadonlyMap<string, Tool>): HandlerResult.Failed => {
  const meant = closestName(toolCall.name, tools.keys())
  const known = tools.size === 0 ? "there are no tools" : `the tools are ${[...tools.keys()].join(", ")}`
  const hint = meant === undefined ? "" : `; did you mean ${meant}?`
  return toolFailure(toolCall, "not_found", `there is no tool ${quoted(toolCall.name)}; ${known}${hint}`)
}
