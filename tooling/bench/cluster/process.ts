/**
 * The processes of the nodes, on the built packages.
 *
 * Owns: the processes that it started. A node keeps its port when it is started again.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"
import type { NodeOptions, Question } from "./node.ts"

/** The files of a node's program, which run in the folder of the built packages. */
export const programFiles = ["node.ts", "model.ts"] as const

/** Starts a node; resolves when it answers requests. */
export const startNode = async (folder: string, options: Omit<NodeOptions, "port">) => {
  let asked: Promise<unknown> = Promise.resolve()
  const run = async (port: number): Promise<{ readonly child: ChildProcess; readonly port: number }> => {
    const child = fork(join(folder, programFiles[0]), [JSON.stringify({ ...options, port })], {
      execArgv: ["--expose-gc"],
      stdio: ["ignore", "inherit", "inherit", "ipc"]
    })
    const failed = once(child, "exit").then(([code]) => Promise.reject(new Error(`a node ended with ${code}`)))
    failed.catch(() => undefined)
    const [taken] = await Promise.race([once(child, "message"), failed])
    return { child, port: Number(taken) }
  }
  let { child, port } = await run(0)
  /** One question after another, as an answer does not name its question. */
  const ask = (question: Question): Promise<unknown> => {
    const answer = asked.then(async (): Promise<unknown> => {
      const answered = once(child, "message")
      child.send(question)
      return (await answered)[0]
    })
    asked = answer.catch(() => undefined)
    return answer
  }
  return {
    /** The base URL for clients. */
    base: `http://127.0.0.1:${port}`,
    get pid(): number {
      return child.pid ?? 0
    },
    /** Starts it again. */
    start: async (): Promise<void> => void ({ child, port } = await run(port)),
    signal: (signal: NodeJS.Signals): void => void child.kill(signal),
    /** Sends a signal that ends the process; resolves when it has ended. */
    end: async (signal: "SIGKILL" | "SIGTERM"): Promise<void> => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, "exit")
      child.kill(signal)
      await exited
    },
    /** Its processor time so far, in milliseconds. */
    cpuMs: () => ask("cpuMs") as Promise<number>,
    /** The bytes of its heap after a collection. */
    heapBytes: () => ask("heapBytes") as Promise<number>,
    /** Those of the chats whose home it is. */
    homesOf: (ids: ReadonlyArray<string>) => ask(ids) as Promise<ReadonlyArray<string>>
  }
}

/** A running node. */
export type NodeProcess = Awaited<ReturnType<typeof startNode>>
