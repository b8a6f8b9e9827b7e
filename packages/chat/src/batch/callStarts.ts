/**
 * Whether the calls of a batch may start: the verdicts of the gate, and the calls that cannot run.
 *
 * Owns: the errors of the tools' `key` functions, and the first failure to store an intent. Does not own the calls, nor
 * the order in which they start.
 *
 * BATCH6. With a gate, no call starts before all are judged. A refused call is `denied`. When the gate ends the turn, the
 *         other calls that were not refused are `not_started`. A suspended call has no outcome: the result lists it.
 *         So does a call whose sub-agent waits for a person; only a cancel of the batch ends that call.
 */
import { closestName, quoted, type SessionError, type ToolError } from "../errors/index.ts"
import * as HandlerResult from "../values/HandlerResult.ts"
import { haltedOutcome, refusedOutcome, toolFailure, type ToolOutcome } from "../call/index.ts"
import type { GateVerdict } from "../gate/index.ts"
import type { ToolCall } from "../model/index.ts"
import type { CallEnd } from "./Scheduler.ts"
import { isProviderApproval, type Tool, toolFor } from "../tool/index.ts"
import type { IntentJournal, ToolBatchInput } from "./batchContract.ts"
import type { BatchGate } from "./batchGate.ts"
import { type CallSlots, endOf, isOver, type Slot } from "./callTable.ts"

const none: ReadonlyMap<number, ToolError> = new Map()

/** The starts of a batch's calls. */
export class CallStarts {
  readonly #input: Pick<ToolBatchInput, "toolsByName" | "journal">
  readonly #calls: CallSlots
  /** The errors of the tools' `key` functions, by the places of their calls. Such a call does not run. */
  faults: ReadonlyMap<number, ToolError> = none
  #error: SessionError | undefined
  #judged: ReadonlyArray<Slot> = []

  constructor(input: Pick<ToolBatchInput, "toolsByName" | "journal">, calls: CallSlots) {
    this.#input = input
    this.#calls = calls
  }

  /** The first failure to store an intent; it ends the batch (BATCH8). */
  get error(): SessionError | undefined {
    return this.#error
  }

  /** Judges the calls that could run (BGATE1). */
  judge(gate: BatchGate, changed: () => void): Promise<ReadonlyArray<GateVerdict>> {
    this.#judged = this.#calls.judged()
    const calls = this.#judged.map(({ index, toolCall }) => ({
      index,
      toolCall,
      tool: toolFor(this.#input.toolsByName, toolCall)
    }))
    let last: Slot | undefined
    return gate.judge(calls, (index) => {
      if (last?.status === "gating") last.status = "queued"
      last = this.#calls.all[index]
      if (last?.status === "queued") last.status = "gating"
      changed()
    })
  }

  /** Applies the verdicts of the gate to the judged calls. Returns whether one of them halts the batch (BATCH6). */
  apply(
    verdicts: ReadonlyArray<GateVerdict>,
    {
      ended,
      suspended
    }: { readonly ended: (slot: Slot, outcome: ToolOutcome) => void; readonly suspended: (slot: Slot) => void }
  ): boolean {
    const judged = this.#judged
    const isHalted = verdicts.some(({ type }) => type === "halt")
    verdicts.forEach((verdict, at) => {
      const slot = judged[at]
      if (slot === undefined || isOver(slot)) return
      slot.status = "queued"
      if (verdict.type === "allow")
        Object.assign(slot, {
          toolCall: verdict.toolCall,
          edited: slot.edited || verdict.edited,
          given: verdict.given ?? slot.given
        })
      else if (verdict.type === "deny") ended(slot, refusedOutcome(verdict))
      else if (verdict.type === "halt") ended(slot, haltedOutcome(verdict))
      else if (verdict.type === "suspend" && !isHalted) {
        this.#calls.suspend(slot, verdict)
        suspended(slot)
      }
    })
    return isHalted
  }

  /** The end of a call that cannot run: its tool is unknown, its key failed, or no intent can be stored. */
  refuse(slot: Slot): CallEnd | undefined {
    if (isOver(slot)) return undefined
    const { toolsByName } = this.#input
    const fault = this.faults.get(slot.index)
    if (fault !== undefined) this.#calls.settle(slot, HandlerResult.error(fault))
    else if (toolFor(toolsByName, slot.toolCall) === undefined)
      this.#calls.settle(slot, notFound(slot.toolCall, toolsByName))
    else if (this.#error !== undefined && this.journalOf(slot) !== undefined) this.#notStarted(slot, "store_failed")
    return isOver(slot) ? endOf(slot) : undefined
  }

  /** The journal, if it records this call. */
  journalOf({ toolCall }: Slot): IntentJournal | undefined {
    const { journal, toolsByName } = this.#input
    return isProviderApproval(toolCall) || toolsByName.get(toolCall.name)?.effect === "read" ? undefined : journal
  }

  /** Ends a call that writes and whose intent is not stored. The call may be over already. */
  unstored(slot: Slot, failure: SessionError): void {
    this.#error ??= failure
    if (slot.outcome === undefined) this.#notStarted(slot, `${failure.reason}: ${failure.message}`)
  }

  #notStarted(slot: Slot, reason: string): void {
    this.#calls.endEarly(slot, "not_started", `not started: ${reason}`)
  }
}

/** The failure of an unknown tool; its text lists the tools and suggests the closest name. */
export const notFound = (toolCall: ToolCall, tools: ReadonlyMap<string, Tool>): HandlerResult.Failed => {
  const meant = closestName(toolCall.name, tools.keys())
  const known = tools.size === 0 ? "there are no tools" : `the tools are ${[...tools.keys()].join(", ")}`
  const hint = meant === undefined ? "" : `; did you mean ${meant}?`
  return toolFailure(toolCall, "not_found", `there is no tool ${quoted(toolCall.name)}; ${known}${hint}`)
}
