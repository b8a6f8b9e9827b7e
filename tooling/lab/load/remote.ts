/**
 * A server in a process of its own, which obeys its parent one verb after another.
 *
 * `node remote.ts <kind> <rate> <words>` is that process: it answers each line of its input with a report.
 */
import { createInterface } from "node:readline"
import { launch } from "../child.ts"
import { paceOf } from "./pace.ts"
import { type Kind, serve } from "./served.ts"

/** The memory and counts of a server: `open` streams of the model, and how many were ever `begun`. */
export type Report = Readonly<
  Record<"port" | "cpuMs" | "heap" | "rss" | "open" | "begun" | "sockets" | "chats", number>
>

/** Reports, after a garbage collection; ends all replies; or closes the server. */
type Verb = "report" | "collect" | "end" | "close"

export type Remote = Awaited<ReturnType<typeof startRemote>>

/** Starts a server; with a `profile` a CPU profile is written to that folder. */
export const startRemote = async (kind: Kind, wordsPerSecond: number, words: number, profile = "") => {
  const watching = profile === "" ? [] : ["--cpu-prof", `--cpu-prof-dir=${profile}`]
  let answer = Promise.withResolvers<Report>()
  const onLine = (line: string): void => answer.resolve(JSON.parse(line) as Report)
  const args = [kind, String(wordsPerSecond), String(words)]
  const { child, closed } = launch(new URL(import.meta.url), args, onLine, ["--expose-gc", ...watching])
  void closed.then((end) => answer.reject(new Error(`the server ended with ${end}`)))
  /** Makes it do something, and returns its memory and counts after that. */
  const call = (verb: Verb): Promise<Report> => {
    answer = Promise.withResolvers()
    child.stdin.write(`${verb}\n`)
    return answer.promise
  }
  const { port } = await answer.promise
  const close = async (): Promise<void> => {
    await call("close")
    child.stdin.end()
    await closed
  }
  return { port, call, close }
}

const obey = async (kind = "bare", rate = "", words = ""): Promise<void> => {
  const pace = paceOf(Number(rate))
  const { url, chats, close } = await serve[kind as Kind](pace, Number(words))
  const verbs: Readonly<Record<Verb, () => unknown>> = {
    report: () => {},
    collect: () => (globalThis as { readonly gc?: () => void }).gc?.(),
    end: () => pace.end(),
    close
  }
  const report = (): void => {
    const { user, system } = process.cpuUsage()
    const { heapUsed: heap, rss } = process.memoryUsage()
    const sockets = process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length
    const { open, begun } = pace
    const port = Number(new URL(url).port)
    const made: Report = { port, cpuMs: (user + system) / 1_000, heap, rss, open, begun, sockets, chats: chats() }
    console.log(JSON.stringify(made))
  }
  report()
  // The server exits when its parent has closed the input.
  for await (const verb of createInterface({ input: process.stdin })) {
    await verbs[verb as Verb]()
    report()
  }
  process.exit()
}

if (import.meta.main) await obey(...process.argv.slice(2))
