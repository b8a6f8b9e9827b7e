/** What runs in the place: it takes one job, runs its function, says how that ended, and leaves. */
import { parentPort } from "node:worker_threads"
import type { Effect as AnyEffect } from "effect/Effect"
import type { ToolContext } from "@troupe/chat/Tool"
import type { IsolatedContext } from "../Isolated.ts"
import type { FromPlace, Job, SentResult, ToPlace } from "./job.ts"

const abort = new AbortController()

/** Throws when the message cannot be sent; `then` runs when it has left. */
const say = (message: FromPlace, then: () => void = () => {}): void => {
  if (parentPort === null) process.send?.(message, then)
  else {
    parentPort.postMessage(message, [])
    then()
  }
}

const received = (message: ToPlace): void => {
  if (message.type === "abort") abort.abort()
  else void perform(message).then(leaveWith)
}

if (parentPort === null) {
  process.on("message", received)
  // Nobody is left to answer to.
  process.on("disconnect", () => process.exit())
} else parentPort.on("message", received)

process.on("uncaughtException", (error) => leaveWith({ type: "crashed", message: textOf(error) }))

/** What the function left behind, timers or servers, does not keep the place open. */
const leaveWith = (message: FromPlace): void => {
  const leave = () => process.exit()
  try {
    say(message, leave)
  } catch (error) {
    say({ type: "unsendable", message: textOf(error) }, leave)
  }
}

const perform = async (job: Job): Promise<FromPlace> => {
  try {
    const module: Record<string, unknown> = await import(job.module)
    const run = module[job.export]
    if (typeof run !== "function") throw new TypeError(`${job.module} exports no function ${job.export}`)
    const returned: unknown = await run(job.args, contextOf(job))
    const value = isEffect(returned) ? await runEffect(returned) : returned
    return { type: "settled", result: await resultOf(value) }
  } catch (error) {
    return { type: "raised", message: textOf(error), stack: error instanceof Error ? error.stack : undefined }
  }
}

const contextOf = ({ context, sessionId, requestId, toolCall, idempotencyKey }: Job): IsolatedContext =>
  withoutTheRest({
    context,
    sessionId,
    requestId,
    toolCall,
    idempotencyKey,
    signal: abort.signal,
    progress: (value) => say({ type: "progress", value })
  })

/** What a handler has elsewhere cannot be sent here; whoever reads it is told so. */
const withoutTheRest = (context: IsolatedContext): IsolatedContext => {
  for (const name of ["engine", "chat", "setPermissionMode"] satisfies ReadonlyArray<keyof ToolContext>) {
    const get = (): never => {
      throw new TypeError(`an isolated tool has no context.${name}: what it needs is in its arguments and its context`)
    }
    Object.defineProperty(context, name, { get, enumerable: false })
  }
  return context
}

const isEffect = (value: unknown): value is AnyEffect<unknown, unknown> =>
  typeof value === "object" && value !== null && "~effect/Effect" in value

/** Effect is loaded already if there is one to run. */
const runEffect = async (effect: AnyEffect<unknown, unknown>): Promise<unknown> => {
  const { runPromise } = await import("effect/Effect")
  return runPromise(effect, { signal: abort.signal })
}

/** An outcome if one of the constructors made it, else the value as one; they are loaded already if one did. */
const resultOf = async (value: unknown): Promise<SentResult> => {
  const type: unknown = typeof value === "object" && value !== null && "type" in value ? value.type : undefined
  if (type === "ok" || type === "error" || type === "ask_user" || type === "halt") {
    const { isBranded } = await import("@troupe/chat/HandlerResult")
    if (isBranded(value)) return value as SentResult
  }
  return { type: "ok", value }
}

const textOf = (error: unknown): string => {
  try {
    return error instanceof Error ? error.message : String(error)
  } catch {
    return "something that has no text"
  }
}
