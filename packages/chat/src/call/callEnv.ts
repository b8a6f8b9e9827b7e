/** The live things of tool calls: tools, arguments, options and callbacks, which are no data of a chart. */
import type { Clock, Pid } from "@troupe/otp"
import type { ToolCallEvent } from "./callEvents.ts"
import type { RunOptions } from "../options/index.ts"
import type { ToolCall, Usage } from "../model/index.ts"
import type { CallPlace, Tool } from "../tool/index.ts"
import type { ModeWish } from "../gate/index.ts"
import type { ChildWait, Mode } from "../record/index.ts"
import type * as Scope from "effect/Scope"

/** A call to run, and what its run reports, without a chart event. */
export interface RunnableCall extends CallPlace {
  readonly tool: Tool
  readonly toolCall: ToolCall
  readonly options: RunOptions
  /** For a call that can ask a person: the answers that it runs again with, if it asked before. */
  readonly asks?: { readonly former: ChildWait | undefined; readonly clock: Clock.Clock } | undefined
  /** Counts the usage of a request of the handler; returns that of all calls of the step. */
  readonly counted?: ((usage: Usage) => Usage) | undefined
  /** Whether the handler may still start. A call that may not is cancelled. */
  readonly mayStart?: (() => boolean) | undefined
  /** Calls a function if the handler of a restored call is to run again, as soon as this is known. */
  readonly restored?: ((run: () => void) => void) | undefined
  /** The process of the call, as soon as its handler starts. */
  readonly started?: ((pid: Pid<ToolCallEvent>) => void) | undefined
  readonly progressed?: ((value: unknown) => void) | undefined
  /** The call entered this state by a cancel, a restart or the run after a restart. */
  readonly changed?: ((status: "running" | "cancelling" | "restarting") => void) | undefined
  /** Whether the call may set this permission mode. */
  readonly wants?: ((mode: Mode, signal: AbortSignal) => ModeWish | Promise<ModeWish>) | undefined
  /** The call sets this mode. */
  readonly wished?: ((wish: ModeWish) => void) | undefined
}

/** The environment of tool calls. */
export interface CallEnv {
  /** The call at a place of the batch. */
  readonly call: (index: number) => RunnableCall
  /** The scope of the batch: closing it interrupts the handlers of all its calls. */
  readonly scope?: Scope.Scope | undefined
}
