/**
 * Applies permissions and hooks to a batch of calls: before the first call starts, and after each call is over.
 *
 * Owns: the pending questions and hooks, and the signals that end the waits. Does not own the calls, nor the effect of a
 * refusal on other calls.
 *
 * BGATE1. No tool starts before every call is judged. A call that cannot run is not judged: no person and no hook is
 *         asked about a tool that does not exist, or about arguments that are not a JSON object.
 * BGATE2. The time of a question or a hook does not count against a call's deadline.
 * BGATE3. After `leave` the gate waits for nothing; after `skip` it waits for nothing about that call. The signals of
 *         open questions and hooks are aborted, and a call that was over keeps its outcome.
 * BGATE4. The hooks after a call can add text for the model and can end the turn. They do not change the outcome and the
 *         result of the call. A call that ended the turn itself keeps its own halt reason.
 * BGATE5. Total: if the gate itself fails, the turn ends with `hook_crashed`, and nothing starts.
 */
import type { System } from "@troupe/otp"
import * as Hooks from "../gate/Hooks.ts"
import { text } from "../model/index.ts"
import {
  crashed,
  type Gate,
  gateBatch,
  type GateVerdict,
  isGated,
  mayNeedApproval,
  type Permissions,
  refuse
} from "../gate/index.ts"
import { augmented, haltedAfter, refusalIn, resultOf, type ToolOutcome } from "../call/index.ts"
import type { ToolBatchInput, BatchCall } from "./batchCalls.ts"
import { isProviderApproval, type Tool, toolFor } from "../tool/index.ts"

/** The gate of a batch; `undefined` when neither permissions nor hooks concern calls. */
export const batchGateOf = (
  { options: given, messages, toolsByName }: Pick<ToolBatchInput, "options" | "messages" | "toolsByName">,
  system: System.System,
  calls: ReadonlyArray<BatchCall>
): BatchGate | undefined => {
  const { permitted, permissions: own } = given
  const isAsked = ({ toolCall }: BatchCall): boolean =>
    isProviderApproval(toolCall) || mayNeedApproval(toolsByName.get(toolCall.name))
  const asked = own ?? (calls.some(isAsked) ? {} : undefined)
  const permissions = permitted === true ? listsOf(own) : asked
  const options = permissions === own ? given : { ...given, permissions }
  return isGated(options) || Hooks.has(options.hooks, "PostToolUse", "PostToolUseFailure", ...refusals)
    ? new BatchGate({ options, messages }, system)
    : undefined
}

/** The hooks of a refusal. */
const refusals = ["PermissionDenied", "ToolDenied"] as const

/** The lists of the permissions, which apply after any decision of a person. */
const listsOf = ({ allow, deny }: Permissions = {}): Permissions | undefined =>
  allow === undefined && deny === undefined ? undefined : { mode: "bypass", allow, deny }

export class BatchGate {
  readonly #gate: Gate
  readonly #leaving = new AbortController()
  /** The pending waits, by the place of their call. */
  readonly #waits = new Map<number, AbortController>()
  readonly #skipped = new Set<number>()

  constructor({ options, messages }: Pick<ToolBatchInput, "options" | "messages">, system: System.System) {
    const { permissions, hooks, hookTimeoutMs: timeoutMs, context } = options
    this.#gate = { permissions, hooks, context, messages, system, timeoutMs, signal: this.#leaving.signal }
  }

  /** Whether calls are judged at all. */
  get judges(): boolean {
    return isGated(this.#gate)
  }

  /** Judges calls in order; calls `changed` before each. */
  async judge(
    calls: ReadonlyArray<BatchCall>,
    toolsByName: ReadonlyMap<string, Tool>,
    changed: () => void
  ): Promise<ReadonlyArray<GateVerdict>> {
    const judged = calls.map(({ toolCall }) => ({ toolCall, tool: toolFor(toolsByName, toolCall) }))
    let last: BatchCall | undefined
    try {
      return await gateBatch(judged, this.#gate, (position) => {
        const call = calls[position] as BatchCall
        if (last?.mark === "gating") last.mark = undefined
        if (!call.isOver) call.mark = "gating"
        last = call
        this.#waits.clear()
        changed()
        const wait = this.#wait(call.index)
        if (this.#skipped.has(call.index)) wait.abort()
        return wait.signal
      })
    } catch (thrown) {
      return judged.map(({ toolCall }) => ({ message: undefined, cause: undefined, ...crashed(thrown), toolCall }))
    } finally {
      this.#waits.clear()
    }
  }

  /** Whether hooks run after a call with this outcome. */
  follows({ outcome, halt }: ToolOutcome): boolean {
    if (this.#leaving.signal.aborted || halt?.type === "question") return false
    const { hooks } = this.#gate
    return (
      (outcome === "denied" && Hooks.has(hooks, ...refusals)) ||
      (failures.has(outcome) && Hooks.has(hooks, "PostToolUseFailure")) ||
      (ran.has(outcome) && Hooks.has(hooks, "PostToolUse"))
    )
  }

  /** Runs the hooks after a call and returns its final outcome (BGATE4). */
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

  /** Ends the waits about this call, and prevents later questions and hooks about it (BGATE3). */
  skip(index: number): void {
    this.#skipped.add(index)
    this.#waits.get(index)?.abort()
  }

  /** Ends all waits (BGATE3). */
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

/** The outcomes of calls whose handler ended by itself. */
const ran: ReadonlySet<string> = new Set(["completed", "failed"])

/** The outcomes of calls that failed after the gate allowed them. */
const failures: ReadonlySet<string> = new Set(["failed", "timed_out", "invalid"])
