/**
 * Reads a call's options once: refuses unknown keys and bad values, and fills in defaults; the tools of a request, where the origin of tools has
 * changed its list since the chat began.
 *
 * CURRENT1. A request has the present tools of each origin: tools that stayed keep their places, those that are gone are left out, and new ones
 *           come last. So the declarations before the first change stay the same.
 * CURRENT2. A list of which the program has left out or changed a tool gets no new ones: they would pass the program by.
 */
import { System } from "@troupe/otp"
import type { ChatOptions, Schedule } from "./ChatOptions.ts"
import { EngineError, type Finding, isRecord, unknownName, ValidationError } from "../errors/index.ts"
import { withFinder, resolveModel, resolveParams, resolveTools, isFinder } from "./deferredTools.ts"
import * as Retry from "../adapter/retryPolicy.ts"
import { type CallPlace, type ChatHandle, type Engine, inProcess, type Tool, type ToolExecutor } from "../tool/index.ts"
import { defaultMaxToolResultCharacters, json, type ToolResultEncoder } from "../values/index.ts"
import { defaultSystem, type ToolSlots } from "../async/index.ts"
import { type ChatBlobs, defaultMaxFileBytes, defaultMaxToolArgumentCharacters, type Usage } from "../model/index.ts"
import { withFormat } from "./answerFormat.ts"
import { findingsOf, positive } from "./optionChecks.ts"
import type { HaltedReason } from "../record/index.ts"
import { Trace } from "./spans.ts"
import type { CallTimeout } from "./callPolicy.ts"
import type { ToolOrigin } from "../tool/index.ts"

/** What a chat and its sub-agents spend. */
export interface FamilySpending {
  /** The usage of the child whose call has this key, and ended in the running step; `undefined` for none. */
  readonly spent: (key: () => string) => Usage | undefined
  /** Called when a request begins. */
  readonly sends: () => void
  /**
   * Called at the end of a step. Returns the usage of all children whose calls ended, once, without what they spent for former chains;
   * `undefined` for none.
   */
  readonly take: () => Usage | undefined
  /** What the children that {@link take} returned spent for former chains, once; `undefined` for none. */
  readonly takeFormer: () => Usage | undefined
  /** What children have spent for the chain, and no step of it counts yet; `undefined` for none. */
  readonly below: () => Usage | undefined
  /** Called when a turn begins a chain: what the children of the chat have spent so far is of the former one. */
  readonly chainBegan: (turn: string) => undefined
  /** The limit because of which a call may send no request of its own; `more` is the usage that its step counts. */
  readonly exhausted: (more: Usage) => string | undefined
  /** The budget of a chat above that is used up, if one is; `more` is usage that the record of the chat does not have yet. */
  readonly overspent: (
    more?: Usage
  ) => { readonly reason: HaltedReason; readonly metadata: Readonly<Record<string, unknown>> } | undefined
}

/** The options of a running chat, complete. */
export interface RunOptions extends ChatOptions {
  /** Has the adapter and its fallbacks. */
  readonly engine: Engine
  /** The name of the agent that they are of. */
  readonly agent?: string | undefined
  readonly mode: "auto" | "manual"
  readonly tools: ReadonlyArray<Tool>
  /** The same tools, by name. */
  readonly toolsByName: ReadonlyMap<string, Tool>
  readonly toolExecutor: ToolExecutor
  readonly toolResultEncoder: ToolResultEncoder
  readonly toolTimeoutMs: CallTimeout
  readonly streamIdleTimeoutMs: number
  readonly maxReplyCharacters: number
  readonly maxToolArgumentCharacters: number
  readonly maxToolResultCharacters: number
  readonly maxFileBytes: number
  readonly drainMs: number
  readonly hookTimeoutMs: number
  readonly schedule: Schedule
  /** The slots that the tool calls of all chats share, if `maxToolCalls` is set. */
  readonly toolSlots?: ToolSlots | undefined
  readonly onUnknownTool: "error" | "continue"
  readonly context: Readonly<Record<string, unknown>>
  readonly adapterOptions: Readonly<Record<string, unknown>>
  readonly requestId: string
  readonly maxTurns: number
  readonly retry: Retry.RetryPolicy
  readonly system: System.System
  /** The live chat of the run. */
  readonly chat?: ChatHandle | undefined
  /** The blobs of the live chat, if its store keeps blobs. */
  readonly blobs?: ChatBlobs | undefined
  /** What the sub-agents of the chat spend, if it can have some. */
  readonly family?: FamilySpending | undefined
  /**
   * Whether a handler may start now. When it returns false, the handler does not start, and its call has no outcome: the chat
   * ends.
   */
  readonly mayAct?: (() => boolean) | undefined
  /** The calls that wait for answers to questions of their own. */
  readonly waited?:
    | {
        readonly hold: (
          chat: string,
          asking: { readonly call: string; readonly place: CallPlace; readonly dropped: () => void }
        ) => void
      }
    | undefined
  /** How many requests the turns send that the runtime begins in a chain; without it there is no bound. */
  readonly maxChainRequests?: number | undefined
  /** The spans of this run, if tracing is on. */
  readonly trace: Trace | undefined
}

