/**
 * Reads the options of a Troupe: what is its own of them, what is its engine's, and what is its chats'.
 *
 * REPORT6. Without `system`, `onCrash`, `logger` and `silent` are those of the Troupe's own system. Beside `system` they are refused.
 */
import type { InspectionEvent, Observer } from "xstate"
import * as z from "zod"
import {
  countFrom1,
  type Finding,
  findingsFor,
  functionType,
  having,
  positiveInteger,
  unknownOption,
  ValidationError,
  wholeNumber,
  wordOf
} from "../errors/index.ts"
import { chatOptionNames, type ChatOptions, EngineOptions, providerAdvice } from "../options/index.ts"
import type { System } from "@troupe/otp"
import { type AgentDefinition, agentOptionFindings } from "../agents/index.ts"
import type { AnswerForm } from "../step/index.ts"
import type { Home } from "../store/index.ts"
import type { MemoryOptions } from "./memories.ts"
import type * as Store from "../store/Store.ts"

const positiveNumber = z.custom((value) => typeof value === "number" && value > 0, "must be a number more than 0")

const countOrInfinity = z.custom(
  (value) => value === Infinity || (Number.isSafeInteger(value) && Number(value) >= 0),
  "must be a whole number, 0 or more, or Infinity"
)

/** The types of the options that are the Troupe's own. */
const ownOptions = {
  store: having(
    "a store with load, save and delete, such as sqlite(path) of @troupe/store",
    "load",
    "delete"
  ).optional(),
  system: having("a system, as System.make makes them; a system prompt is the option instructions", "make").optional(),
  name: z.custom((value) => typeof value === "string" && value !== "", "must be a text that is not empty").optional(),
  maxRestarts: wholeNumber.optional(),
  maxSeconds: positiveNumber.optional(),
  onCrash: functionType.optional(),
  logger: functionType.optional(),
  silent: z.boolean("must be true or false").optional(),
  inspect: z.union([functionType, having("a function or an observer", "next")]).optional(),
  suspendedTtlMs: positiveNumber.optional(),
  escalateAfterMs: positiveNumber.optional(),
  onEscalate: functionType.optional(),
  passivateAfterMs: positiveNumber.optional(),
  maxLiveChats: countFrom1.optional(),
  maxStartingChats: countFrom1.optional(),
  home: having("an object with fenceOf and mayAct", "fenceOf", "mayAct").optional(),
  draftEveryMs: positiveNumber.optional(),
  maxWaitingInputs: countOrInfinity.optional(),
  maxWaitingBytes: countOrInfinity.optional(),
  maxWaitingFileBytes: countOrInfinity.optional(),
  maxChatFileBytes: countOrInfinity.optional(),
  maxToolCalls: positiveInteger.optional(),
  maxTasks: positiveInteger.optional(),
  maxChainRequests: countFrom1.optional(),
  maxTreeChildren: countFrom1.optional(),
  maxTreeRequests: countFrom1.optional(),
  maxKnownAgents: countFrom1.optional(),
  maxAgentMessages: countFrom1.optional(),
  memory: z
    .strictObject({
      scope: functionType.optional(),
      rank: functionType.optional(),
      recall: z
        .int("must_be_a_whole_number from 0 to 100")
        .min(0, "must_be_a_whole_number from 0 to 100")
        .max(100, "must_be_a_whole_number from 0 to 100")
        .optional()
    })
    .optional(),
  answer: wordOf("user_message", "tool_result").optional(),
  agents: z.unknown(),
  agent: z.unknown()
} satisfies Partial<Record<keyof TroupeOptions, z.ZodType>>

const ownTypes = z.object(ownOptions)

/** The options of a Troupe, by owner. */
export interface TroupeParts {
  readonly own: Pick<TroupeOptions, keyof typeof ownOptions>
  readonly engine: EngineOptions
  readonly chat: ChatOptions
}

const isEngines = (name: string): boolean => Object.hasOwn(EngineOptions.shape, name)
const isOwn = (name: string): boolean => Object.hasOwn(ownOptions, name)

/** Splits the options; throws a `ValidationError` that names every Troupe option of the wrong type. */
export const troupeParts = (options: TroupeOptions): TroupeParts => {
  if (typeof options !== "object" || options === null) {
    throw new ValidationError("invalid_options", [
      { field: [], reason: "must_be_an_object of options, for example Troupe.start({ adapter })" }
    ])
  }
  const found: Array<Finding> = ["signal", "requestId"]
    .filter((field) => field in options)
    .map((field) => ({ field: [field], reason: "is no option of a Troupe: it would be that of every turn" }))
  const known = [...Object.keys(ownOptions), ...Object.keys(EngineOptions.shape), ...chatOptionNames]
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) found.push({ field: [name], reason: unknownOption(name, known, providerAdvice) })
  }
  const own = Object.fromEntries(Object.keys(ownOptions).map((name) => [name, Reflect.get(options, name) as unknown]))
  found.push(...findingsFor(ownTypes, own), ...agentOptionFindings(options, options))
  for (const name of ["onCrash", "logger", "silent"] as const) {
    if (options.system === undefined || options[name] === undefined) continue
    found.push({ field: [name], reason: `is an option of the system: write System.make({ ${name} })` })
  }
  if (options.onEscalate !== undefined && options.escalateAfterMs === undefined) {
    found.push({ field: ["onEscalate"], reason: "is never called without escalateAfterMs" })
  }
  if (found.length > 0) throw new ValidationError("invalid_options", found)
  const partOf = (isMeant: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(options).filter(([name]) => isMeant(name)))
  return {
    own,
    engine: partOf(isEngines),
    chat: partOf((name) => !isOwn(name) && !isEngines(name))
  }
}

