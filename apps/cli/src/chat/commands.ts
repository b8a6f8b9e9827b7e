/**
 * The slash commands of the chat.
 *
 * @module
 */
import type { Event } from "@troupe/chat/events"
import type { DemoChat } from "./demoChat.ts"
import { historyLines, type Paint } from "../output/index.ts"

/**
 * The result of a command.
 *
 * - `nothing`: it is done
 * - `turn`: show this turn
 * - `quit`: leave the chat
 */
export type CommandOutcome =
  | { readonly type: "nothing" }
  | { readonly type: "turn"; readonly turn: AsyncIterable<Event> }
  | { readonly type: "quit" }

/** The environment of a command. */
export interface CommandSurroundings {
  readonly demo: DemoChat
  readonly paint: Paint
  readonly print: (text: string) => void
}

interface Command {
  readonly name: string
  readonly about: string
  /** Whether it can be used during a turn. */
  readonly anytime: boolean
  readonly run: (surroundings: CommandSurroundings) => CommandOutcome | Promise<CommandOutcome>
}

const nothing: CommandOutcome = { type: "nothing" }

const commands: ReadonlyArray<Command> = [
  {
    name: "/help",
    about: "this list",
    anytime: true,
    run: ({ paint, print }) => {
      print(helpText(paint))
      return nothing
    }
  },
  {
    name: "/tree",
    about: "draw the live supervision tree",
    anytime: true,
    run: ({ demo, print }) => {
      print(demo.tree())
      return nothing
    }
  },
  {
    name: "/kill",
    about: "kill the chat process and see it started again with its thread",
    anytime: true,
    run: async ({ demo, paint, print }) => {
      const { before, after, messages } = await demo.kill()
      if (before === undefined) {
        print(`${paint.warn("?")} there is no chat process to kill; the next question starts it again`)
        return nothing
      }
      print(`${paint.bad("✖")} killed the chat process ${before}`)
      print(
        after === undefined
          ? `${paint.warn("…")} it has not come back yet; /tree shows what its supervisor does`
          : `${paint.good("✔")} its supervisor started it again as ${after}, with the ${messages} messages of its thread`
      )
      return nothing
    }
  },
  {
    name: "/retry",
    about: "answer the last question again, from the last completed step",
    anytime: false,
    run: ({ demo }) => ({ type: "turn", turn: demo.retry() })
  },
  {
    name: "/history",
    about: "show the thread so far",
    anytime: true,
    run: ({ demo, paint, print }) => {
      print(historyLines(demo.messages(), paint).join("\n"))
      return nothing
    }
  },
  { name: "/quit", about: "leave; so do Ctrl-D and Ctrl-C twice", anytime: true, run: () => ({ type: "quit" }) }
]

/** The names of all commands. */
export const commandNames: ReadonlyArray<string> = commands.map(({ name }) => name)

/** Whether a line has the form of a command. */
export const isCommand = (line: string): boolean => /^\/[a-z]*$/i.test(line.trim())

/** Whether a line is a command that does not wait for the end of a turn. */
export const isAnytimeCommand = (line: string): boolean => isCommand(line) && find(line)?.anytime !== false

/** Runs a command; an unknown one prints an error. */
export const runCommand = async (line: string, surroundings: CommandSurroundings): Promise<CommandOutcome> => {
  const command = find(line)
  if (command !== undefined) return command.run(surroundings)
  surroundings.print(`${surroundings.paint.warn("?")} There is no command ${line.trim()}; /help lists them`)
  return nothing
}

/** The list of commands. */
const helpText = (paint: Paint): string =>
  commands
    .map(({ name, about }) => `  ${paint.accent(name.padEnd(9))} ${about}`)
    .concat(`  ${paint.accent("Ctrl-C".padEnd(9))} cancel the answer being made; the chat stays`)
    .join("\n")

const find = (line: string): Command | undefined => commands.find(({ name }) => name === line.trim().toLowerCase())
