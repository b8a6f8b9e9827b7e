/** The keys in the terminal: each is read at once, without Enter. */
import type { ReadStream } from "node:tty"
import { type Command, type NodeStatus, press } from "../control/index.ts"

/** What the keys act on. */
export interface Keyed {
  readonly nodes: () => ReadonlyArray<NodeStatus>
  readonly command: (command: Command) => void
  readonly quit: () => void
}

/** The byte of Ctrl+C, which is no signal while keys are read. */
const interrupt = "\u0003"

/** Reads keys until the returned function is called. An input that is no terminal has no keys. */
export const readKeys = (input: ReadStream, { nodes, command, quit }: Keyed): (() => void) => {
  if (!input.isTTY) return () => {}
  let letter: string | undefined
  const read = (chunk: Buffer): void => {
    for (const key of chunk.toString()) {
      if (key === interrupt || key === "q") return quit()
      const pressed = press(letter, key, nodes())
      letter = pressed.letter
      if (pressed.command !== undefined) command(pressed.command)
    }
  }
  input.setRawMode(true)
  input.on("data", read)
  return () => {
    input.off("data", read)
    input.setRawMode(false)
    input.pause()
  }
}
