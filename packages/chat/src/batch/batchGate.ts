/**
 * What permissions and hooks do to a batch of calls: judge them before any starts, and look at each when it is over.
 *
 * Owns: whom it waits for, and the signal that ends the wait. Does not own the calls, nor what a refusal does to the others.
 *
 * BGATE1. No tool starts before every call is judged. A call that cannot run anyway is not judged: nobody is asked about a
 *         tool that does not exist, or about arguments that are no JSON object.
 * BGATE2. The time of a question or a hook is no call's time.
 * BGATE3. After `leave` nothing is waited for, and after `skip` nothing about that call: open questions and hooks are told,
 *         and a call that was over keeps the outcome it had.
 * BGATE4. The hooks after a call add to what the model reads, and may end the turn; the outcome of the call, and its result,
 *         stay what they were. A call that ended the turn itself ends it with its own reason.
 * BGATE5. Total: should judging or looking fail after all, the turn ends with `hook_crashed`, and nothing starts.
 */
import type { System } from "@troupe/otp"
import * as Hooks from "../gate/Hooks.ts"
import { text, type ToolCall } from "../model/index.ts"
import { crashed, type Gate, gateBatch, type GateVerdict, isGated, type Permissions, refuse } from "../gate/index.ts"
import type { RunOptions } from "../options/index.ts"
import { augmented, haltedAfter, refusalIn, resultOf, type ToolOutcome } from "../call/index.ts"
import type { Tool } from "../tool/index.ts"

/** The options a gate is made of. */
export type GateOptions = Partial<Pick<RunOptions, "permissions" | "hooks" | "hookTimeoutMs" | "context">> & {
  /** A person decided about the calls: nobody is asked again, and the mode does not count; the lists do. */
  readonly permitted?: boolean | undefined
}

/** The gate of a batch, if its options have anything to do with calls. */
export const batchGateOf = (given: GateOptions, system: System.System): BatchGate | undefined => {
  const options = given.permitted === true ? { ...given, permissions: listsOf(given.permissions) } : given
  return isGated(options) || Hooks.has(options.hooks, "PostToolUse", "PostToolUseFailure", ...refusals)
    ? new BatchGate(options, system)
    : undefined
}

/** The hooks of a refusal. */
const refusals = ["PermissionDenied", "ToolDenied"] as const

/** What holds whatever a person decided: the lists. */
const listsOf = ({ allow, deny }: Permissions = {}): Permissions | undefined =>
  allow === undefined && deny === undefined ? undefined : { mode: "bypass", allow, deny }

/** A call to judge, and its place in the batch. */
export interface Judged {
  readonly index: number
  readonly toolCall: ToolCall
  readonly tool: Tool | undefined
}

/** The gate of one batch. */
export class BatchGate {
  readonly #gate: Gate
  readonly #leaving = new AbortController()
  /** Whom the gate waits for, by the place of the call it is about. */
  readonly #waits = new Map<number, AbortController>()
  readonly #skipped = new Set<number>()

  constructor({ permissions, hooks, hookTimeoutMs, context }: GateOptions, system: System.System) {
    this.#gate = { permissions, hooks, context, system, timeoutMs: hookTimeoutMs, signal: this.#leaving.signal }
  }

  /** Whether calls are judged at all. */
  get judges(): boolean {
    return isGated(this.#gate)
  }

  /** Judges calls in order; `judging` is told the place of each as its turn comes. */
  async judge(calls: ReadonlyArray<Judged>, judging: (index: number) => void): Promise<ReadonlyArray<GateVerdict>> {
    try {
      return await gateBatch(calls, this.#gate, (position) => {
        const index = calls[position]?.index ?? position
        this.#waits.clear()
        judging(index)
        const wait = this.#wait(index)
        if (this.#skipped.has(index)) wait.abort()
        return wait.signal
      })
    } catch (thrown) {
      return calls.map(({ toolCall }) => ({ message: undefined, cause: undefined, ...crashed(thrown), toolCall }))
    } finally {
      this.#waits.clear()
    }
  }

  /** Whether hooks want to look at a call that is over. */
  follows({ outcome, halt }: ToolOutcome): boolean {
    if (this.#leaving.signal.aborted || halt?.type === "question") return false
    const { hooks } = this.#gate
    return (
      (outcome === "denied" && Hooks.has(hooks, ...refusals)) ||
      (failures.has(outcome) && Hooks.has(hooks, "PostToolUseFailure")) ||
      (ran.has(outcome) && Hooks.has(hooks, "PostToolUse"))
    )
  }

  /** What becomes of a call that is over once the hooks have looked at it (BGATE4). */
  async follow(index: number, ended: ToolOutcome): Promise<ToolOutcome> {
    const gate = { ...this.#gate, signal: this.#wait(index).signal }
    try {
      return await this.#followed(ended, gate)
    } catch (thrown) {
      return haltedAfter(ended, crashed(thrown))
    } finally {
      this.#waits.delete(index)
    }
  }

  /** Stops waiting for whoever is asked about this call, and has nobody asked who was not (BGATE3). */
  skip(index: number): void {
    this.#skipped.add(index)
    this.#waits.get(index)?.abort()
  }

  /** Stops waiting (BGATE3). */
  leave(): void {
    this.#leaving.abort()
    for (const wait of this.#waits.values()) wait.abort()
  }

  #wait(index: number): AbortController {
    const wait = new AbortController()
    this.#waits.set(index, wait)
    if (this.#leaving.signal.aborted) wait.abort()
    return wait
  }

  async #followed(ended: ToolOutcome, gate: Gate): Promise<ToolOutcome> {
    const { hooks = {} } = gate
    const { toolCall, outcome, message } = ended
    const use = Hooks.toolUse(toolCall)
    const failed = resultOf(ended)
    const reason = failed?.type === "error" ? failed.reason : undefined
    if (outcome === "denied") {
      await refuse({ type: "deny", toolCall, ...refusalIn(reason) }, gate)
      return ended
    }
    if (failures.has(outcome)) {
      await Hooks.notify(hooks, "PostToolUseFailure", { ...use, reason, outcome }, gate)
    }
    if (!ran.has(outcome)) return ended
    const verdict = await Hooks.postTool(hooks, { ...use, result: text(message), outcome }, gate)
    if (verdict.type === "augment") return augmented(ended, verdict.text)
    if (verdict.type !== "halt") return ended
    return haltedAfter(verdict.text === undefined ? ended : augmented(ended, verdict.text), verdict)
  }
}

/** Calls whose handler came to an end of its own. */
const ran: ReadonlySet<string> = new Set(["completed", "failed"])

/** Calls that failed, having been let through. */
const failures: ReadonlySet<string> = new Set(["failed", "timed_out", "invalid"])
