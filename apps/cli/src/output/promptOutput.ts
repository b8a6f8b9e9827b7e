/**
 * The output of a line editor, which can be muted.
 *
 * @module
 */
import { Writable } from "node:stream"

/** A terminal's output: its size may be known, and may change with a `resize`. */
export type TerminalOutput = NodeJS.WritableStream & {
  readonly columns?: number | undefined
  readonly rows?: number | undefined
}

/**
 * Forwards to a terminal, or drops the output while it is muted: the editor still edits, and other code shows its line.
 */
export interface PromptOutput {
  readonly stream: NodeJS.WritableStream
  readonly mute: (muted: boolean) => void
  /** Stops listening to the terminal. */
  readonly close: () => void
}

/**
 * Makes an output that can be muted.
 *
 * **Details**: there is no buffer: output from before the mute is already written.
 */
export const makePromptOutput = (output: TerminalOutput): PromptOutput => {
  let muted = false
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (!muted) output.write(chunk)
      done()
    }
  })
  Object.defineProperties(stream, {
    columns: { get: () => output.columns },
    rows: { get: () => output.rows },
    isTTY: { value: true }
  })
  const resized = (): void => {
    stream.emit("resize")
  }
  output.on("resize", resized)
  return {
    stream,
    mute: (silent) => {
      muted = silent
    },
    close: () => {
      output.off("resize", resized)
    }
  }
}
