/**
 * What permissions and hooks do to a batch of calls: judge them before any starts, and look at each when it is over.
 *
 * Owns: whom it waits for, and the signal that ends the wait. Does not own the calls, nor what a refusal does to the others.
 *
 * BGATE1. No tool starts before every call is judged. A call that cannot run anyway is not judged: nobody is asked about a
 *         tool that does not exist, or about arguments that are no JSON object.
 * BGATE2. The time of a question or a hook is no call's time.
 * BGATE3. After `leave` nothing is waited for: open questions and hooks are told, and a call that was over keeps the outcome
 *         it had.
 * BGATE4. The hooks after a call add to what the model reads, and may end the turn; the outcome of the call, and its result,
 *         stay what they were. A call that ended the turn itself ends it with its own reason.
 */
import type { System } from "@troupe/otp"
import * as Hooks from "../Hooks.ts"
import { text } from "../Message.ts"
import type { Tool } from "../Tool.ts"
import type { ToolCall } from "../ToolCall.ts"
import { type Gate, gateBatch, type GateVerdict, isGated } from "./gate.ts"
import type { RunOptions } from "./resolveOptions.ts"
import type { ToolOutcome } from "./toolOutcome.ts"
import { augmented, haltedAfter, resultOf } from "./toolRefusal.ts"

/** The options a gate is made of. */
export type GateOptions = Partial<Pick<RunOptions, "permissions" | "hooks" | "hookTimeoutMs" | "context">>

/** The gate of a batch, if its options have anything to do with calls. */
export const batchGateOf = (options: GateOptions, system: System.System): BatchGate | undefined =>
  isGated(options) || Hooks.has(options.hooks, "PostToolUse", "PostToolUseFailure")
    ? new BatchGate(options, system)
    : undefined

/** The gate of one batch. */
export class BatchGate {
  readonly #gate: Gate
  readonly #leaving = new AbortController()

  constructor({ permissions, hooks, hookTimeoutMs, context }: GateOptions, system: System.System) {
    this.#gate = { permissions, hooks, context, system, timeoutMs: hookTimeoutMs, signal: this.#leaving.signal }
  }

  /** Whether calls are judged at all. */
  get judges(): boolean {
    return isGated(this.#gate)
  }

  /** Judges calls in order; `judging` is told of each as its turn comes. */
  judge(
    calls: ReadonlyArray<{ readonly toolCall: ToolCall; readonly tool: Tool | undefined }>,
    judging: (position: number) => void
  ): Promise<ReadonlyArray<GateVerdict>> {
    return gateBatch(calls, this.#gate, judging)
  }

  /** Whether hooks want to look at a call that is over. */
  follows({ outcome, halt }: ToolOutcome): boolean {
    if (this.#leaving.signal.aborted || halt?.type === "question") return false
    const { hooks } = this.#gate
    return (
      (failures.has(outcome) && Hooks.has(hooks, "PostToolUseFailure")) ||
      (ran.has(outcome) && Hooks.has(hooks, "PostToolUse"))
    )
  }

  /** What becomes of a call that is over once the hooks have looked at it (BGATE4). */
  async follow(ended: ToolOutcome): Promise<ToolOutcome> {
    const { hooks = {} } = this.#gate
    const { toolCall, outcome, message } = ended
    const use = Hooks.toolUse(toolCall)
    if (failures.has(outcome)) {
      const failed = resultOf(ended)
      const reason = failed?.type === "error" ? failed.reason : undefined
      await Hooks.notify(hooks, "PostToolUseFailure", { ...use, reason, outcome }, this.#gate)
    }
    if (!ran.has(outcome)) return ended
    const verdict = await Hooks.postTool(hooks, { ...use, result: text(message), outcome }, this.#gate)
    if (verdict.type === "augment") return augmented(ended, verdict.text)
    return verdict.type === "halt" ? haltedAfter(ended, verdict) : ended
  }

  /** Stops waiting (BGATE3). */
  leave(): void {
    this.#leaving.abort()
  }
}

/** Calls whose handler came to an end of its own. */
const ran: ReadonlySet<string> = new Set(["completed", "failed"])

/** Calls that failed, having been let through. */
const failures: ReadonlySet<string> = new Set(["failed", "timed_out", "invalid"])
