/**
 * The report about a process that ended abnormally.
 *
 * Reports are passed to `onCrash` of the system, or without it to its logger, and to the telemetry event `process.crash`. A
 * report is made only if one of them takes it, and before the process releases its state.
 */
import * as DateTime from "effect/DateTime"
import { isNoCatch } from "./ExitReason.ts"
import type { ExitReason } from "./ExitReason.ts"
import { errorTitle, summary, traceOf } from "./valueSummary.ts"
import type { Pid } from "./Pid.ts"

/**
 * An unexpected end of a process, or a fault it survived. The texts are cut to a few hundred characters.
 *
 * **Gotchas**: `handling` and `state` show data of the process: protect a report like that data.
 */
export interface CrashReport {
  /** The process that crashed. */
  readonly pid: Pid
  /** Its displayed name. */
  readonly label: string
  /** Its registered name; `undefined` without one. */
  readonly name: string | undefined
  /** `process`, `server`, `machine`, `supervisor`, … */
  readonly kind: string
  /**
   * Whether the process is dead. It is alive after a fault in a timer or a subscriber, and while a supervisor reports why it
   * gives up.
   */
  readonly ended: boolean
  /** The exit reason, verbatim. */
  readonly reason: ExitReason
  /** The process and the reason, in one line. */
  readonly message: string
  /** The message that the process was handling, in one line. For a process that is one function, the last message it received. */
  readonly handling: string | undefined
  /** The state of a server, machine or supervisor, in one line. */
  readonly state: string | undefined
  /** The number of messages left in the mailbox. */
  readonly queueLength: number
  /** The process that started it. */
  readonly parent: Pid | undefined
  /** The processes that get its exit signal. */
  readonly links: ReadonlyArray<Pid>
  /** The time of the crash, in milliseconds on the system's clock. */
  readonly at: number
}

const deepestCause = 5

const causeLines = (reason: unknown, depth: number): ReadonlyArray<string> => {
  if (isNoCatch(reason)) return [`threw ${summary(reason.value)}`]
  if (!(reason instanceof Error)) return [typeof reason === "string" ? reason : summary(reason)]
  const title = errorTitle(reason)
  const { own, all } = traceOf(reason.stack ?? "")
  const trace = own.length === 0 ? all : own
  const lines = [...title.split("\n"), ...trace.map((line) => `  ${line.trim()}`)]
  if (reason.cause === undefined || depth === deepestCause) return lines
  const [first = "", ...rest] = causeLines(reason.cause, depth + 1)
  return [...lines, `caused by ${first}`, ...rest]
}

/** The reason with its stack and causes, or in one line if it cannot be read. */
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
 * Formats a report for people, in several lines: the process, the time, the message, the state, and the reason with its
 * stack and causes. Stack frames of Node, Effect, XState and this package are omitted.
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