/**
 * The options of a Troupe: an engine's parts, the options of its chats, and their store.
 *
 * **Units and defaults**: some options of chats have other defaults in a Troupe. Chats report unknown tools to the model
 * (`onUnknownTool: "continue"`), and run tools by their effects (`schedule: "effects"`). Three replies in a row whose calls all
 * failed, or that changed nothing, end a turn (`maxMistakes: 3`, `maxUnproductive: 3`; 0 for no bound).
 */
export interface TroupeOptions<Name extends string = string>
  extends EngineOptions, Omit<ChatOptions, keyof EngineOptions | "signal" | "requestId"> {
  /** Where conversations are kept. Default: in memory, with a log. */
  readonly store?: Store.Store | undefined
  /** The agents that can serve a conversation, by name. Default: none. */
  readonly agents?: Readonly<Record<Name, AgentDefinition>> | undefined
  /** The agent of conversations that begin without the name of one. Default: none; the Troupe's own options serve them. */
  readonly agent?: NoInfer<Name> | undefined
  /** The system that the chats run in. Default: a new one, which `stop` stops too. */
  readonly system?: System.System | undefined
  /** The name of the new system. Default: `"troupe"`. */
  readonly name?: string | undefined
  /** How many crashes of chats `maxSeconds` may have before the supervisor of chats is restarted. Default: 3. */
  readonly maxRestarts?: number | undefined
  /** The seconds in which crashes of chats are counted. Default: 5. */
  readonly maxSeconds?: number | undefined
  /**
   * How long a chat waits for the user's answer, or for tool results, in milliseconds. Default: `Infinity`, no limit. Afterwards
   * the question is withdrawn, the calls are answered as cancelled, and the chat is at rest, its `lastHaltedReason` `expired`.
   * The time also counts while the program does not run.
   */
  readonly suspendedTtlMs?: number | undefined
  /**
   * How long a question, a decision or a result may be awaited before it is escalated, in milliseconds. Default: never.
   *
   * **Details**: the wait is marked in the store (`escalatedAt`), once over all programs that share it, and `onEscalate` is called. The
   * conversation need not be loaded, and goes on waiting. A store without `escalate` marks nothing.
   */
  readonly escalateAfterMs?: number | undefined
  /**
   * Called for each wait that this program has escalated, for example to notify another person. Default: no call.
   *
   * **Contract**: called at most once for each wait, after the mark is stored; not called again after a crash in between. An exception and a
   * rejection are reported as a crash.
   */
  readonly onEscalate?: ((wait: Store.Lists.Wait) => unknown) | undefined
  /** Whose memories chats use, and how many follow an input. Default: those of the owner in the id of the chat, and none. */
  readonly memory?: MemoryOptions | undefined
  /**
   * Where the answer to a tool's question goes: into a message after it, or into the call's result. Default: `"user_message"`.
   */
  readonly answer?: AnswerForm | undefined
  /**
   * How many tool calls of all chats run at once. Default: no bound. Chats take turns: a chat with many calls does not
   * delay a chat with few. A call no longer counts once its result is not waited for.
   */
  readonly maxToolCalls?: number | undefined
  /** How many background tasks of one chat run at once. Default: 16. A further one is refused, and the model reads that. */
  readonly maxTasks?: number | undefined
  /**
   * How many model requests the turns send, between two inputs of a person or a host, that ends of background tasks and messages of tool
   * handlers begin. Default: 50; `Infinity` is no bound.
   *
   * **Details**: beside `maxTurns`, which counts the requests of each turn. The turn that reaches the bound ends with
   * `max_chain_requests`. A later end waits in the inbox, and joins the turn of the next input.
   */
  readonly maxChainRequests?: number | undefined
  /**
   * How many sub-agents one input of a chat begins, at all depths together. Default: 100; `Infinity` is no bound. A further call fails with
   * `child_refused`, and the model reads the bound.
   */
  readonly maxTreeChildren?: number | undefined
  /**
   * How many model requests a chat and all sub-agents below it send together for one input of the chat. Default: 1,000; `Infinity` is no
   * bound. Then each of their turns ends with `max_tree_requests`.
   *
   * **Details**: sub-agents that run at the same time exceed the bound by at most one request each. The count is in memory, and begins anew
   * when the chat is unloaded while it has no background task.
   */
  readonly maxTreeRequests?: number | undefined
  /**
   * How many sub-agents one chat can call again by their ids. Default: 64; `Infinity` is no bound. A chat forgets the one that began first of
   * those that rest.
   */
  readonly maxKnownAgents?: number | undefined
  /**
   * How many messages and questions a chat and the sub-agents below it send each other in a minute, all together. Default: 60; `Infinity` is
   * no bound. A further one is refused with `too_many_messages`, which the model reads. The count is in memory.
   */
  readonly maxAgentMessages?: number | undefined
  /**
   * How often the draft of a streaming reply is stored, in milliseconds, if the store supports drafts. It is also stored
   * when its chat ends. Default: 2,000; without a store only when the chat ends. `Infinity` is never.
   */
  readonly draftEveryMs?: number | undefined
  /**
   * How long a chat may be idle before it is unloaded, in milliseconds, plus at most a quarter. The next use loads it from
   * the store. Default: 600,000, ten minutes; `Infinity` is never.
   */
  readonly passivateAfterMs?: number | undefined
  /**
   * How many chats may have a process. Default: `Infinity`, no bound. When so many have one, another is loaded only in place of
   * an idle one, which is unloaded. If none is idle, `troupe.chat(id)` rejects with `overloaded`, and nothing is loaded. A
   * chat that is in use is never refused.
   */
  readonly maxLiveChats?: number | undefined
  /** How many chats are loaded from the store at once; others wait. Default: `Infinity`, no bound. */
  readonly maxStartingChats?: number | undefined
  /**
   * For `@troupe/cluster`: of which conversations this program is the home, among those that share the store. Default: of
   * all.
   *
   * **Details**: every write names the fence of its conversation. A chat whose fence is over leaves (`moved`), as does one whose
   * `mayAct` is false when the handler of a tool is to start. `troupe.chat(id)` of another home's conversation rejects with `moved`,
   * and a fork, a rewind and a deletion of it with `store_fenced`. Reads of the store have no home. The store must keep a
   * log.
   */
  readonly home?: Home | undefined
  /**
   * How many inputs of one chat may wait while a turn runs. Default: 64; `Infinity` is no bound. A further input is refused
   * with `inbox_full`, and is not stored. Each accepted input copies the list of those that wait, 8 bytes for each: with
   * more than some thousands this costs more than the input.
   */
  readonly maxWaitingInputs?: number | undefined
  /**
   * How many bytes the waiting inputs of one chat may have in total, as JSON in UTF-8, without the data of their images and
   * files. Default: 2,097,152; `Infinity` is no bound.
   *
   * **Details**: an input larger than the bound is accepted only when no turn runs. In a store with a log, each accepted
   * input is a row of its own; another store keeps all waiting inputs in the record, and stores them again.
   */
  readonly maxWaitingBytes?: number | undefined
  /**
   * How many bytes the images and files of the waiting inputs of one chat may have in total. Default: 67,108,864; `Infinity`
   * is no bound.
   */
  readonly maxWaitingFileBytes?: number | undefined
  /**
   * How many bytes the images and files of one chat may have in the store together. Default: 1,073,741,824; `Infinity` is no bound.
   *
   * **Details**: `send` throws a `ValidationError` (`invalid_message`) for a message that exceeds it. Results of tools and replies are
   * stored in any case, and count. So do earlier messages that a rewind left in the log, until the chat is loaded again. A store without
   * blobs has no such bound.
   */
  readonly maxChatFileBytes?: number | undefined
  /**
   * Called for every crash, with a readable report. Default: a line of `logger`. An option of the Troupe's own system: with `system`,
   * it is one of `System.make`, as are the next two.
   */
  readonly onCrash?: ((report: System.CrashReport) => void) | undefined
  /**
   * Called with each fault that no caller gets: a crash without `onCrash`, a failure of the store, an unexpected error of a server, an
   * exception of a function that nothing waits for. Default: a line on the console, in Node on stderr.
   *
   * **Units and defaults**: at most 20 reports in 10 seconds, and one with the number of the others.
   */
  readonly logger?: ((report: System.Report) => void) | undefined
  /** `true` writes no reports. Default: `false`. */
  readonly silent?: boolean | undefined
  /**
   * A function or an observer that is called with XState's inspection events of every chat, for example
   * `createBrowserInspector().inspect` of `@statelyai/inspect`. Default: no call.
   *
   * **Details**: one actor system for each chat has the charts of the chat, its step, its model request, its batch and
   * every tool call. XState runs these charts then, which costs several times as much.
   */
  readonly inspect?: ((event: InspectionEvent) => void) | Observer<InspectionEvent> | undefined
}
