/**
 * Calls the lifecycle hooks of a chat that are due, one event after another.
 *
 * Owns: nothing; `lifecycleHooks.ts` decides which events are due, and the effect of the results.
 *
 * HOOK5. A turn that is to stop calls only the hooks of its end, and waits for them at most the drain time.
 */
import type { ChatContext, Verdict } from "./chatContext.ts"
import { has, type HookHalt, type HookRun, type Hooks, lifecycle, type LifecycleEvent } from "../gate/index.ts"
import { type Message, text, type UserMessage } from "../model/index.ts"
import * as Thread from "../model/Thread.ts"
import type { DueHooks } from "./lifecycleHooks.ts"
import { type ChatResult, type Conversation, injected } from "../record/index.ts"
import { held, type Held, original } from "../values/index.ts"
import { lastFingerprint, passOptions, type Terminal, unproductiveRounds } from "../step/index.ts"
import { requestOf } from "../request/index.ts"
import { askedFormat, inForm, type RunOptions } from "../options/index.ts"

type Due<Kind extends DueHooks["due"]> = Extract<DueHooks, { readonly due: Kind }>

/** Calls the hooks that are due; never rejects. Aborting the signal ends the wait for them. */
export const notifyHooks = (due: DueHooks, options: RunOptions, signal: AbortSignal): Promise<Verdict> => {
  switch (due.due) {
    case "begin":
      return notifyBeginning(due, options, signal)
    case "announce":
      return notifyRequest(due, options, signal)
    case "report":
      return notifyEnd(due, options, signal)
  }
}

const notifyBeginning = async (
  { thread, started, prompts }: Due<"begin">,
  options: RunOptions,
  signal: AbortSignal
): Promise<Verdict> => {
  const { hooks = {}, sessionId } = options
  const run = runOf(options, signal)
  if (started !== undefined) await notifyStart(options, run, started)
  const said: Array<ReadonlyArray<Message>> = []
  for (const prompt of prompts) {
    const payload = { prompt: text(prompt), sessionId, messages: thread.messages }
    const { transform, injects, halt } = await lifecycle(hooks, "UserPromptSubmit", payload, run)
    const words = transform === undefined ? prompt : withText(prompt, transform)
    said.push([words, ...injects.map((message) => injected(message, "UserPromptSubmit"))])
    if (halt !== undefined) return { type: "begin", said, terminal: haltedBy("UserPromptSubmit", halt) }
  }
  return { type: "begin", said }
}

const notifyStart = (
  { hooks = {}, sessionId }: Pick<RunOptions, "hooks" | "sessionId">,
  run: HookRun,
  { messages }: Thread.Thread
) => {
  const source = messages.some(({ role }) => role === "assistant") ? "revived" : "new"
  return lifecycle(hooks, "SessionStart", { sessionId, source, messages }, run)
}

const notifyRequest = async (
  { thread, iteration, isSecond }: Due<"announce">,
  options: RunOptions,
  signal: AbortSignal
): Promise<Verdict> => {
  const { engine, hooks = {}, sessionId } = options
  const run = runOf(options, signal)
  let injects: ReadonlyArray<Message> = []
  if (has(hooks, "PreIteration")) {
    const { messages } = thread
    const verdict = await lifecycle(
      hooks,
      "PreIteration",
      {
        iteration,
        unproductiveIterations: unproductiveRounds(messages),
        fingerprint: lastFingerprint(messages),
        sessionId,
        messages
      },
      run
    )
    injects = verdict.injects.map((message) => injected(message, "PreIteration"))
    const terminal = haltedBy("PreIteration", verdict.halt)
    if (terminal !== undefined) return { type: "announce", injects, aside: undefined, terminal }
  }
  if (!has(hooks, "ChatParams")) return { type: "announce", injects, aside: undefined }
  const asked = Thread.append(thread, ...injects)
  const request = requestOf({
    engine,
    thread: asked,
    options: passOptions(inForm(options, askedFormat(thread)), isSecond)
  })
  const {
    halt,
    params,
    injects: messages
  } = await lifecycle(hooks, "ChatParams", { request, sessionId, messages: asked.messages }, run)
  return { type: "announce", injects, aside: { params, messages }, terminal: haltedBy("ChatParams", halt) }
}

