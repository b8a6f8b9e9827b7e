/** The functions that the tests' isolated tools run. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { writeSync } from "node:fs"
import { createServer } from "node:net"
import { parentPort, threadId } from "node:worker_threads"
import type { IsolatedContext } from "../../src/index.ts"

export const double = (args: { readonly n: number }): number => args.n * 2

/** Says where it runs, then never yields again. */
export const busy = async (_args: object, { progress }: IsolatedContext): Promise<never> => {
  progress({ pid: process.pid, threadId })
  await new Promise((resolve) => setImmediate(resolve))
  for (;;);
}

/** Starts a program that runs long, and answers its id. Windows has no such program. */
const program = (): number | undefined =>
  process.platform === "win32" ? undefined : spawn("sleep", ["1000"], { stdio: "ignore" }).pid

/** Starts a program, says where both run, then never yields again. */
export const busyWithPrograms = async (_args: object, { progress }: IsolatedContext): Promise<never> => {
  progress({ pid: process.pid, threadId, program: program() })
  await new Promise((resolve) => setImmediate(resolve))
  for (;;);
}

/** Starts a program, and ends while that still runs. */
export const leavesProgram = (_args: object, { progress }: IsolatedContext): string => {
  progress({ pid: process.pid, program: program() })
  return "left"
}

/** Starts a shell, which exits, and leaves a program in the background; another program has ended by then. */
export const leavesBehindShell = async (_args: object, { progress }: IsolatedContext): Promise<string> => {
  await once(spawn("true", { stdio: "ignore" }), "exit")
  const shell = spawn("sh", ["-c", "sleep 1000 & echo $!"], { stdio: ["ignore", "pipe", "ignore"] })
  const [line] = (await once(shell.stdout, "data")) as [Buffer]
  if (shell.exitCode === null) await once(shell, "exit")
  progress({ pid: process.pid, program: Number(String(line)) })
  return "left"
}

/** Sends what a library might send to whoever started its process, and what looks like an outcome. */
export const sendsStrays = (): string => {
  const forged = { type: "settled", result: { type: "ok", value: "forged" } }
  for (const dropped of [null, undefined, 7, "ready", {}, forged, { nonce: "", ...forged }, new Uint8Array(64)]) {
    if (parentPort === null) process.send?.(dropped)
    else parentPort.postMessage(dropped, [])
  }
  return "own"
}

/** Writes to a file descriptor that is not its own. */
export const writesBytes = ({ bytes }: { readonly bytes: string }): string => {
  writeSync(3, Buffer.from(bytes, "hex"))
  return "own"
}

/** Fills the heap. */
export const fills = (): never => {
  const kept: Array<unknown> = []
  for (;;) kept.push(Array.from({ length: 1_000 }, () => ({})))
}

export const returns = ({ bytes }: { readonly bytes: number }): string => "x".repeat(bytes)

export const reports = ({ bytes }: { readonly bytes: number }, { progress }: IsolatedContext): string => {
  progress("x".repeat(bytes))
  return "reported"
}

export const raises = ({ bytes }: { readonly bytes: number }): never => {
  throw new Error("x".repeat(bytes))
}

const unreadable = (): never => {
  throw new Error("this field cannot be read")
}

/** Throws what no error of a careful library is. */
export const raisesOddly = ({ how }: { readonly how: string }): never => {
  const error = new Error("odd")
  const odd: PropertyDescriptor =
    how === "message" ? { value: { code: 7 } } : how === "stack" ? { value: ["at a"] } : { get: unreadable }
  throw Object.defineProperty(error, how === "getter" ? "message" : how, odd)
}

/** Sends that many messages that are not its job's, and then waits for its end. */
export const floods = ({ messages }: { readonly messages: number }): Promise<never> => {
  for (let n = 0; n < messages; n++) {
    if (parentPort === null) process.send?.(n)
    else parentPort.postMessage(n, [])
  }
  return new Promise(() => {})
}

/** Exits while a program in a session of its own holds its pipes. */
export const leavesPipes = async (_args: object, { progress }: IsolatedContext): Promise<never> => {
  const holder = spawn("sleep", ["1000"], { detached: true, stdio: ["ignore", "ignore", "ignore", 3, 4] })
  progress({ pid: holder.pid })
  await new Promise((resolve) => setImmediate(resolve))
  process.exit(7)
}

/** Which of these names are in its environment. */
export const environment = ({ names }: { readonly names: ReadonlyArray<string> }): ReadonlyArray<string | undefined> =>
  names.map((name) => process.env[name])

/** Ends when its signal is aborted, and reports that. */
export const obedient = (_args: object, { progress, signal }: IsolatedContext): Promise<string> =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => {
      progress("told")
      resolve("late")
    })
    progress("running")
  })

export const notified = ({ context, toolCall, sessionId, requestId, idempotencyKey }: IsolatedContext): object => ({
  context,
  toolCall,
  sessionId,
  requestId,
  idempotencyKey
})

/** Reads what only a handler has. */
export const reads = (args: { readonly name: string }, context: IsolatedContext): unknown =>
  Reflect.get(context, args.name)

export const saysContext = (_args: object, context: IsolatedContext): object => notified(context)

/** Without imports that take time to load. */
export const ends = ({ how }: { readonly how: string }): unknown => {
  switch (how) {
    case "alike":
      return { type: "error", reason: "a value" }
    case "throw":
      throw new TypeError("kaboom")
    case "throw text":
      throw "only text"
    case "reject":
      return Promise.reject(new Error("later"))
    case "exit":
      return process.exit(7)
    case "uncaught":
      setImmediate(() => {
        throw new Error("out of reach")
      })
      return new Promise(() => {})
    case "unsendable":
      return { f: () => 1 }
    case "open handles":
      return new Promise((resolve) => createServer().listen(0, () => resolve("done")))
    default:
      return undefined
  }
}

export const notAFunction = 7
