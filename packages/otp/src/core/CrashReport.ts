/**
 * What is told about a process that ended and should not have.
 *
 * Reports go to `onCrash` of the system and to the telemetry event `process.crash`. They are made only when somebody
 * takes them, before the process is taken apart.
 */
import * as DateTime from "effect/DateTime"
import { isNoCatch } from "./ExitReason.ts"
import type { ExitReason } from "./ExitReason.ts"
import { summary } from "./valueSummary.ts"
import type { Pid } from "./Pid.ts"

/**
 * The end of a process that nobody asked for, or a fault it survived.
 *
 * **Details**
 *
 * - `ended`: whether the process is dead. It is not after a fault in a timer or a subscriber, nor when a supervisor says
 *   why it gives up.
 * - `reason`: what it ended with, verbatim.
 * - `message`: who ended and why, in one line.
 * - `handling`: the message it was at, shown in one line; of a process that is one function, the last it received.
 * - `state`: what it knew, shown in one line; of servers, machines and supervisors.
 * - `queueLength`: the messages it had not taken.
 * - `parent`, `links`: who started it, and who hears of its end by a signal.
 *
 * **Units and defaults**
 *
 * `at` is milliseconds on the system's clock. What is shown is cut to a few hundred characters.
 *
 * **Gotchas**
 *
 * `handling` and `state` show what the process worked on: treat a report as you treat that.
 */
export interface CrashReport {
  readonly pid: Pid
  readonly label: string
  readonly name: string | undefined
  readonly kind: string
  readonly ended: boolean
  readonly reason: ExitReason
  readonly message: string
  readonly handling: string | undefined
  readonly state: string | undefined
  readonly queueLength: number
  readonly parent: Pid | undefined
  readonly links: ReadonlyArray<Pid>
  readonly at: number
}

const deepestCause = 5

const internals = decodeURI(new URL(/* @vite-ignore */ "../", import.meta.url).pathname)

/** Whether a line of a stack is code that runs processes, fibers and charts, not code that runs in them. */
const isMachinery = (line: string): boolean =>
  line.includes(internals) || /\/node_modules\/(effect|xstate)\/|\bnode:/.test(line)

/** The lines of a stack that say where in the user's code it was; all, if none does. */
const traceOf = (stack: string): ReadonlyArray<string> => {
  const lines = stack.split("\n").filter((line) => line.trimStart().startsWith("at "))
  const own = lines.filter((line) => !isMachinery(line))
  return own.length === 0 ? lines : own
}

const causeLines = (reason: unknown, depth: number): ReadonlyArray<string> => {
  if (isNoCatch(reason)) return [`threw ${summary(reason.value)}`]
  if (!(reason instanceof Error)) return [typeof reason === "string" ? reason : summary(reason)]
  const title = `${reason.name}: ${reason.message}`
  const trace = traceOf(reason.stack ?? "")
  const lines = [...title.split("\n"), ...trace.map((line) => `  ${line.trim()}`)]
  if (reason.cause === undefined || depth === deepestCause) return lines
  const [first = "", ...rest] = causeLines(reason.cause, depth + 1)
  return [...lines, `caused by ${first}`, ...rest]
}

/** The reason at length, or in one line if it cannot be read. */
const linesOf = (reason: unknown): ReadonlyArray<string> => {
  try {
    return causeLines(reason, 0)
  } catch {
    return [summary(reason)]
  }
}

const shown = (pid: Pid): string => `${pid.label} ${pid}`

const row = (title: string, lines: ReadonlyArray<string>): ReadonlyArray<string> =>
  lines.map((line, index) => `  ${(index === 0 ? title : "").padEnd(9)} ${line}`)

/**
 * Shows a report to people, over several lines: who, when, at which message, in which state, and why, with the stack and
 * the causes behind it. Of a stack, the frames of what runs processes, fibers and charts are left out.
 */
export const format = (report: CrashReport): string => {
  const { name, label, handling, state, queueLength, parent, links } = report
  return [
    report.message.split("\n")[0] ?? "",
    ...(name === undefined || name === label ? [] : row("name", [name])),
    ...row("kind", [parent === undefined ? report.kind : `${report.kind}, started by ${shown(parent)}`]),
    ...row("at", [DateTime.formatIso(DateTime.makeUnsafe(report.at))]),
    ...(handling === undefined ? [] : row("handling", [handling])),
    ...(state === undefined ? [] : row("state", [state])),
    ...(queueLength === 0 ? [] : row("queue", [`${queueLength} not taken`])),
    ...(links.length === 0 ? [] : row("links", [links.map(shown).join(", ")])),
    ...row("cause", linesOf(report.reason))
  ].join("\n")
}
