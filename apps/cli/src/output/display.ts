/**
 * The output of a chat: streamed text, and whole lines.
 *
 * @module
 */

/** The output of a chat. */
export interface Display {
  /** Adds to the text being streamed. */
  readonly text: (delta: string) => void
  /** Shows whole lines, below the text so far. */
  readonly line: (text: string) => void
}

/** Shows a chat by appending to an output: a pipe, a file. */
export const appendingDisplay = (write: (text: string) => void): Display => {
  let atLineStart = true
  const put = (text: string): void => {
    if (text === "") return
    write(text)
    atLineStart = text.endsWith("\n")
  }
  return {
    text: put,
    line: (text) => put(`${atLineStart ? "" : "\n"}${text}\n`)
  }
}
