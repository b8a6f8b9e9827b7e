/**
 * Where a chat is shown: text as it comes, and whole lines.
 *
 * @module
 */

/** A place to show a chat. */
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
