/** A server in a process of its own, controlled by its parent. */
import { type ChildProcess, fork } from "node:child_process"
import type { Answer, Order, Report } from "./child.ts"

type Asked<T extends Answer["type"]> = Extract<Answer, { readonly type: T }>

export class Remote {
  readonly #child: ChildProcess
  #port = 0
  #path = ""
  #body = ""

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  /** Starts it; with a `profile` a CPU profile is written to that folder. */
  static async start(order: Extract<Order, { readonly type: "serve" }>, profile?: string): Promise<Remote> {
    const watching = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`]
    const child = fork(new URL("child.ts", import.meta.url), { execArgv: ["--expose-gc", ...watching] })
    const remote = new Remote(child)
    const { port, paths, body } = await remote.#ask(order, "serving")
    remote.#port = port
    remote.#path = paths
    remote.#body = body
    return remote
  }

  get port(): number {
    return this.#port
  }

  get body(): string {
    return this.#body
  }

  /** The path of one client's stream. */
  path(index: number): string {
    return this.#path.replace("0", String(index))
  }

  /** Reports its memory and counts, after a garbage collection. */
  async report(): Promise<Report> {
    return (await this.#ask({ type: "report", collects: true }, "report")).report
  }

  /** Reports its memory and counts without a collection. */
  async look(): Promise<Report> {
    return (await this.#ask({ type: "report", collects: false }, "report")).report
  }

  /** Ends all replies. */
  async end(): Promise<void> {
    await this.#ask({ type: "end" }, "done")
  }

  async close(): Promise<void> {
    const gone = new Promise((resolve) => this.#child.once("exit", resolve))
    await this.#ask({ type: "close" }, "done")
    await gone
  }

  #ask<T extends Answer["type"]>(order: Order, type: T): Promise<Asked<T>> {
    const answered = new Promise<Asked<T>>((resolve, reject) => {
      const receive = (answer: Answer): void => {
        if (answer.type !== type) return
        this.#child.off("message", receive)
        this.#child.off("exit", gone)
        resolve(answer as Asked<T>)
      }
      const gone = (code: number | null): void => reject(new Error(`the server ended with ${code}`))
      this.#child.on("message", receive)
      this.#child.once("exit", gone)
    })
    this.#child.send(order)
    return answered
  }
}
