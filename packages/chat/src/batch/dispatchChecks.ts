/**
 * Validates a dispatcher's calls, state and options, and makes its tools and its gate from the state. A finding names the path and the
 * expected value.
 *
 * DISP5. Under `effects` all calls are judged before the first call starts; a refused call does not run.
 */
import * as z from "zod"
import {
  countFrom1,
  dictionary,
  type Finding,
  findingsFor,
  functionType,
  having,
  isMilliseconds,
  isRecord,
  milliseconds,
  ValidationError,
  wordOf
} from "../errors/index.ts"
import { callsFindings, make, type Tool } from "../tool/index.ts"
import {
  hooks as hooksType,
  permissions as permissionsType,
  gateBatch,
  type GateVerdict,
  isGated,
  mayNeedApproval
} from "../gate/index.ts"
import { modes } from "../record/index.ts"
import type { System } from "@troupe/otp"
import type { ToolCall } from "../model/index.ts"
import type { DispatchState, DispatchTool } from "./dispatchState.ts"

const toolFields = z.lazy(() =>
  z.looseObject(
    {
      name: z.string("must_be_a_string"),
      effect: wordOf("read", "write").optional(),
      key: z.custom((value) => typeof value === "function", "must_be_a_function of the arguments").optional(),
      timeoutMs: milliseconds.optional()
    },
    "must_be a tool: { name, effect, key, timeoutMs }"
  )
)

/** The schema of a tool; an object without a name gives a single finding. */
const named = z
  .custom(
    (value) => isRecord(value) && typeof value["name"] === "string",
    "must_be a tool: { name, effect, key, timeoutMs }"
  )
  .pipe(toolFields)

/** The parts of the state that a dispatcher reads; an absent part may be `null`. */
const stateType = z.lazy(() =>
  z.looseObject(
    {
      tools: z.array(named, "must_be_a_list of tools").nullish(),
      maxConcurrency: z
        .custom((value) => Number.isInteger(value) || value === Infinity, "must_be_a_whole_number, or left out")
        .nullish(),
      maxCallsPerReply: countFrom1.nullish(),
      toolTimeoutMs: z.custom(isMilliseconds, "must_be_milliseconds, or left out").nullish(),
      phase: wordOf(...modes).nullish(),
      permissions: permissionsType.nullish(),
      hooks: hooksType.nullish(),
      context: dictionary.nullish(),
      onEvent: functionType.nullish()
    },
    "must_be_an_object"
  )
)

const optionsType = z.lazy(() =>
  z.strictObject(
    {
      schedule: wordOf("effects", "reference").optional(),
      haltOrder: wordOf("call", "observed").optional(),
      system: having("a system, as System.make makes them", "make").optional(),
      signal: z.custom((value) => value instanceof AbortSignal, "must_be an AbortSignal").optional()
    },
    "must_be_an_object of options"
  )
)

/** The arguments to check. */
interface Dispatched {
  readonly calls: unknown
  readonly state: unknown
  readonly options: unknown
  readonly runner?: unknown
}

/** Throws a `ValidationError` (`invalid_options`) that names every bad value. */
export const checkDispatch = ({ calls, state, options, ...rest }: Dispatched): void => {
  const found: Array<Finding> = [
    ...callsFindings("calls", calls),
    ...stateFindings(state),
    ...("runner" in rest && typeof rest.runner !== "function"
      ? [{ field: ["runner"], reason: "must_be_a_function of a call and the state" }]
      : []),
    ...optionFindings(options)
  ]
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}

const stateFindings = (state: unknown): ReadonlyArray<Finding> =>
  findingsFor(stateType, state, () => "unknown").map(({ field, reason }) => ({ field: ["state", ...field], reason }))

const optionFindings = (options: unknown): ReadonlyArray<Finding> => findingsFor(optionsType, options)

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
