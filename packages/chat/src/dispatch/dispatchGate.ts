/**
 * The tools of a dispatcher, and its gate, which the state configures.
 *
 * DISP5. Under `effects` all calls are judged before the first call starts; a refused call does not run.
 *
 * @module
 */
import type { System } from "@troupe/otp"
import { make, type Tool } from "../tool/index.ts"
import type { ToolCall } from "../model/index.ts"
import { gateBatch, type GateVerdict, isGated, mayNeedApproval } from "../gate/index.ts"
import type { DispatchState, DispatchTool } from "./dispatchState.ts"

/** Whether the calls of this state are judged. */
export const isJudged = (state: DispatchState): boolean =>
  state.phase !== undefined || isGated(state) || (state.tools?.some(mayNeedApproval) ?? false)

/** Judges calls one after another; calls after a halt are not judged and are missing in the list. */
export const judge = (
  calls: ReadonlyArray<ToolCall>,
  { permissions, hooks, phase: mode, context }: DispatchState,
  {
    tools,
    system,
    signal = new AbortController().signal
  }: {
    readonly tools: ReadonlyMap<string, Tool>
    readonly system: System.System
    readonly signal: AbortSignal | undefined
  }
): Promise<ReadonlyArray<GateVerdict>> =>
  gateBatch(
    calls.map((toolCall) => ({ toolCall, tool: tools.get(toolCall.name) })),
    { permissions, hooks, mode, context, system, signal }
  )

/** The tools by name; of several tools with one name the first counts. */
export const toolsByName = ({ tools = [] }: DispatchState): ReadonlyMap<string, Tool> =>
  new Map(tools.toReversed().map((tool) => [tool.name, asTool(tool)]))

const bare = make({ name: "bare" })

const asTool = ({ effect = "write", ...tool }: DispatchTool): Tool => ({ ...bare, ...defined(tool), effect })

/** The fields of a tool that are not `undefined`. */
const defined = (tool: Omit<DispatchTool, "effect">): Partial<Tool> =>
  Object.fromEntries(Object.entries(tool).filter(([, value]) => value !== undefined))
