/**
 * Runs a whole turn of a case, under the reference's schedule and limits, on a stopped clock.
 *
 * @module
 */
import { Chat, Engine, Fake, Troupe, user } from "@troupe/chat"
import type { ChatOptions, ChatResult } from "@troupe/chat/chats"
import { AdapterError } from "@troupe/chat/errors"
import type { Event } from "@troupe/chat/events"
import type { Hooks, Permissions } from "@troupe/chat/tools"
import { Clock, System } from "@troupe/otp"
import { type Fields, fieldsOf, isFields, listOf, present, textOf } from "../../runner/fields.ts"
import { isScripted, settled } from "../../chat/outcome.ts"
import { hookOf } from "../gate/hookOperations.ts"
import { type Model, type Ran, toolsOf } from "./loopScript.ts"

/** A run: its prompt, and its inputs. */
export interface LoopRun {
  readonly prompt: string
  readonly model: Model
  readonly given: Fields
  /** Overrides the case's own options. */
  readonly options?: Fields | undefined
  /** Receives the events like a reader of a live chat: its exceptions and its time do not affect the run. */
  readonly listener?: ((event: Event, clock: Clock.Clock) => void | Promise<void>) | undefined
}

/** The observations of a run. */
export type LoopSeen = Awaited<ReturnType<typeof runLoop>>

/** Runs the turn. */
export const runLoop = async ({ prompt, model, given, options, listener }: LoopRun) => {
  const clock = Clock.test()
  const ran: Ran = { ids: [] }
  const events: Array<string> = []
  const watched = hooksOf(fieldsOf(given["hooks"]), (iteration) => events.push(`iteration:${iteration}`))
  const asked = askOf(given["ask"], clock)
  const adapter = Fake.make({ respond: (_, call) => model(call) })
  const all = { ...fieldsOf(given["options"]), ...options }
  const tools = toolsOf(given, ran)
  const own = {
    schedule: "reference",
    onUnknownTool: "continue",
    hooks: watched.hooks,
    permissions: permissionsOf(all, asked.ask),
    system: System.make({ clock }),
    ...boundsOf(all, given)
  } as const
  const running = async (): Promise<ChatResult> => {
    const engine = Engine.make({ adapter, tools, retry: false })
    let result: ChatResult | undefined
    for await (const event of await Chat.stream(engine, [user(prompt)], own)) {
      events.push(...written(event))
      if (event.type === "chat_completed") ({ result } = event)
    }
    if (result === undefined) throw new Error("the run gave no result")
    return result
  }
  const listening = async (listen: NonNullable<LoopRun["listener"]>): Promise<ChatResult> => {
    const troupe = await Troupe.start({ adapter, tools, retry: false, ...own })
    const turn = (await troupe.chat("a")).send(prompt)
    const reading = (async () => {
      for await (const event of turn) await listen(event, clock)
    })()
    await reading.catch((error: unknown) => {
      if (!isScripted(error)) throw error
    })
    const result = await turn.result()
    await troupe.stop()
    return result
  }
  const { ok: result, failure: thrown } = await clock.run(
    settled(() => (listener === undefined ? running() : listening(listener)))
  )
  return {
    result: result as ChatResult | undefined,
    thrown,
    events,
    fired: watched.fired,
    payloads: watched.payloads,
    ran: ran.ids,
    providerCalls: adapter.requests.length,
    ...asked.seen
  }
}

/** Events in the cases' form; a hook records a run's iterations. */
const written = (event: Event): ReadonlyArray<string> => {
  switch (event.type) {
    case "text_completed":
      return event.text.trim() === "" ? [] : [`content:${event.text}`]
    case "tool_execution_started":
      return [`tool_call:${event.id}`]
    case "tool_execution_completed":
      return [`tool_result:${event.id}${event.outcome === "completed" ? "" : "!"}`]
    case "chat_completed":
      return [...(event.result.haltedReason === "submitted" ? ["submitted"] : []), "done"]
    default:
      return []
  }
}

