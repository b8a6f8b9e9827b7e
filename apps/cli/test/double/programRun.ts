/** Runs of the program: in this process, or as a process of its own. */
import { spawn } from "node:child_process"
import { join } from "node:path"
import { PassThrough } from "node:stream"
import { runProgram } from "../../src/program.ts"

/** An ended run. */
export interface Run {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

interface RunOptions {
  readonly args?: ReadonlyArray<string>
  readonly env?: Readonly<Record<string, string>>
  /** Called with the whole output, each time it grows. `end` ends the program as a signal does. */
  readonly onOutput?: (out: string, end: () => void) => void
}

/** Runs the program in this process, on piped input and without files. */
export const runHere = async (
  input: string,
  { args = [], env = {}, onOutput = () => {} }: RunOptions = {}
): Promise<Run> => {
  const [stdin, stdout, stderr] = [new PassThrough(), new PassThrough(), new PassThrough()]
  const ending = new AbortController()
  let [out, err] = ["", ""]
  stdout.on("data", (chunk: Buffer) => {
    out += chunk.toString()
    onOutput(out, () => ending.abort())
  })
  stderr.on("data", (chunk: Buffer) => (err += chunk.toString()))
  stdin.end(input)
  const code = await runProgram({ args, env, folder: undefined, stdin, stdout, stderr, signal: ending.signal })
  return { code, out, err }
}

/** An ended process. */
export interface ProcessRun extends Run {
  /** Whether a process that it started outlives it. */
  readonly leftovers: boolean
}

interface ProcessOptions extends Omit<RunOptions, "onOutput"> {
  readonly folder?: string
  /** Sent to itself when it starts its first process, which is its file server: before it has read a line. */
  readonly startUpSignal?: NodeJS.Signals
  /** Sent once the output contains a text. */
  readonly interrupt?: { readonly when: string; readonly signal: NodeJS.Signals }
}

const main = join(import.meta.dirname, "../../src/main.ts")

/** Runs the program as a process, in a group of its own, so that a test sees each process that it leaves behind. */
export const runProcess = (
  input: string,
  { args = [], env = {}, folder = import.meta.dirname, startUpSignal, interrupt }: ProcessOptions = {}
): Promise<ProcessRun> =>
  new Promise((resolve, reject) => {
    const { PATH = "", HOME = "", NODE_COMPILE_CACHE = "" } = process.env
    const preload = startUpSignal === undefined ? [] : ["--import", signallingItself(startUpSignal)]
    const running = spawn(process.execPath, [...preload, main, ...args], {
      cwd: folder,
      detached: true,
      env: { PATH, HOME, NODE_COMPILE_CACHE, ...env }
    })
    let [out, err] = ["", ""]
    let interrupted = false
    running.stdout.on("data", (chunk: Buffer) => {
      out += chunk.toString()
      if (interrupt === undefined || interrupted || !out.includes(interrupt.when)) return
      interrupted = true
      running.kill(interrupt.signal)
    })
    running.stderr.on("data", (chunk: Buffer) => (err += chunk.toString()))
    running.on("error", reject)
    running.on("close", (code) => resolve({ code, out, err, leftovers: groupLives(running.pid ?? 0) }))
    if (interrupt === undefined) running.stdin.end(input)
    else running.stdin.write(input)
  })

/** A module that signals the process it is loaded in when that process starts its first child. */
const signallingItself = (signal: NodeJS.Signals): string => {
  const source = [
    'import { subscribe, unsubscribe } from "node:diagnostics_channel"',
    `const notify = () => { unsubscribe("child_process", notify); process.kill(process.pid, "${signal}") }`,
    'subscribe("child_process", notify)'
  ].join("\n")
  return `data:text/javascript,${encodeURIComponent(source)}`
}

const groupLives = (leader: number): boolean => {
  try {
    return process.kill(-leader, 0)
  } catch {
    return false
  }
}
