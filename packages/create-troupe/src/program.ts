/**
 * The program: from the command line to a project.
 *
 * @module
 */
import { spawn } from "node:child_process"
import { relative } from "node:path"
import { type Choices, lists, type Manager, parts } from "./choices.ts"
import { help, readCommandLine } from "./commandLine.ts"
import { CreateError } from "./CreateError.ts"
import { writeProject } from "./project.ts"
import { type Plan, planWithoutQuestions, planWithQuestions } from "./questions.ts"

/** The package manager that runs this program. */
const runningManager = (): Manager => {
  const agent = process.env["npm_config_user_agent"] ?? ""
  return lists.manager.find((name) => agent.startsWith(`${name}/`)) ?? lists.manager[0]
}

/** Runs the package manager, which prints its own progress. */
const install = (folder: string, manager: Manager): Promise<void> =>
  new Promise((resolve, reject) => {
    // A shell finds `npm.cmd` on Windows. The command is a word of the list of package managers.
    const running = spawn(`${manager} install`, { cwd: folder, shell: true, stdio: "inherit" })
    const fail = (cause?: unknown): void => {
      const message = `The project is complete, but ${manager} install failed: run it again in ${folder}.`
      reject(new CreateError("install_failed", message, { cause }))
    }
    running.once("error", fail)
    running.once("close", (code) => (code === 0 ? resolve() : fail()))
  })

/** The commands that the user runs next. */
const nextCommands = (plan: Plan, folder: string): ReadonlyArray<string> => {
  const { template, provider, store, manager }: Choices = plan.choices
  const { options } = parts[template]
  const path = relative(process.cwd(), folder)
  return [
    ...(path === "" ? [] : [`cd ${path.includes(" ") ? `"${path}"` : path}`]),
    ...(plan.install ? [] : [`${manager} install`]),
    ...(options.includes("provider") && provider !== "scripted"
      ? ["cp .env.example .env   # and write your key into it"]
      : []),
    ...(options.includes("store") && store === "postgres" ? ["docker compose up --detach"] : []),
    `${manager} run dev`
  ]
}

/** Runs the program. **Errors**: rejects with a `CreateError`. */
export const runProgram = async (args: ReadonlyArray<string>): Promise<void> => {
  const commandLine = readCommandLine(args)
  if (commandLine.help) return void process.stdout.write(help)
  const isTerminal = process.stdin.isTTY && process.stdout.isTTY
  if (!isTerminal && !commandLine.yes && commandLine.choices.template === undefined) {
    const message = "There is no terminal to ask in: pass --template, or --yes for the default."
    throw new CreateError("missing_choice", message)
  }
  const asks = isTerminal && !commandLine.yes
  const plan = asks
    ? await planWithQuestions(commandLine, runningManager())
    : planWithoutQuestions(commandLine, runningManager())
  const folder = writeProject(plan.folder, plan.choices)
  if (plan.install) await install(folder, plan.choices.manager)
  const lines = nextCommands(plan, folder).map((line) => `  ${line}\n`)
  process.stdout.write(`\nThe project is in ${folder}. Next:\n\n${lines.join("")}\n`)
}
