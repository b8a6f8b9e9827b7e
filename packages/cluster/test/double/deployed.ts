/** Nodes in processes of their own, for clients that read replies while the nodes are replaced. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import { onTestFailed, onTestFinished } from "vitest"

/** The options of a node's program. */
export interface DeployOptions {
  readonly url: string
  readonly role: "home" | "gateway"
  readonly leaseMs: number
  /** The names of the clients: each has a server under its name, and is an owner of this name. */
  readonly clients: ReadonlyArray<string>
}

/** The reply of the model after the payment, as it streams. */
export const pieces = ["Once ", "upon ", "a ", "time ", "there ", "was ", "a ", "whale."]

/** The last lines that all nodes wrote, with their times: they are printed when a test fails. */
class Log {
  readonly #lines: Array<string> = []

  constructor() {
    onTestFailed(() => void process.stderr.write(`${this.#lines.join("\n")}\n`))
  }

  add(node: string, text: string): void {
    const line = `${(performance.now() / 1_000).toFixed(3)} ${node}: ${text}`
    if (text !== "" && this.#lines.push(line) > 400) this.#lines.shift()
  }
}

/** A message that is answered at once, without a payment. */
export const warm = "warm"

const program = fileURLToPath(new URL("deployNode.ts", import.meta.url))

/** Starts nodes of one cluster: `node` resolves when its node is ready. */
export const deployment = () => {
  const log = new Log()
  return { node: (options: DeployOptions) => deployNode(options, log) }
}

const deployNode = async (options: DeployOptions, log: Log) => {
  const child = spawn(process.execPath, [program, JSON.stringify(options)], { stdio: ["ignore", "pipe", "pipe"] })
  const name = `${options.role} ${child.pid}`
  child.stderr.setEncoding("utf8").on("data", (text: string) => log.add(name, text))
  const exited = once(child, "exit").then(([code]) => code as number | null)
  onTestFinished(async () => {
    child.kill("SIGKILL")
    await exited
  })
  const ready = Promise.withResolvers<string>()
  const payers: Array<string> = []
  const replies: Array<string> = []
  let rest = ""
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const lines = `${rest}${chunk}`.split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) {
      log.add(name, line)
      const { ready: base, payer, replying } = JSON.parse(line) as Partial<Record<string, string>>
      if (base !== undefined) ready.resolve(base)
      if (payer !== undefined) payers.push(payer)
      if (replying !== undefined) replies.push(replying)
    }
  })
  void exited.then((code) => ready.reject(new Error(`a node ended before it was ready: ${code}`)))
  const base = await ready.promise
  /** Sends SIGTERM; resolves with the exit code of the process. */
  const leave = (): Promise<number | null> => {
    log.add(name, "SIGTERM")
    child.kill("SIGTERM")
    return exited
  }
  return { base, payers, replies, leave }
}