/** The original's limits, unless the case has its own. */
const boundsOf = (all: Fields, given: Fields): ChatOptions => {
  const { maxIterations = fieldsOf(given["config"])["maxIterations"] ?? 55, maxCostUsd, toolTimeoutMs } = all
  return {
    maxTurns: maxIterations === "unlimited" ? Number.MAX_SAFE_INTEGER : Number(maxIterations),
    maxMistakes: Number(all["maxMistakes"] ?? 3),
    maxUnproductive: Number(all["maxUnproductive"] ?? 3),
    ...(maxCostUsd === undefined ? {} : { budget: { cost: Number(maxCostUsd) } }),
    ...(toolTimeoutMs === undefined ? {} : { toolTimeoutMs: Number(toolTimeoutMs) })
  }
}

const permissionsOf = ({ allow, deny }: Fields, ask: Permissions.Ask | undefined): Permissions.Permissions =>
  present({ allow: allow && listOf(allow).map(textOf), deny: deny && listOf(deny).map(textOf), ask }) as object

/** The answers to questions: by call id, or in words for all calls. */
const askOf = (given: unknown, clock: Clock.Clock) => {
  const seen = { log: [] as Array<string>, maxOpenQuestions: 0, hasCallId: true }
  let open = 0
  const answer = async ({ toolCall: { id } }: Parameters<Permissions.Ask>[0]): Promise<Permissions.Answer> => {
    seen.hasCallId &&= id !== ""
    seen.log.push(`ask:${id}`)
    seen.maxOpenQuestions = Math.max(seen.maxOpenQuestions, ++open)
    const words = isFields(given) ? textOf(given[id] ?? "allow") : textOf(given)
    if (words === "raises") throw new Error("the callback raised")
    const [, ms = "0"] = /(\d+) ms/.exec(words) ?? []
    await new Promise<void>((over) => void clock.setTimeout(over, Number(ms)))
    open--
    seen.log.push(`answered:${id}`)
    const [, halt] = /halt (\w+)/.exec(words) ?? []
    if (halt !== undefined) return { type: "halt", reason: halt }
    return words.includes("deny") ? { type: "deny", reason: "no" } : { type: "allow" }
  }
  return { ask: given === undefined ? undefined : answer, seen }
}

/** The hooks of a case; `fired` lists the events whose hook results are ignored, in order. */
const hooksOf = (given: Fields, iterates: (iteration: number) => void) => {
  const fired: Array<string> = []
  const payloads: Record<string, unknown> = {}
  const watching = (event: string) => (word: unknown) =>
    hookOf(word, (payload) => {
      if (word !== "spy" && fieldsOf(word)["augment"] === undefined) return
      fired.push(event)
      payloads[event] = payload
    })
  const listed = Object.entries(given)
    .filter(([event]) => event !== "Notification")
    .map(([event, hooks]) => [event, (Array.isArray(hooks) ? hooks : [hooks]).map(watching(event))])
  const own = Object.fromEntries(listed) as Fields
  const counting = ({ iteration }: { readonly iteration: number }) => iterates(iteration)
  return { fired, payloads, hooks: { ...own, PreIteration: [counting, ...listOf(own["PreIteration"])] } as Hooks }
}

/** The original's word for how a run ended. */
export const finishOf = ({ result, thrown }: LoopSeen): string => {
  const reason = result?.haltedReason ?? "error"
  if (reason !== "error") return finishes[reason] ?? "error_halted"
  const error = result === undefined ? thrown : result.metadata["error"]
  return error instanceof AdapterError && error.reason === "authentication_failed"
    ? "error_provider_auth"
    : "error_during_execution"
}

const finishes: Readonly<Record<string, string>> = {
  completed: "stop",
  submitted: "submitted",
  max_turns: "error_max_turns",
  budget_cost: "error_max_budget_usd",
  consecutive_mistakes: "error_consecutive_mistakes",
  no_progress: "error_no_progress",
  tool_error: "error_halted"
}
