/**
 * The history of a storm: a file with a line of JSON for each request and its outcome, each read, and each fault.
 *
 * The checker reads this file and the database, and nothing else.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs"

/**
 * - `node`: a fault, a start or an end of a node or of PostgreSQL
 * - `send`: a client is about to send an input for the first time
 * - `sent`: the outcome of one attempt: the status of the receipt, or a code of an error
 * - `asked`: the outcome of another verb, an approval or a retry
 * - `looked`: the outcome of a read of the view: the phase of the chat, or a code of an error; repetitions are not noted
 * - `answered`: a client has seen the answer to an input
 * - `read`: a reader has the messages of a chat from an index on; `partial` is the reply that streamed before
 * - `delay`: for this time, until now, processes waited for a processor
 */
export type Event =
  | NodeLine
  | { readonly type: "send"; readonly chat: string; readonly id: string; readonly text: string }
  | { readonly type: "sent"; readonly chat: string; readonly id: string; readonly outcome: string }
  | { readonly type: "asked"; readonly chat: string; readonly verb: string; readonly outcome: string }
  | { readonly type: "looked"; readonly chat: string; readonly outcome: string }
  | { readonly type: "answered"; readonly chat: string; readonly id: string }
  | {
      readonly type: "read"
      readonly chat: string
      readonly from: number
      readonly texts: ReadonlyArray<string>
      readonly partial: string
    }
  | { readonly type: "delay"; readonly ms: number }

/** The event of a node. `other` is the other end of a cut. */
export interface NodeLine {
  readonly type: "node"
  readonly node: string
  readonly event: NodeEvent
  readonly other?: string
  readonly detail?: string
}

/**
 * A fault, a start or an end.
 *
 * - `started`: its process begins; `detail` is its build
 * - `refused`: it could not join, and its process ends; `detail` is the reason
 * - `cut`, `healed`: it and the `other` do not reach each other
 * - `restart`, `restarted`: of PostgreSQL
 * - `left`: its process has ended after `term`; `detail` is the time that it took
 * - `ended`: its process ended without a signal
 */
export type NodeEvent =
  | "started"
  | "ready"
  | "refused"
  | "kill"
  | "term"
  | "stop"
  | "cont"
  | "cut"
  | "healed"
  | "restart"
  | "restarted"
  | "left"
  | "ended"
  | "reported"

/** An event, and when it happened, in milliseconds. */
export type Line = Event & { readonly at: number }

type Of<Type extends Line["type"]> = Extract<Line, { readonly type: Type }>

/** The events of a type. */
export const ofType = <Type extends Line["type"]>(lines: ReadonlyArray<Line>, type: Type): ReadonlyArray<Of<Type>> =>
  lines.filter((line): line is Of<Type> => line.type === type)

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
