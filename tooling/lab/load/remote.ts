/** A server in a process of its own, which obeys its parent one verb after another. */
import { launch, type Launched } from "../child.ts"
import type { Report, Verb } from "./child.ts"
import type { Kind } from "./served.ts"

export class Remote {
  readonly #launched: Launched
  #answer: (report: Report) => void = () => {}
  port = 0

  /** Starts it; with a `profile` a CPU profile is written to that folder. */
  static async start(kind: Kind, wordsPerSecond: number, words: number, profile?: string): Promise<Remote> {
    const watching = profile === undefined ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`]
    const remote = new Remote(kind, [String(wordsPerSecond), String(words)], ["--expose-gc", ...watching])
    remote.port = (await remote.#next()).port
    return remote
  }

  private constructor(kind: Kind, args: ReadonlyArray<string>, nodeArgs: ReadonlyArray<string>) {
    const program = new URL("child.ts", import.meta.url)
    this.#launched = launch(program, [kind, ...args], (line) => this.#answer(JSON.parse(line) as Report), nodeArgs)
  }

  /** Makes it do something, and returns its memory and counts after that. */
  call(verb: Verb): Promise<Report> {
    this.#launched.child.stdin?.write(`${verb}\n`)
    return this.#next()
  }

  async close(): Promise<void> {
    await this.call("close")
    this.#launched.child.stdin?.end()
    await this.#launched.closed
  }

  #next(): Promise<Report> {
    const { promise, resolve, reject } = Promise.withResolvers<Report>()
    this.#answer = resolve
    void this.#launched.closed.then((end) => reject(new Error(`the server ended with ${end}`)))
    return promise
  }
}
