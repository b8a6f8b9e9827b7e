/**
 * The history of a run: what its programs, clients, tools and faults did, one line of JSON for each fact.
 *
 * A program writes a fact before it continues, so that a killed program has reported all that it acknowledged. The checker reads
 * a history and a store, and nothing else.
 */
import { appendFileSync, writeSync } from "node:fs"

/** The fields of each fact. */
interface Facts {
  /** A program runs. */
  readonly ready: object
  /** Something failed unexpectedly. */
  readonly wrong: { readonly what: string }
  /** A client is about to send an input for the first time. */
  readonly send: { readonly chat: string; readonly id: string; readonly text: string }
  /** The outcome of one attempt: the status of the receipt, a code of an error, or `stored` if only the store has the input. */
  readonly sent: { readonly chat: string; readonly text: string; readonly outcome: string }
  /** A client has seen this reply, which answers the input of this id. */
  readonly answered: { readonly chat: string; readonly id?: string; readonly text: string }
  /** A reader has the messages of a chat from an index on; `partial` is the reply that streamed before. */
  readonly read: {
    readonly chat: string
    readonly from: number
    readonly texts: ReadonlyArray<string>
    readonly partial: string
  }
  /** A call that writes has begun. */
  readonly call: { readonly key: string; readonly call: string; readonly node?: string }
  /** A model got a request. */
  readonly request: { readonly agent: string }
  /** A summary streams, and the program kills itself after so many of its parts. */
  readonly summarised: { readonly parts: number }
  /** A client has seen a turn to its end, whose requests leave out so many messages. */
  readonly compacted: { readonly chat: string; readonly upTo: number }
  /** A person allowed this call, and the turn of that decision is over. */
  readonly allowed: { readonly chat: string; readonly call: string }
  /** A new conversation was forked from another. */
  readonly forked: { readonly chat: string; readonly to: string }
  /** A conversation was loaded in this phase. `partial` is its interrupted reply; it is absent for trees of agents. */
  readonly revived: { readonly chat: string; readonly phase: string; readonly partial?: string }
  /** The outcome of a read, an approval or a retry: the phase of the chat, or a code of an error. */
  readonly asked: { readonly chat: string; readonly verb: string; readonly outcome: string }
  /** For this time, until now, processes waited for a processor. */
  readonly delay: { readonly ms: number }
  /** A node has opened a connection from this port. It is for the network, and in no history. */
  readonly opened: { readonly node: string; readonly port: number }
  readonly node: NodeFact
}

/** A fault, a start or an end of a node or of PostgreSQL. `other` is the other end of a cut. */
export interface NodeFact {
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
  | ("started" | "ready" | "refused" | "left" | "ended" | "reported")
  | ("kill" | "term" | "stop" | "cont" | "cut" | "healed" | "restart" | "restarted")

type Of<Type extends keyof Facts> = { readonly type: Type } & Facts[Type]

export type Event = { [Type in keyof Facts]: Of<Type> }[keyof Facts]

/** A fact, and when it happened, in milliseconds. */
export type Line = Event & { readonly at: number }

/** The facts of a type. */
export const ofType = <Type extends keyof Facts>(
  lines: ReadonlyArray<Line>,
  type: Type
): ReadonlyArray<Of<Type> & { readonly at: number }> =>
  lines.filter((line): line is Extract<Line, { readonly type: Type }> & Of<Type> => line.type === type)

/** Writes a fact of this program to its output, before it continues. */
export const say = (event: Event): void => void writeSync(1, `${JSON.stringify({ at: Date.now(), ...event })}\n`)

/** A history, which is written to a file too. A fact of another program has its time already. */
export const historyIn = (path: string) => {
  const lines: Array<Line> = []
  const add = (event: Event): void => {
    const line = { at: Date.now(), ...event }
    lines.push(line)
    appendFileSync(path, `${JSON.stringify(line)}\n`)
  }
  return { lines, add }
}

export type History = ReturnType<typeof historyIn>
