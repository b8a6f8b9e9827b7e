/**
 * The chat in a terminal.
 *
 * **Owns** the line editor, the lines typed ahead, and the turn that is shown. Does not own the chat or the terminal. Calls
 * the chat's Promise interface, and the terminal through the screen.
 *
 * - TERM1. One turn is shown at a time. A line typed during it waits for its end, unless it is a command about the system.
 * - TERM2. Ctrl-C during a turn cancels only that turn; the chat stays.
 * - TERM3. At the prompt Ctrl-C clears the line; on an empty line the first warns and the second quits.
 * - TERM4. Every exit (`/quit`, Ctrl-D, Ctrl-C twice, a signal) closes the editor and returns in the same place.
 *
 * @module
 */
import { createInterface } from "node:readline"
import { commandNames, isAnytimeCommand, isCommand, runCommand } from "./commands.ts"
import type { DemoChat } from "./demoChat.ts"
import {
  duration,
  liveLine,
  makePromptOutput,
  makeScreen,
  type Paint,
  reportTurn,
  spinner,
  type TerminalOutput
} from "../output/index.ts"

/** The environment of a terminal chat. */
export interface TerminalSurroundings {
  readonly demo: DemoChat
  readonly input: NodeJS.ReadableStream
  readonly output: TerminalOutput
  readonly paint: Paint
  /** Ends it early. */
  readonly signal: AbortSignal
  /** Called with the function that prints a line above the current screen. */
  readonly onScreen: (print: (text: string) => void) => void
}

/** Runs the chat until the user quits. */
export const runTerminal = async ({
  demo,
  input,
  output,
  paint,
  signal,
  onScreen
}: TerminalSurroundings): Promise<void> => {
  const gate = makePromptOutput(output)
  const screen = makeScreen(output)
  const editor = createInterface({ input, output: gate.stream, terminal: true, historySize: 200, completer: complete })
  const typedAhead: Array<string> = []
  let prompting: { readonly typed: (line: string | undefined) => void } | undefined
  let turn: { readonly startedAt: number; cancelling: boolean } | undefined
  let warned = false
  let closed = false

  const print = (text: string): void => {
    if (prompting === undefined) return screen.note(text)
    output.write(`\r\u001b[K`)
    screen.line(text)
    editor.prompt(true)
  }
  onScreen(print)

  const cancel = (): void => {
    if (turn === undefined || turn.cancelling) return
    turn.cancelling = true
    void demo.cancel()
  }

  const liveLines = (): ReadonlyArray<string> => {
    if (turn === undefined) return []
    const elapsedMs = performance.now() - turn.startedAt
    const state = turn.cancelling ? paint.warn("cancelling") : "Ctrl-C cancels"
    return [
      ...demo.liveCalls().map((call) => liveLine(call, paint)),
      paint.quiet(`${spinner(elapsedMs)} ${duration(elapsedMs)} · ${state}`),
      `${paint.accent("›")} ${editor.line}`
    ]
  }

  const show = async (events: Parameters<typeof reportTurn>[0]): Promise<void> => {
    turn = { startedAt: performance.now(), cancelling: false }
    screen.begin(liveLines)
    await reportTurn(events, { display: screen, paint, elapsedMs: demo.elapsedMs, now: () => performance.now() })
    turn = undefined
    screen.end()
    const decision = demo.decision()
    if (decision !== undefined) screen.line(`${paint.accent("?")} ${paint.strong(decision)}`)
    screen.line("")
  }

  const obey = async (line: string): Promise<void> => {
    const outcome = await runCommand(line, { demo, paint, print })
    if (outcome.type === "turn") await show(outcome.turn)
    if (outcome.type === "quit") editor.close()
  }

  const nextLine = (): Promise<string | undefined> => {
    const ahead = typedAhead.shift()
    if (closed) return Promise.resolve(undefined)
    if (ahead !== undefined) {
      screen.line(`${paint.accent("›")} ${ahead}`)
      return Promise.resolve(ahead)
    }
    gate.mute(false)
    editor.setPrompt(paint.accent(demo.waitsForAnswer() ? "answer › " : "› "))
    editor.prompt(true)
    return new Promise((resolve) => {
      prompting = {
        typed: (line) => {
          prompting = undefined
          gate.mute(true)
          resolve(line)
        }
      }
    })
  }

  editor.on("line", (line) => {
    warned = false
    if (prompting !== undefined) return prompting.typed(line)
    if (isAnytimeCommand(line)) return void obey(line)
    if (line.trim() === "") return
    typedAhead.push(line)
    screen.note(paint.quiet(`› ${line}  (next)`))
  })
  editor.on("SIGINT", () => {
    if (turn !== undefined) return cancel()
    if (editor.line !== "") {
      editor.write(null, { ctrl: true, name: "e" })
      editor.write(null, { ctrl: true, name: "u" })
      return
    }
    if (warned) return editor.close()
    warned = true
    print(paint.quiet("  Ctrl-C again, Ctrl-D or /quit leaves"))
  })
  editor.on("close", () => {
    closed = true
    cancel()
    prompting?.typed(undefined)
  })
  const leave = (): void => editor.close()
  signal.addEventListener("abort", leave, { once: true })
  if (signal.aborted) leave()

  try {
    for (let line = await nextLine(); line !== undefined; line = await nextLine()) {
      const said = line.trim()
      if (said === "") continue
      if (isCommand(said)) await obey(said)
      else await show(demo.send(said))
    }
  } finally {
    signal.removeEventListener("abort", leave)
    editor.close()
    screen.end()
    gate.close()
  }
}

const complete = (line: string): [Array<string>, string] => [
  line.startsWith("/") ? commandNames.filter((name) => name.startsWith(line)) : [],
  line
]
