/**
 * The history of a storm: a file with a line of JSON for each request and its outcome, each read, and each fault.
 *
 * The checker reads this file and the database, and nothing else.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs"

/**
 * - `node`: a fault, a start or an end of a node
 * - `send`: a client is about to send an input for the first time
 * - `sent`: the outcome of one attempt: the status of the receipt, or a code of an error
 * - `asked`: the outcome of another verb, an approval or a retry
 * - `answered`: a client has seen the answer to an input
 * - `read`: a reader has the messages of a chat from an index on; `partial` is the reply that streamed before
 */
export type Event =
  | { readonly type: "node"; readonly node: string; readonly event: NodeEvent; readonly detail?: string }
  | { readonly type: "send"; readonly chat: string; readonly id: string; readonly text: string }
  | { readonly type: "sent"; readonly chat: string; readonly id: string; readonly outcome: string }
  | { readonly type: "asked"; readonly chat: string; readonly verb: string; readonly outcome: string }
  | { readonly type: "answered"; readonly chat: string; readonly id: string }
  | {
      readonly type: "read"
      readonly chat: string
      readonly from: number
      readonly texts: ReadonlyArray<string>
      readonly partial: string
    }

/** A fault, a start or an end. `ended`: its process ended without a signal. */
export type NodeEvent = "started" | "ready" | "kill" | "term" | "stop" | "cont" | "left" | "ended" | "reported"

/** An event, and when it happened, in milliseconds. */
export type Line = Event & { readonly at: number }

/** Appends to a history. */
export class History {
  readonly path: string

  constructor(path: string) {
    this.path = path
  }

  add(event: Event): void {
    appendFileSync(this.path, `${JSON.stringify({ at: Date.now(), ...event })}\n`)
  }

  lines(): ReadonlyArray<Line> {
    return linesOf(this.path) as ReadonlyArray<Line>
  }
}

/** The lines of a file of JSON lines. */
export const linesOf = (path: string): ReadonlyArray<unknown> =>
  existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .slice(0, -1)
        .map((line) => JSON.parse(line) as unknown)
    : []
