/**
 * The program of a place: it takes one job, runs its function, sends the outcome and exits.
 *
 * ENTRY1. The nonce of the job is in no variable that the function's code can reach.
 * ENTRY2. A child process whose host has ended kills its own process group at once, also when its main thread never yields.
 * ENTRY3. `process.send` of a child reaches the host as a message without a nonce, which the host ignores and counts.
 * ISO7. The function sees the environment variables of `env`, and no others.
 */
import { Socket } from "node:net"
import { deserialize } from "node:v8"
import { parentPort, Worker } from "node:worker_threads"
import type { Effect as AnyEffect } from "effect/Effect"
import type { Tool } from "@troupe/chat/tools"
import type { IsolatedContext } from "./Isolated.ts"
import { cut, stackOf, textOf } from "./errorText.ts"
import { FrameReader, framed } from "./frames.ts"
import type { FromPlace, Job, SentResult, ToPlace } from "./job.ts"
import { channelFd, hostFd } from "./pipes.ts"
import { Oversized, signed } from "./signature.ts"
import { guardPrograms } from "./threadPrograms.ts"

/** Sends a message to the host, and calls `then` when it has left. */
type Send = (message: Uint8Array, then: () => void) => void

/** Signs a message and sends it. Throws when it cannot be sent. */
type Say = (message: FromPlace, then?: () => void) => void

const abort = new AbortController()

const received = (message: ToPlace, send: Send): void => {
  if (message.type === "abort") return abort.abort()
  const { nonce, maxBytes, env } = message
  leaveOnly(env)
  const say: Say = (said, then = () => {}) => send(signed(said, nonce, maxBytes), then)
  process.on("uncaughtException", (error) => leaveWith(say, crashedBy(error, maxBytes)))
  void perform(message, say).then((outcome) => leaveWith(say, outcome))
}

const openThread = (port: NonNullable<typeof parentPort>): void => {
  if (hasGroups) guardPrograms()
  const send: Send = (message, then) => {
    port.postMessage(message, [])
    then()
  }
  port.on("message", (message: ToPlace) => received(message, send))
}

/** A thread has a copy of its program's environment, and modules that are preloaded add variables (ISO7). */
const leaveOnly = (env: Readonly<Record<string, string>>): void => {
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
}

const openChild = (): void => {
  watchHost()
  const channel = new Socket({ fd: channelFd, readable: true, writable: true })
  const send: Send = (message, then) => void channel.write(framed(message), then)
  const reader = new FrameReader((message) => received(deserialize(message) as ToPlace, send))
  channel.on("data", (chunk) => reader.push(chunk))
  channel.on("error", () => {})
  channel.on("close", endGroup)
  process.send = (...args: ReadonlyArray<unknown>) => {
    const sent = args.at(-1)
    send(new Uint8Array(), () => {
      if (typeof sent === "function") sent(null)
    })
    return true
  }
}

/** On Windows there are no process groups. */
const hasGroups = process.platform !== "win32"

const group = hasGroups ? -process.pid : process.pid

const endGroup = (): void => void process.kill(group, "SIGKILL")

/**
 * Waits in a thread of its own for the end of the host's pipe (ENTRY2). The program of the thread loads no file, so that it
 * needs nothing of the main thread.
 */
const watchHost = (): void => {
  const program = `
    const end = () => process.kill(${group}, "SIGKILL")
    new (require("node:net").Socket)({ fd: ${hostFd}, readable: true, writable: false })
      .on("error", end).on("close", end).resume()`
  new Worker(program, { eval: true, env: {}, execArgv: [], resourceLimits: { maxOldGenerationSizeMb: 16 } }).unref()
}

/** The maximum characters of the reason why a result cannot be copied: the reason quotes the value. */
const maxReasonCharacters = 200

/** Sends the last message and exits: timers or servers that the function left do not keep the place open. */
const leaveWith = (say: Say, message: FromPlace): void => {
  const leave = () => process.exit()
  try {
    say(message, leave)
  } catch (error) {
    const { bytes } = error instanceof Oversized ? error : { bytes: undefined }
    say(
      bytes === undefined
        ? { type: "unsendable", message: cut(textOf(error), maxReasonCharacters) }
        : { type: "oversized", bytes },
      leave
    )
  }
}

const perform = async (job: Job, say: Say): Promise<FromPlace> => {
  try {
    const module: Record<string, unknown> = await import(job.module)
    const run = module[job.export]
    if (typeof run !== "function") throw new TypeError(`${job.module} exports no function ${job.export}`)
    const returned: unknown = await run(job.args, contextOf(job, say))
    const value = isEffect(returned) ? await runEffect(returned) : returned
    return { type: "settled", result: await resultOf(value) }
  } catch (error) {
    return raisedBy(error, job.maxBytes)
  }
}

/** The text of an error is cut, so that its message never has more than `maxBytes`: a character has at most two bytes. */
const raisedBy = (error: unknown, maxBytes: number): FromPlace => {
  const stack = stackOf(error)
  return {
    type: "raised",
    message: cut(textOf(error), maxBytes >> 2),
    stack: stack === undefined ? undefined : cut(stack, maxBytes >> 3)
  }
}

const crashedBy = (error: unknown, maxBytes: number): FromPlace => ({
  type: "crashed",
  message: cut(textOf(error), maxBytes >> 2)
})

const contextOf = ({ context, sessionId, requestId, toolCall, idempotencyKey }: Job, say: Say): IsolatedContext =>
  withoutTheRest({
    context,
    sessionId,
    requestId,
    toolCall,
    idempotencyKey,
    signal: abort.signal,
    progress: (value) => say({ type: "progress", value })
  })

/** Fields of a handler's context that cannot be sent: reading one throws an error that explains it. */
const withoutTheRest = (context: IsolatedContext): IsolatedContext => {
  for (const name of ["engine", "chat", "setPermissionMode"] satisfies ReadonlyArray<keyof Tool.ToolContext>) {
    const get = (): never => {
      throw new TypeError(`an isolated tool has no context.${name}: what it needs is in its arguments and its context`)
    }
    Object.defineProperty(context, name, { get, enumerable: false })
  }
  return context
}

const isEffect = (value: unknown): value is AnyEffect<unknown, unknown> =>
  typeof value === "object" && value !== null && "~effect/Effect" in value

/** Runs an Effect. The package is already loaded if the function returned one. */
const runEffect = async (effect: AnyEffect<unknown, unknown>): Promise<unknown> => {
  const { runPromise } = await import("effect/Effect")
  return runPromise(effect, { signal: abort.signal })
}

/** The outcome of a value: itself if a constructor of outcomes made it. The constructors are already loaded then. */
const resultOf = async (value: unknown): Promise<SentResult> => {
  const type: unknown = typeof value === "object" && value !== null && "type" in value ? value.type : undefined
  if (type === "ok" || type === "error" || type === "ask_user" || type === "halt") {
    const { isBranded } = await import("@troupe/chat/results")
    if (isBranded(value)) return value as SentResult
  }
  return { type: "ok", value }
}

if (parentPort === null) openChild()
else openThread(parentPort)
