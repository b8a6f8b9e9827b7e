/**
 * The output of a line editor that can be told to be silent.
 *
 * @module
 */
import { Writable } from "node:stream"

/** A terminal's output: its size may be known, and may change with a `resize`. */
export type TerminalOutput = NodeJS.WritableStream & {
  readonly columns?: number | undefined
  readonly rows?: number | undefined
}

/** Passes on to a terminal, or nothing while it is muted: the editor still edits, somebody else shows its line. */
export interface PromptOutput {
  readonly stream: NodeJS.WritableStream
  readonly mute: (muted: boolean) => void
  /** Stops listening to the terminal. */
  readonly close: () => void
}

/**
 * A silenceable way to a terminal's output.
 *
 * **Details**: nothing waits here: what the editor wrote before it was muted is on its way.
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
