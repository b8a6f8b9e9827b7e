/** The functions that the tests' isolated tools run. */
import { createServer } from "node:net"
import { threadId } from "node:worker_threads"
import type { IsolatedContext } from "../../src/index.ts"

export const double = (args: { readonly n: number }): number => args.n * 2

/** Says where it runs, then never yields again. */
export const busy = async (_args: object, { progress }: IsolatedContext): Promise<never> => {
  progress({ pid: process.pid, threadId })
  await new Promise((resolve) => setImmediate(resolve))
  for (;;);
}

/** Ends when it is told, and says so. */
export const obedient = (_args: object, { progress, signal }: IsolatedContext): Promise<string> =>
  new Promise((resolve) => {
    signal.addEventListener("abort", () => {
      progress("told")
      resolve("late")
    })
    progress("running")
  })

export const told = ({ context, toolCall, sessionId, requestId, idempotencyKey }: IsolatedContext): object => ({
  context,
  toolCall,
  sessionId,
  requestId,
  idempotencyKey
})

/** Reads what only a handler has. */
export const reads = (args: { readonly name: string }, context: IsolatedContext): unknown =>
  Reflect.get(context, args.name)

export const saysContext = (_args: object, context: IsolatedContext): object => told(context)

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
