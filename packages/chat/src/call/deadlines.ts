/**
 * The deadlines of one run of a handler.
 *
 * Owns: their timers, on the system's clock. Does not own the reaction to a passed deadline.
 *
 * CALL2. The deadlines count from the start of the run, not from the queue. The handler cannot extend them; progress defers only
 *        the idle deadline.
 * DEADLINE1. The total deadline counts from the start, the idle deadline from the start or the last `touch`. Each fires
 *            at most once. After `clear` there is no timer.
 * DEADLINE2. Without an idle deadline `touch` returns at once. Progress sets no timer: the one idle timer reads the clock
 *            again when it fires.
 * DEADLINE4. While a person is asked there is no timer; after the answer both deadlines restart from zero.
 * DEADLINE5. `missed` compares the clock with the deadlines, so it is correct before a late timer has run. Progress after
 *            the idle deadline does not defer that deadline.
 */
import type { Clock } from "@troupe/otp"
import { isMilliseconds, ToolError } from "../errors/index.ts"
import type { ToolCall } from "../model/index.ts"
import { ignoreRejection } from "../async/index.ts"
import { copied } from "../json/index.ts"
import type { CallTimeout } from "../options/index.ts"
import type { Tool } from "../tool/index.ts"
import { describe } from "../values/index.ts"

/** The most time that a call may take, and that it may take without progress, in milliseconds. */
export interface Limits {
  readonly totalMs: number
  readonly idleMs: number
}

/** The parts of a call that set its limits. */
export interface LimitedCall {
  readonly tool: Tool
  readonly toolCall: ToolCall
  readonly options: {
    readonly toolTimeoutMs: CallTimeout
    readonly toolIdleTimeoutMs?: CallTimeout | undefined
  }
}

/**
 * The limits of a call: the tool's, else the options'. Throws a `ToolError` when a function of the options returns
 * none.
 */
export const limitsOf = ({ tool, toolCall, options }: LimitedCall): Limits => ({
  totalMs: tool.timeoutMs ?? chosen(toolCall, options.toolTimeoutMs, "toolTimeoutMs"),
  idleMs: tool.idleTimeoutMs ?? chosen(toolCall, options.toolIdleTimeoutMs ?? Infinity, "toolIdleTimeoutMs")
})

const chosen = (toolCall: ToolCall, timeout: CallTimeout, option: "toolTimeoutMs" | "toolIdleTimeoutMs"): number => {
  if (typeof timeout === "number") return timeout
  let given: unknown
  try {
    given = timeout(copied(toolCall))
  } catch (thrown) {
    throw faultOf(toolCall, `${option} raised: ${describe(thrown)}`, thrown)
  }
  ignoreRejection(given)
  if (isMilliseconds(given)) return given
  throw faultOf(toolCall, `${option} returned ${describe(given)}; return milliseconds`, given)
}

const faultOf = ({ id, name }: ToolCall, message: string, cause: unknown): ToolError =>
  new ToolError("invalid_return", {
    message,
    cause,
    toolName: name,
    toolCallId: id,
    metadata: { timeout_invalid: true }
  })

/** Called when a deadline has passed. */
export interface DeadlineListener {
  readonly passed: (message: string) => void
}

/** Running deadlines. */
export class Deadlines {
  readonly #clock: Clock.Clock
  readonly #limits: Limits
  readonly #listener: DeadlineListener
  #total: unknown
  #idle: unknown
  #started = 0
  #touched = 0
  /** The number of pending answers; `Infinity` after `clear`. */
  #held = 0

  constructor(clock: Clock.Clock, limits: Limits, listener: DeadlineListener) {
    this.#clock = clock
    this.#limits = limits
    this.#listener = listener
    this.#start()
  }

  /** Stops the deadlines while a person is asked, and restarts them after the answer (DEADLINE4). */
  async holding<A>(answer: Promise<A>): Promise<A> {
    this.#held++
    this.#stop()
    try {
      return await answer
    } finally {
      if (--this.#held === 0) this.#start()
    }
  }

  /** Records progress of the handler, which defers the idle deadline. */
  touch(): void {
    if (this.#idle === undefined) return
    const now = this.#clock.now()
    if (now - this.#touched <= this.#limits.idleMs) this.#touched = now
  }

  /** The deadline that has passed by now, in words (DEADLINE5). */
  get missed(): string | undefined {
    const { totalMs, idleMs } = this.#limits
    if (this.#held > 0 || (totalMs === Infinity && idleMs === Infinity)) return undefined
    const now = this.#clock.now()
    if (now - this.#started > totalMs) return totalMissed(totalMs)
    return now - this.#touched > idleMs ? idleMissed(idleMs) : undefined
  }

  clear(): void {
    this.#held = Infinity
    this.#stop()
  }

  #start(): void {
    const { totalMs, idleMs } = this.#limits
    if (totalMs === Infinity && idleMs === Infinity) return
    this.#started = this.#clock.now()
    this.#touched = this.#started
    if (totalMs !== Infinity) {
      this.#total = this.#clock.setTimeout(() => this.#listener.passed(totalMissed(this.#limits.totalMs)), totalMs)
    }
    if (idleMs !== Infinity) this.#await(idleMs)
  }

  #stop(): void {
    this.#clock.clearTimeout(this.#total)
    this.#clock.clearTimeout(this.#idle)
    this.#idle = undefined
  }

  #await(ms: number): void {
    this.#idle = this.#clock.setTimeout(() => this.#look(), ms)
  }

  #look(): void {
    const { idleMs } = this.#limits
    const left = this.#touched + idleMs - this.#clock.now()
    if (left > 0) return this.#await(left)
    this.#idle = undefined
    this.#listener.passed(idleMissed(idleMs))
  }
}

const totalMissed = (totalMs: number): string => `no result within ${totalMs} ms`
const idleMissed = (idleMs: number): string => `neither a result nor progress for ${idleMs} ms`