/** The options that are the same for every run: all but those that each run makes for itself, and those of a live chat. */
export type FixedOptions = Omit<
  RunOptions,
  "requestId" | "trace" | "agent" | "toolSlots" | "chat" | "blobs" | "family" | "mayAct" | "maxChainRequests" | "waited"
> & {
  readonly requestId?: string | undefined
}

const defaultMaxTurns = 8
const defaultToolTimeoutMs = 30_000
const defaultStreamIdleTimeoutMs = 300_000
const defaultMaxReplyCharacters = 4_000_000
const defaultDrainMs = 1_000
const defaultHookTimeoutMs = 30_000

/**
 * The complete options of a chat, a step or a tool batch.
 *
 * Throws a `ValidationError` (`invalid_options`) that names every unknown key and every bad value.
 */
export const resolveOptions = (engine: Engine, options: ChatOptions): RunOptions =>
  optionsOfRun(fixedOptions(engine, options))

export const optionsOfRun = (
  fixed: FixedOptions,
  living?: Omit<RunOptions, Exclude<keyof FixedOptions, "sessionId"> | "trace">
): RunOptions => {
  const { system, tracing, engine, responseFormat } = fixed
  const sessionId = fixed.sessionId ?? living?.sessionId
  return {
    ...fixed,
    sessionId,
    requestId: fixed.requestId ?? System.uuid(system, "requests"),
    agent: living?.agent,
    toolSlots: living?.toolSlots,
    chat: living?.chat,
    blobs: living?.blobs,
    family: living?.family,
    mayAct: living?.mayAct,
    waited: living?.waited,
    maxChainRequests: living?.maxChainRequests,
    trace:
      tracing === undefined
        ? undefined
        : new Trace(tracing, system, {
            conversation: sessionId,
            adapter: engine.adapter,
            model: resolveModel(engine, fixed.model),
            responseFormat,
            ...sampledBy(resolveParams(engine, fixed))
          })
  }
}

/** The parameters of a run as its spans have them. */
const sampledBy = (options: Readonly<Record<string, unknown>>) => {
  const { temperature, maxTokens } = options
  return {
    temperature: typeof temperature === "number" ? temperature : undefined,
    maxTokens: typeof maxTokens === "number" ? maxTokens : undefined,
    options
  }
}

/** Checks options, and fills in defaults. Throws as {@link resolveOptions} does. Those that `checked` has too are not checked again. */
export const fixedOptions = (engine: Engine, options: ChatOptions, checked?: ChatOptions): FixedOptions => {
  checkEngine(engine)
  const given: unknown = options
  if (!isRecord(given)) {
    throw new ValidationError("invalid_options", [{ field: [], reason: "must_be_an_object of options" }])
  }
  const found: Array<Finding> = findingsOf(checked === undefined ? options : changed(options, checked))
  const maxTurns = options.maxTurns ?? engine.params["maxTurns"] ?? defaultMaxTurns
  const turnsProblem = positive(maxTurns)
  if (turnsProblem !== undefined && options.maxTurns === undefined) {
    found.push({ field: ["maxTurns"], reason: turnsProblem })
  }
  if (found.length > 0) throw new ValidationError("invalid_options", found)
  const tools = withFinder(resolveTools(engine, options.tools))
  checkToolChoice(options.toolChoice, tools)
  const { system = defaultSystem() } = options
  return {
    ...withFormat(options),
    engine,
    mode: options.mode ?? "auto",
    tools,
    toolsByName: new Map(tools.toReversed().map((tool) => [tool.name, tool])),
    toolExecutor: options.toolExecutor ?? engine.toolExecutor ?? inProcess,
    toolResultEncoder: options.toolResultEncoder ?? engine.toolResultEncoder ?? json,
    toolTimeoutMs: options.toolTimeoutMs ?? defaultToolTimeoutMs,
    streamIdleTimeoutMs: options.streamIdleTimeoutMs ?? defaultStreamIdleTimeoutMs,
    maxToolArgumentCharacters: options.maxToolArgumentCharacters ?? defaultMaxToolArgumentCharacters,
    maxToolResultCharacters: options.maxToolResultCharacters ?? defaultMaxToolResultCharacters,
    maxFileBytes: options.maxFileBytes ?? defaultMaxFileBytes,
    maxReplyCharacters: options.maxReplyCharacters ?? defaultMaxReplyCharacters,
    drainMs: options.drainMs ?? defaultDrainMs,
    hookTimeoutMs: options.hookTimeoutMs ?? defaultHookTimeoutMs,
    schedule: options.schedule ?? "concurrent",
    onUnknownTool: options.onUnknownTool ?? "error",
    context: options.context ?? engine.context,
    adapterOptions: { ...engine.adapterOptions, ...options.adapterOptions },
    maxTurns: maxTurns as number,
    retry: Retry.make(options.retry ?? engine.retry),
    system
  }
}

