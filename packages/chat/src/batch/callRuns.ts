/**
 * The runs of a batch's calls, as their charts find them: what runs, and what a run reports.
 *
 * Owns: the handlers of restored calls, which wait until the calls are restored, and the open requests of permission modes.
 */
import type { System } from "@troupe/otp"
import type { RunnableCall } from "../call/index.ts"
import { ModeRequests } from "../gate/index.ts"
import type { Tool } from "../tool/index.ts"
import type { BatchCall } from "./batchCalls.ts"
import type { ToolBatchInput } from "./batchContract.ts"
import type { CallEnds } from "./callEnds.ts"

/** The batch that the calls belong to. */
export interface RunsOwner {
  /** Whether a handler may start. */
  readonly mayStart: boolean
  /** A call has changed; the handler of the call of this id has reported progress. */
  readonly changed: (reported?: string) => void
}

export class CallRuns {
  readonly #input: ToolBatchInput
  readonly #ends: CallEnds
  readonly #system: System.System
  readonly #owner: RunsOwner
  #wishes: ModeRequests | undefined
  #restored: Array<{ readonly call: BatchCall; readonly run: () => void }> | undefined

  constructor(input: ToolBatchInput, ends: CallEnds, system: System.System, owner: RunsOwner) {
    this.#input = input
    this.#ends = ends
    this.#system = system
    this.#owner = owner
  }

  /** A call, as its chart finds it. */
  runnable(call: BatchCall, tool: Tool): RunnableCall {
    const { options, stepId, messageIndex } = this.#input
    const { toolCall, index, given: edited } = call
    const isRestored = !call.hasStarted
    return {
      tool,
      toolCall,
      options,
      stepId,
      messageIndex,
      index,
      edited,
      asks: { former: call.decided, clock: this.#system.clock },
      counted: (usage) => this.#input.calls.count(call, usage),
      mayStart: () => isRestored || this.#owner.mayStart,
      restored: isRestored ? (run) => void (this.#restored ??= []).push({ call, run }) : undefined,
      started: (pid) => void (call.pid = pid),
      progressed: (value) => {
        call.progress = value
        this.#owner.changed(toolCall.id)
      },
      changed: (status) => this.#statusChanged(call, status),
      wants: (mode, signal) => {
        this.#wishes ??= new ModeRequests(options, this.#system)
        return this.#wishes.request(mode, call.toolCall, tool, signal)
      },
      wished: (wish) => void (call.wish = wish)
    }
  }

  /** The calls are restored: the handlers of those that run start again. */
  restore(): void {
    const waiting = this.#restored ?? []
    this.#restored = undefined
    for (const { call, run } of waiting) if (call.mark === "running") run()
  }

  /** Aborts the pending questions. */
  leave(): void {
    this.#wishes?.leave()
  }

  /** The call entered this state by a cancel, a restart or the run after a restart. */
  #statusChanged(call: BatchCall, status: "running" | "cancelling" | "restarting"): void {
    if (call.isOver) return
    call.mark = status
    if (status === "running") {
      call.startedAt = this.#system.clock.now()
      call.progress = undefined
      call.wish = undefined
      this.#ends.reached(call, "begun")
    }
    this.#owner.changed()
  }
}
