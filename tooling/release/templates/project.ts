/**
 * A project as a user has it: created by `npm create troupe`, installed, and used by its scripts.
 *
 * @module
 */
import { spawn, spawnSync } from "node:child_process"
import { existsSync } from "node:fs"
import { basename, dirname, join } from "node:path"
import { root } from "../../house/workspace.ts"
import { cleaned, failureOf, run } from "../../packed/program.ts"

/** The options of `npm create troupe`. */
export interface Options {
  readonly template: string
  readonly manager: "npm" | "pnpm" | "bun"
  readonly provider?: string
  readonly store?: string
}

/** The program of each package manager, with its first arguments. */
const programs: Readonly<Record<Options["manager"], readonly [program: string, ...args: ReadonlyArray<string>]>> = {
  npm: ["npm"],
  pnpm: ["npx", "--yes", "pnpm@12"],
  bun: [join(root, "examples/node_modules/.bin/bun")]
}

/** Creates a project in a new folder, and installs its packages. */
export const createProject = async (
  project: string,
  { template, manager, provider, store }: Options,
  env: NodeJS.ProcessEnv
): Promise<ReadonlyArray<string>> => {
  const flags = Object.entries({ template, manager, provider, store }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name}`, value]
  )
  const args = ["create", "--yes", "troupe@latest", basename(project), "--", ...flags]
  const created = await run("npm", args, dirname(project), env)
  if (!created.ok) return [created.output]
  if (!created.output.includes(`${manager} install`)) return [`no next command is printed: ${created.output}`]
  const [program, ...before] = programs[manager]
  return failureOf(await run(program, [...before, "install"], project, env))
}

/** Runs a script of the project to its end. */
export const scriptProblems = async (
  project: string,
  manager: Options["manager"],
  script: string,
  env: NodeJS.ProcessEnv
): Promise<ReadonlyArray<string>> => {
  const [program, ...before] = programs[manager]
  return failureOf(await run(program, [...before, "run", script], project, env))
}

/** A running script of a project. */
export interface Running {
  /** Everything that it has printed. */
  readonly output: () => string
  /** Writes to its standard input. */
  readonly type: (text: string) => void
  /** Ends its standard input. */
  readonly endInput: () => void
  /** Resolves when its output has a text, and rejects when it ends before. */
  readonly prints: (text: string | RegExp) => Promise<void>
  readonly ended: Promise<number | null>
}

const isWindows = process.platform === "win32"

/** Starts a command in a project, and ends it with all its programs when `use` has ended. */
export const whileRunning = async <A>(
  [program, ...args]: readonly [program: string, ...args: ReadonlyArray<string>],
  project: string,
  env: NodeJS.ProcessEnv,
  use: (running: Running) => Promise<A>
): Promise<A> => {
  const child = spawn(program, args, { cwd: project, env, detached: !isWindows, shell: isWindows, stdio: "pipe" })
  let text = ""
  const readers = new Set<() => void>()
  const read = (chunk: Buffer): void => {
    text += chunk.toString()
    for (const reader of readers) reader()
  }
  child.stdout.on("data", read)
  child.stderr.on("data", read)
  // A program that ends before it has read a line breaks the pipe. `prints` and `ended` say that it has ended.
  child.stdin.on("error", () => undefined)
  let isOver = false
  const ended = new Promise<number | null>((resolve) => {
    child.once("close", resolve)
    child.once("error", () => resolve(null))
  }).finally(() => (isOver = true))
  const prints = (expected: string | RegExp): Promise<void> =>
    new Promise((resolve, reject) => {
      const matches = typeof expected === "string" ? () => text.includes(expected) : () => expected.test(text)
      const reader = (): void => {
        if (!matches()) return
        readers.delete(reader)
        resolve()
      }
      readers.add(reader)
      reader()
      void ended.then((code) =>
        reject(new Error(`${program} ended with ${code} before it printed ${expected}: ${text}`))
      )
    })
  const running: Running = {
    output: () => text,
    type: (line) => void child.stdin.write(line),
    endInput: () => void child.stdin.end(),
    prints,
    ended
  }
  const end = (): void => {
    if (!isOver) endAll(child.pid)
  }
  return cleaned(end, () => use(running)).finally(() => ended)
}

/** Ends all programs of a group, whose first one may have ended before them. Windows has no groups: it ends a tree. */
const endAll = (pid: number | undefined): void => {
  if (pid === undefined) return
  if (isWindows) return void spawnSync("taskkill", ["/pid", String(pid), "/T", "/F"])
  try {
    process.kill(-pid, "SIGKILL")
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error
  }
}

/** The command of a script of a project, with arguments. */
export const scriptCommand = (
  manager: Options["manager"],
  script: string,
  ...args: ReadonlyArray<string>
): readonly [string, ...ReadonlyArray<string>] => {
  const [program, ...before] = programs[manager]
  return [program, ...before, "run", script, ...(args.length > 0 ? ["--", ...args] : [])]
}

/** Whether a project has a file. */
export const hasFile = (project: string, path: string): boolean => existsSync(join(project, path))
