/**
 * The output of a line editor that can be told to be silent.
 *
 * @module
 */
import { Writable } from "node:stream"

/** Passes on to a terminal, or nothing while it is muted: the editor still edits, somebody else shows its line. */
export interface PromptOutput {
  readonly stream: NodeJS.WritableStream
  readonly mute: (muted: boolean) => void
  /** Stops listening to the terminal. */
  readonly close: () => void
}

/** A silenceable way to a terminal's output. */
export const makePromptOutput = (output: NodeJS.WriteStream): PromptOutput => {
  let muted = false
  const stream = new Writable({
    write: (chunk: Buffer, _encoding, done) => {
      if (muted) done()
      else output.write(chunk, done)
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
