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

export class NodeProcess {
  readonly #folder: string
  readonly #options: Omit<NodeOptions, "port">
  #port = 0
  #child: ChildProcess | undefined
  #asked: Promise<unknown> = Promise.resolve()

  private constructor(folder: string, options: Omit<NodeOptions, "port">) {
    this.#folder = folder
    this.#options = options
  }

  /** Starts a node; resolves when it answers requests. */
  static async start(folder: string, options: Omit<NodeOptions, "port">): Promise<NodeProcess> {
    const node = new NodeProcess(folder, options)
    await node.start()
    return node
  }

  /** The base URL for clients. */
  get base(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  get pid(): number {
    return this.#running.pid ?? 0
  }

  /** Starts it again. */
  async start(): Promise<void> {
    const options: NodeOptions = { ...this.#options, port: this.#port }
    const child = fork(join(this.#folder, programFiles[0]), [JSON.stringify(options)], {
      execArgv: ["--expose-gc"],
      stdio: ["ignore", "inherit", "inherit", "ipc"]
    })
    this.#child = child
    const failed = once(child, "exit").then(([code]) => Promise.reject(new Error(`a node ended with ${code}`)))
    failed.catch(() => undefined)
    const [port] = await Promise.race([once(child, "message"), failed])
    this.#port = Number(port)
  }

  signal(signal: NodeJS.Signals): void {
    this.#running.kill(signal)
  }

  /** Sends a signal that ends the process; resolves when it has ended. */
  async end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child
    this.#child = undefined
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return
    const exited = once(child, "exit")
    child.kill(signal)
    await exited
  }

  /** Its processor time so far, in milliseconds. */
  cpuMs(): Promise<number> {
    return this.#ask({ type: "cpuMs" }) as Promise<number>
  }

  /** The bytes of its heap after a collection. */
  heapBytes(): Promise<number> {
    return this.#ask({ type: "heapBytes" }) as Promise<number>
  }

  /** Those of the chats whose home it is. */
  homesOf(ids: ReadonlyArray<string>): Promise<ReadonlyArray<string>> {
    return this.#ask({ type: "homes", ids }) as Promise<ReadonlyArray<string>>
  }

  get #running(): ChildProcess {
    if (this.#child === undefined) throw new Error("the node does not run")
    return this.#child
  }

  /** One question after another, as an answer does not name its question. */
  #ask(question: Question): Promise<unknown> {
    const asked = this.#asked.then(() => this.#answerTo(question))
    this.#asked = asked.catch(() => undefined)
    return asked
  }

  async #answerTo(question: Question): Promise<unknown> {
    const child = this.#running
    const answered = once(child, "message")
    child.send(question)
    const [answer] = (await answered) as ReadonlyArray<unknown>
    return answer
  }
}
