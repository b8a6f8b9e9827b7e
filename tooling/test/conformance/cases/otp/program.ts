/**
 * Small programs in the vocabulary of the OTP cases, with what Elixir observes of each: they try the verbs and forms one
 * by one, for the runner's own tests.
 */
import type { Json, JsonObject } from "../../../../conformance/runner/json.ts"

/** A program: its law, who is in it, the script, and what is observed. */
export interface Program {
  readonly law: string
  readonly given?: JsonObject
  readonly when: ReadonlyArray<Json>
  readonly observed: JsonObject
}

/** A process that waits until it is ended. */
export const idle = { script: [["wait_forever"]] }
/** A process that ends itself. */
export const crash = { script: [["exit", "boom"]] }
/** A process, by its label. */
export const pid = (label: string): JsonObject => ({ pid: label })
/** A monitor, timer or task, by its name. */
export const ref = (name: string): JsonObject => ({ ref: name })
/** The message of a monitor. */
export const down = (name: string, label: string, reason: Json): Json => [
  "DOWN",
  ref(name),
  "process",
  pid(label),
  reason
]
/** The message of a link to a process that traps exits. */
export const exited = (label: string, reason: Json): Json => ["EXIT", pid(label), reason]
/** Where an exit was raised. */
export const inside = (place: string): JsonObject => ({ in: place })
/** An exception that was raised. */
export const runtimeError = (message: string): JsonObject => ({ error: "RuntimeError", message })
/** A bad argument. */
export const argumentError = { error: "ArgumentError" }
/** A server that counts. */
export const counter = { call: { inc: { do: [["add", 1]], return: ["reply", "$state"] } } }
/** A server that ends on request. */
export const reported = {
  trap_exit: true,
  cast: { boom: { return: ["stop", "boom"] }, bye: { return: ["stop", "normal"] } }
}
/** What the script observes. */
export const main = (...entries: ReadonlyArray<Json>): JsonObject => ({ main: entries })
/** A start that succeeded. */
export const up = (name: string): Json => ["start", name, ["ok", pid(name)]]
