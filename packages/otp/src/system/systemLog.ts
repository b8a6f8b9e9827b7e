/**
 * The log of a system: one line for each fault that no handler takes.
 *
 * Owns: the count of reports in the present ten seconds, and a timer while some are omitted. Does not own the logger.
 *
 * REPORT1. Without `onCrash`, a crash, a fault that a process survives, and the end of a supervisor at its restart limit are one
 *          report each. With it they are none. The line has the label, the error with the place in the user's code, the handled
 *          message and the state.
 * REPORT2. At most 20 reports are written in 10 seconds of the system's clock. One more report then has the number of the others, and
 *          so it has when the system stops. A report that is not written is not built.
 * REPORT3. Whatever an error is, its line is one line of at most 600 characters, without control characters. A report never throws: of a
 *          logger that throws, the report and the error are written to the console.
 * REPORT4. `effectLogger` writes to the loggers that the fiber has: those of a layer are its program's.
 * REPORT8. A message that no callback of its process takes is one report. It shows what `DeadLetters` has of the message.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { attempt, type CrashReport, cut, format, traceOf } from "../core/index.ts"
import type { Clock } from "../time/index.ts"
import type { Fault, KernelLog } from "../kernel/index.ts"

/**
 * A fault that no caller and no handler gets.
 *
 * **Gotchas**: `crash` shows data of the process: protect it like that data.
 */
export interface Report {
  /**
   * The fault in one line of at most 600 characters, with the first line of the user's code in its stack, and the first 120
   * characters of the handled message and of the state.
   */
  readonly message: string
  /** What was thrown, or the exit reason; `undefined` for the number of omitted reports. */
  readonly error: unknown
  /** The time, in milliseconds on the system's clock. */
  readonly at: number
  /** The process (`process`, `pid`, `kind`), or what the reporting library adds, such as the `id` that a client got. */
  readonly attributes: Readonly<Record<string, string | number>>
  /** The crash report of a process. */
  readonly crash?: CrashReport
}

const mostReports = 20
const windowMs = 10_000
const longestLine = 600
/** The longest text of a message or a state in a line. */
const longestDetail = 120
const deepestCause = 5

/** The error in one line: its name and message, the first line of the user's code, and its causes. */
const errorText = (error: unknown, depth = 0): string => {
  const text = format(error)
  if (!(error instanceof Error)) return text
  const [frame] = traceOf(error.stack ?? "").own
  const shown = frame === undefined ? text : `${text} (${frame.trim()})`
  return error.cause === undefined || depth === deepestCause
    ? shown
    : `${shown}, caused by ${errorText(error.cause, depth + 1)}`
}

/** REPORT3 */
const oneLine = (text: string): string => cut(text.replaceAll(/[\s\p{Cc}\u2028\u2029]+/gu, " ").trim(), longestLine)

const line = (subject: string, error: unknown, details = ""): string =>
  oneLine(`${cut(`${subject}: ${attempt(() => errorText(error))}`, longestLine - details.length)}${details}`)

/** The message that a process was handling, and its state. The state of a supervisor is the list of its children: it is left out. */
const detailsOf = ({ kind, handling, state }: CrashReport): string =>
  [
    ["handling", handling],
    ["state", kind === "supervisor" ? undefined : state]
  ]
    .map(([title, text]) => (text === undefined ? "" : `, ${title} ${cut(text, longestDetail)}`))
    .join("")

/** Writes a report to the console as one line; in Node that is stderr. */
const toConsole = ({ message }: Report): void => {
  // oxlint-disable-next-line no-console
  console.error(`[error] ${message}`)
}

/** Makes a logger that writes to the loggers of the running fiber, such as those of OpenTelemetry. */
export const effectLogger: Effect.Effect<(report: Report) => void> = Effect.map(
  Effect.context(),
  (context) =>
    ({ message, error, attributes }: Report) =>
      void Effect.runForkWith(context)(
        Effect.annotateLogs(
          error === undefined ? Effect.logError(message) : Effect.logError(message, Cause.fail(error)),
          attributes
        )
      )
)

const swallowed = (run: () => void): void => {
  try {
    run()
  } catch {
    // A host whose console or timers fail has no other place for a report.
  }
}

export class SystemLog implements KernelLog {
  readonly #clock: Clock
  readonly #logger: (report: Report) => void
  #until = 0
  #written = 0
  #omitted = 0
  #timer: unknown

  constructor(clock: Clock, logger: ((report: Report) => void) | undefined) {
    this.#clock = clock
    this.#logger = logger ?? toConsole
  }

  /** Whether the next report is written; counts one that is not (REPORT2). */
  takes(): boolean {
    const now = this.#clock.now()
    if (now >= this.#until) {
      this.flush()
      this.#until = now + windowMs
      this.#written = 0
    }
    if (this.#written < mostReports) return true
    if (++this.#omitted === 1) this.#awaitEnd(this.#until - now)
    return false
  }

  /** Writes the report of a crash that `takes` allowed. */
  crashed(crash: CrashReport): void {
    const { label, pid, kind, ended, reason, at } = crash
    const name = label === "process" ? String(pid) : `${label} ${pid}`
    const subject = `Process ${name} ${ended ? "crashed" : "reports"}`
    this.#count({
      message: line(subject, reason, detailsOf(crash)),
      error: reason,
      at,
      attributes: { process: label, pid: String(pid), kind },
      crash
    })
  }

  /** Writes a fault, if there is room for it. A function is called only then. */
  report(fault: Fault | (() => Fault)): void {
    if (!this.takes()) return
    const { subject, error, attributes = {} } = typeof fault === "function" ? fault() : fault
    this.#count({ message: line(subject, error), error, at: this.#clock.now(), attributes })
  }

  /** Writes the number of the omitted reports, if there are any. */
  flush(): void {
    const omitted = this.#omitted
    this.#omitted = 0
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer)
    this.#timer = undefined
    if (omitted === 0) return
    const message = `… ${omitted} more report${omitted === 1 ? "" : "s"} in ${windowMs / 1_000} s`
    this.#write({ message, error: undefined, at: this.#clock.now(), attributes: { omitted } })
  }

  /** The timer does not keep the program alive. */
  #awaitEnd(ms: number): void {
    const clock = this.#clock
    const end = (): void => this.flush()
    swallowed(() => {
      this.#timer =
        clock.setBackgroundTimeout === undefined ? clock.setTimeout(end, ms) : clock.setBackgroundTimeout(end, ms)
    })
  }

  #count(report: Report): void {
    this.#written++
    this.#write(report)
  }

  #write(report: Report): void {
    try {
      this.#logger(report)
    } catch (error) {
      swallowed(() => {
        toConsole(report)
        toConsole({ ...report, message: line("The logger of the system threw", error) })
      })
    }
  }
}
