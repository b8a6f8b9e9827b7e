/**
 * The screen of a terminal during a turn: finished lines scroll up, the live region stays at the bottom.
 *
 * **Owns** the live region at the bottom of the terminal and its redraw timer. A callback of its user returns the lines of
 * the region for every frame.
 *
 * - SCR1. Between `end` and the next `begin` nothing is drawn and no timer runs.
 * - SCR2. A finished line is never redrawn; an unfinished line of streamed text is part of the live region.
 *
 * @module
 */
import { createLogUpdate } from "log-update"
import wrapAnsi from "wrap-ansi"
import type { Display } from "./display.ts"
import type { TerminalOutput } from "./promptOutput.ts"

/** The screen of a terminal. */
export interface Screen extends Display {
  /** Shows whole lines above the unfinished text. */
  readonly note: (text: string) => void
  /** Starts the live region. */
  readonly begin: (liveLines: () => ReadonlyArray<string>) => void
  /** Prints the unfinished text and removes the live region. */
  readonly end: () => void
}

const frameMs = 80

/** A screen on a terminal's output. */
export const makeScreen = (output: TerminalOutput): Screen => {
  const region = createLogUpdate(output)
  let live: { readonly lines: () => ReadonlyArray<string>; readonly timer: NodeJS.Timeout } | undefined
  let unfinished = ""
  const draw = (): void => {
    if (live !== undefined) region([...(unfinished === "" ? [] : [wrapped(unfinished)]), ...live.lines()].join("\n"))
  }
  const show = (lines: string): void => {
    if (live === undefined) output.write(`${wrapped(lines)}\n`)
    else region.persist(`${wrapped(lines)}\n`)
  }
  const wrapped = (text: string): string => wrapLines(text, output.columns ?? 80)
  return {
    text: (delta) => {
      unfinished += delta
      const end = unfinished.lastIndexOf("\n")
      if (end >= 0) {
        show(unfinished.slice(0, end))
        unfinished = unfinished.slice(end + 1)
      }
      draw()
    },
    line: (text) => {
      show(unfinished === "" ? text : `${unfinished}\n${text}`)
      unfinished = ""
      draw()
    },
    note: (text) => {
      show(text)
      draw()
    },
    begin: (lines) => {
      if (live !== undefined) clearInterval(live.timer)
      live = { lines, timer: setInterval(draw, frameMs) }
      draw()
    },
    end: () => {
      if (live === undefined) return
      clearInterval(live.timer)
      live = undefined
      region.clear()
      region.done()
      if (unfinished !== "") show(unfinished)
      unfinished = ""
    }
  }
}

/** Wraps long lines between words, keeping their indentation. */
const wrapLines = (text: string, columns: number): string =>
  text
    .split("\n")
    .flatMap((line) => {
      const [first = "", ...rest] = wrapAnsi(line, columns, { trim: false, hard: true }).split("\n")
      return [first, ...rest.filter((row) => row.trim() !== "")].map((row) => row.trimEnd())
    })
    .join("\n")
