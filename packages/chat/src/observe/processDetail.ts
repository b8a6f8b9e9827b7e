/**
 * Observes one process.
 *
 * Owns: the trace of the process while it is observed. The process itself does not run for that.
 */
import { Observer, type Pid, Process, Sys, type System } from "@troupe/otp"
import { type ChatOf, plainLook } from "./processTree.ts"
import type { Sight } from "./poller.ts"
import type { ProcessDetail } from "./observed.ts"

const mostRecent = 50

/** The trace events of a process since it is observed. */
class Trace {
  readonly #clock: System.System["clock"]
  recent: ProcessDetail["recent"] = []
  handled = 0
  busyMs = 0

  constructor(clock: System.System["clock"]) {
    this.#clock = clock
  }

  /** Records an event, without the label and pid in its text. */
  readonly record = (pid: Pid, event: Sys.TraceEvent): void => {
    if (event._tag === "Handled") {
      this.handled++
      this.busyMs += event.blocking
    }
    const detail = Sys.formatTrace(pid, event).slice(`${pid.label} ${pid} `.length)
    const entry = { at: this.#clock.now(), event: event._tag.toLowerCase(), detail }
    this.recent = [...this.recent.slice(1 - mostRecent), entry]
  }
}

/** How a process is observed that is found by its pid's text. */
export const processSight = (system: System.System, id: string, chatOf: ChatOf): Sight<ProcessDetail> => {
  const trace = new Trace(system.clock)
  let pid: Pid | undefined
  return {
    opened: () => {
      const traced = Observer.find(system, id)
      if (traced === undefined) return () => {}
      const stop = Sys.trace(traced, (event) => trace.record(traced, event))
      pid = traced
      return () => {
        stop()
        pid = undefined
      }
    },
    look: (before) => {
      const now = detailOf(pid, trace, chatOf, before)
      return now === undefined || isSame(before, now) ? before : now
    }
  }
}

const detailOf = (
  pid: Pid | undefined,
  { recent, handled, busyMs }: Trace,
  chatOf: ChatOf,
  before: ProcessDetail | undefined
): ProcessDetail | undefined => {
  const traced = { recent, handled, busyMs }
  const seen = pid === undefined ? undefined : Observer.inspect(pid)
  if (seen === undefined) return before && { ...before, ...traced, ...ended }
  const { mailbox, state, links, monitors, chart } = seen
  return {
    ...plainLook(seen, chatAbove(seen.pid, chatOf)),
    alive: true,
    mailbox,
    state: state ?? "",
    links: links.map(String),
    monitors: monitors.map(String),
    ...(chart !== undefined && { chart }),
    ...traced
  }
}

const ended = {
  alive: false,
  status: "idle",
  queueLength: 0,
  mailbox: [],
  links: [],
  monitors: []
} as const

const chatAbove = (pid: Pid, chatOf: ChatOf): string | undefined => {
  const parent = Process.info(pid)?.parent
  return chatOf(pid) ?? (parent === undefined ? undefined : chatAbove(parent, chatOf))
}

/** Compares as JSON; the values are small and plain. */
const isSame = (one: ProcessDetail | undefined, other: ProcessDetail): boolean =>
  one !== undefined && JSON.stringify(one) === JSON.stringify(other)
