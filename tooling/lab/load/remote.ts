/** A server in a process of its own, whose methods its parent calls one after another. */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import type { Methods, Report } from "./child.ts"
import type { Kind } from "./served.ts"

export class Remote {
  readonly #child: ChildProcess
  #address = { port: 0, path: "", body: "" }

  private constructor(child: ChildProcess) {
    this.#child = child
  }

  /** Starts it; with a `profile` a CPU profile is written to that folder. */
  static async start(what: Kind, wordsPerSecond: number, words: number, profile?: string): Promise<Remote> {
    const watching = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`]
    const child = fork(new URL("child.ts", import.meta.url), { execArgv: ["--expose-gc", ...watching] })
    const remote = new Remote(child)
    remote.#address = await remote.#call("serve", what, wordsPerSecond, words)
    return remote
  }

  /** Where a client posts for its own stream. */
  addressOf(index: number): readonly [port: number, path: string, body: string] {
    const { port, path, body } = this.#address
    return [port, path.replace("0", String(index)), body]
  }

  /** Reports its memory and counts, after a garbage collection if it `collects`. */
  report(collects = true): Promise<Report> {
    return this.#call("report", collects)
  }

  /** Ends all replies. */
  end(): Promise<void> {
    return this.#call("end")
  }

  async close(): Promise<void> {
    const gone = once(this.#child, "exit")
    await this.#call("close")
    await gone
  }

  async #call<Name extends keyof Methods>(
    name: Name,
    ...args: Parameters<Methods[Name]>
  ): Promise<Awaited<ReturnType<Methods[Name]>>> {
    const over = new AbortController()
    const answered = once(this.#child, "message", over)
    const gone = once(this.#child, "exit", over).then(([code]) =>
      Promise.reject(new Error(`the server ended with ${code}`))
    )
    this.#child.send([name, ...args])
    try {
      const [{ value }] = (await Promise.race([answered, gone])) as [{ value: Awaited<ReturnType<Methods[Name]>> }]
      return value
    } finally {
      over.abort()
      answered.catch(() => {})
      gone.catch(() => {})
    }
  }
}