const notifyEnd = async (due: Due<"report">, options: RunOptions, signal: AbortSignal): Promise<Verdict> => {
  const drain = due.stopping ? drained(options, signal) : { signal, over: () => {} }
  const run = runOf(options, drain.signal)
  for (const event of due.events) {
    if (event === "SessionEnd") await notifySessionEnd(options, run, due)
    else await notifyStop(event, options, run, due.result)
  }
  drain.over()
  return { type: "report", metadata: options.storedMetadata?.ofMessage?.(undefined) }
}

const notifyStop = async (
  event: "Stop" | "StopFailure",
  { hooks = {}, sessionId }: Pick<RunOptions, "hooks" | "sessionId">,
  run: HookRun,
  ended: Held<ChatResult> | undefined
) => {
  if (ended === undefined) return
  const result = original(ended)
  await lifecycle(hooks, event, { sessionId, haltedReason: result.haltedReason, result }, run)
}

const notifySessionEnd = (
  { hooks = {}, sessionId }: Pick<RunOptions, "hooks" | "sessionId">,
  run: HookRun,
  { lastHaltedReason: haltedReason, thread }: Pick<Conversation, "lastHaltedReason" | "thread">
) => lifecycle(hooks, "SessionEnd", { sessionId, haltedReason, messages: thread.messages }, run)

/** Calls the hooks for the stop of a live chat, and waits for them at most the drain time (HOOK5). */
const notifyStopped = async (
  options: RunOptions,
  record: Pick<Conversation, "lastHaltedReason" | "thread">
): Promise<void> => {
  const { signal, over } = drained(options)
  await notifySessionEnd(options, runOf(options, signal), record)
  over()
}

/** A signal that is aborted after the drain time, or with `outer`. */
const drained = ({ drainMs, system: { clock } }: Pick<RunOptions, "drainMs" | "system">, outer?: AbortSignal) => {
  const controller = new AbortController()
  const abort = () => controller.abort()
  const timer = clock.setTimeout(abort, drainMs)
  outer?.addEventListener("abort", abort)
  const over = () => {
    clock.clearTimeout(timer)
    outer?.removeEventListener("abort", abort)
  }
  return { signal: controller.signal, over }
}

const runOf = (
  { hookTimeoutMs: timeoutMs, system, context }: Pick<RunOptions, "hookTimeoutMs" | "system" | "context">,
  signal: AbortSignal
): HookRun => ({
  signal,
  system,
  timeoutMs,
  context
})

const haltedBy = (event: LifecycleEvent, halt: HookHalt | undefined): Held<Terminal> | undefined =>
  halt === undefined
    ? undefined
    : held<Terminal>({
        reason: halt.reason,
        metadata: { haltHook: event, ...(halt.cause !== undefined && { error: halt.cause }) }
      })

/** The message with this text; in a message with other parts, it comes first and replaces the text parts. */
const withText = (message: UserMessage, words: string): UserMessage => {
  const { content } = message
  if (typeof content === "string") return { ...message, content: words }
  const rest = content.filter(({ type }) => type !== "text")
  return { ...message, content: rest.length === 0 ? words : [{ type: "text", text: words }, ...rest] }
}

/** Whether the hooks `SessionStart` and `SessionEnd` of a chat were called: each once, however many processes the chat has. */
export class LifeNotices {
  readonly #hooks: () => Hooks | undefined
  /** Whether a turn was started. */
  #began = false
  #hooksBegan = false

  constructor(hooks: () => Hooks | undefined) {
    this.#hooks = hooks
  }

  /** Whether `SessionEnd` is still to be called. */
  get needsEnd(): boolean {
    return this.#began && has(this.#hooks(), "SessionEnd")
  }

  turnStarted(): void {
    this.#began = true
  }

  /** A new process takes the place of the one with this context. */
  attached(context: ChatContext | undefined): void {
    this.#hooksBegan ||= context?.notified.started === true
  }

  /** Calls `SessionEnd`. */
  async end(options: RunOptions, context: ChatContext): Promise<void> {
    if (!this.needsEnd) return
    this.attached(context)
    if (this.#hooksBegan || !has(this.#hooks(), "SessionStart")) await notifyStopped(options, context.record)
  }
}
