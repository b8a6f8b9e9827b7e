/**
 * The program: from the command line to the exit code.
 *
 * @module
 */
import type { Readable } from "node:stream"
import { CliError } from "./options/cliError.ts"
import { type CliOptions, parseCommandLine } from "./options/cliOptions.ts"
import { startDemoChat } from "./chat/demoChat.ts"
import { appendingDisplay } from "./output/display.ts"
import { proposals } from "@troupe/scripted"
import { chooseModel } from "./model/models.ts"
import { observe } from "./observe/observe.ts"
import { paintFor } from "./output/paint.ts"
import type { TerminalOutput } from "./output/promptOutput.ts"
import { runPiped } from "./chat/piped.ts"
import { runTerminal } from "./chat/terminal.ts"
import { progressBar } from "./output/toolLines.ts"

/** The environment of the program. */
export interface ProgramSurroundings {
  readonly args: ReadonlyArray<string>
  readonly env: Readonly<Record<string, string | undefined>>
  /** The folder of the chat's files. */
  readonly folder: string | undefined
  readonly stdin: Readable & { readonly isTTY?: boolean; readonly setRawMode?: (raw: boolean) => unknown }
  readonly stdout: TerminalOutput & { readonly isTTY?: boolean }
  readonly stderr: NodeJS.WritableStream
  /** Ends the program early: running work is cancelled and everything is stopped. */
  readonly signal: AbortSignal
}

/**
 * Runs the chat to its end and returns the exit code: 0, or 1 when the command line was wrong or an answer failed.
 *
 * **Details**: everything that was started is stopped before this resolves.
 */
export const runProgram = async (surroundings: ProgramSurroundings): Promise<0 | 1> => {
  const { args, stdout, stderr } = surroundings
  try {
    const commandLine = parseCommandLine(args)
    if (commandLine.type === "chat") return await runChat(commandLine.options, surroundings)
    if (commandLine.type === "observe") {
      const { env, stdin, signal } = surroundings
      await observe(commandLine.options, { input: stdin, output: stdout, paint: paintFor(stdout, env), signal })
      return 0
    }
    stdout.write(commandLine.text)
    return 0
  } catch (error) {
    if (!(error instanceof CliError)) throw error
    const command = args.find((word) => word !== "--") === "observe" ? "observe" : "demo"
    stderr.write(`${command}: ${error.message}\n`)
    return 1
  }
}

const clearLine = "\r\u001b[K"

const runChat = async (options: CliOptions, surroundings: ProgramSurroundings): Promise<0 | 1> => {
  const { env, folder, stdin, stdout, stderr, signal } = surroundings
  const paint = paintFor(stdout, env)
  const atTerminal = stdin.isTTY === true && stdout.isTTY === true
  const model = chooseModel(options, { env, folder: folder ?? "", wordDelayMs: atTerminal ? 15 : 0 })
  const display = appendingDisplay((text) => void stdout.write(text))
  if (atTerminal) stdout.write(paint.quiet("starting the file server …"))
  let notice = (text: string): void => void stderr.write(`${atTerminal ? clearLine : ""}${text}\n`)
  const demo = await startDemoChat({
    adapter: model.adapter,
    folder,
    onNotice: (text) => notice(paint.warn(`! ${text}`)),
    onProgress: (toolName, progress) => {
      const inQuarters = Math.max(1, Math.round(progress.total / 4))
      if (!atTerminal && progress.done % inQuarters === 0) display.line(`  … ${toolName} ${progressBar(progress)}`)
    }
  })
  try {
    if (!atTerminal) return (await runPiped({ demo, input: stdin, display, paint, signal })).failed ? 1 : 0
    const files = demo.hasFiles ? `the files in ${folder}` : "no files"
    stdout.write(
      `${clearLine}${paint.strong("Troupe")} · ${model.label} · ${files} · ${paint.accent("/help")} lists the commands\n`
    )
    for (const { text, shows } of proposals) stdout.write(`  ${text.padEnd(48)}${paint.quiet(shows)}\n`)
    stdout.write("\n")
    const onScreen = (print: (text: string) => void): void => {
      notice = print
    }
    await runTerminal({ demo, input: stdin, output: stdout, paint, signal, onScreen })
    return 0
  } finally {
    await demo.stop()
  }
}