/** The options whose values are not those of other options. */
const changed = (options: ChatOptions, others: ChatOptions): ChatOptions => {
  const own: Record<string, unknown> = {}
  for (const name in options)
    if (Reflect.get(options, name) !== Reflect.get(others, name)) own[name] = Reflect.get(options, name)
  return own
}

/** Throws a `ValidationError` for the choice of a tool that the model would not get. */
const checkToolChoice = (choice: ChatOptions["toolChoice"], tools: ReadonlyArray<Tool>): void => {
  if (typeof choice !== "object" || tools.some(({ name }) => name === choice.name)) return
  const names = tools.map(({ name }) => name)
  const reason = names.length === 0 ? "unknown; the chat has no tools" : unknownName(choice.name, names)
  throw new ValidationError("invalid_options", [{ field: ["toolChoice", "name"], reason }])
}

/** Refuses engines that `Engine.make` did not create, and does not repeat its checks. */
const checkEngine = (engine: unknown): void => {
  if (typeof engine === "object" && engine !== null && "tools" in engine && "params" in engine) return
  throw new EngineError("invalid_engine", { message: "This is no engine; Engine.make makes one" })
}

interface Current {
  readonly lists: ReadonlyArray<ReadonlyArray<Tool>>
  readonly tools: ReadonlyArray<Tool>
  readonly toolsByName: ReadonlyMap<string, Tool>
}

const known = new WeakMap<ReadonlyArray<Tool>, Current>()

/** The present tools of a list; `undefined` if they are those of the list. Every request asks, so that the loop calls nothing for a tool. */
const currentOf = (tools: ReadonlyArray<Tool>): Current | undefined => {
  for (const { origin } of tools) if (origin !== undefined) return changedOf(tools)
  return undefined
}

const changedOf = (tools: ReadonlyArray<Tool>): Current | undefined => {
  const origins = new Set(tools.flatMap(({ origin }) => origin ?? []))
  const whole = Array.from(origins, (origin) => ({ origin, ...origin() })).filter(({ listed }) =>
    listed.every((tool) => tools.includes(tool))
  )
  const lists = whole.map(({ current }) => current)
  if (whole.every(({ listed, current }) => listed === current)) return undefined
  const before = known.get(tools)
  if (before !== undefined && before.lists.every((list, at) => list === lists[at])) return before
  const now = withFinder(replaced(tools, new Map(whole.map(({ origin, current }) => [origin, current]))))
  const made = { lists, tools: now, toolsByName: new Map(now.toReversed().map((tool) => [tool.name, tool])) }
  known.set(tools, made)
  return made
}

/** The present tools of an engine. */
export const presentTools = (tools: ReadonlyArray<Tool>): ReadonlyArray<Tool> => currentOf(tools)?.tools ?? tools

/** The options with the present tools. */
export const withCurrentTools = (options: RunOptions): RunOptions => {
  const current = currentOf(options.tools)
  return current === undefined ? options : { ...options, tools: current.tools, toolsByName: current.toolsByName }
}

const replaced = (
  tools: ReadonlyArray<Tool>,
  lists: ReadonlyMap<ToolOrigin, ReadonlyArray<Tool>>
): ReadonlyArray<Tool> => {
  const stayed = tools
    .filter((tool) => !isFinder(tool))
    .flatMap((tool) => {
      const list = tool.origin && lists.get(tool.origin)
      return list === undefined ? [tool] : list.filter(({ name }) => name === tool.name)
    })
  const names = new Set(stayed.map(({ name }) => name))
  const others = [...lists.values()].flat().filter(({ name }) => names.size !== names.add(name).size)
  return [...stayed, ...others]
}
