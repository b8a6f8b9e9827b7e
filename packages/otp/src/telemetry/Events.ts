/** The names of all events, and the events that a selector matches. */
import type { CrashReport, ExitReason, Name, Pid } from "../core/index.ts"

const eventNames = {
  "process.spawn": true,
  "process.exit": true,
  "process.crash": true,
  "process.message": true,
  "process.handled": true,
  "process.blocked": true,
  "supervisor.restart": true,
  "supervisor.escalation": true,
  "message.dead": true,
  "message.unexpected": true,
  "telemetry.failure": true
} as const satisfies Record<EventName, true>

const isEventName = (name: string): name is EventName => Object.hasOwn(eventNames, name)

/** The events that a selector matches. */
export const selected = (selector: Selector): ReadonlyArray<EventName> =>
  Object.keys(eventNames)
    .filter(isEventName)
    .filter((name) => isSelected(selector, name))

/** Whether a selector matches an event. */
export const isSelected = (selector: Selector, name: string): boolean =>
  selector === "*" || name === selector || name.startsWith(`${selector}.`)

/** The process of an event. */
export interface Subject {
  /** The process. */
  readonly pid: Pid
  /** Its displayed name. */
  readonly label: string
  /** The kind shown by the observer: `process`, `server`, `machine`, `supervisor`, … */
  readonly kind: string
}

/** A message that no process took. */
export interface DroppedMessage {
  /** The process, or the name that is not registered. */
  readonly target: Pid | Name
  readonly message: unknown
  /** The process that had its turn when the message was sent. */
  readonly from: Pid | undefined
}

/**
 * The measurements and the metadata of each event; the table at the top describes them.
 *
 * **Details**
 *
 * Code that builds on processes can add its own events here (`declare module "@troupe/otp/telemetry"`), and publish
 * them with {@link notify}.
 */
export interface Events {
  readonly "process.spawn": {
    readonly measurements: { readonly processes: number }
    readonly metadata: Subject & { readonly parent: Pid | undefined }
  }
  readonly "process.exit": {
    readonly measurements: { readonly processes: number; readonly dropped: number }
    readonly metadata: Subject & { readonly reason: ExitReason; readonly abnormal: boolean }
  }
  readonly "process.crash": {
    readonly measurements: { readonly queueLength: number }
    readonly metadata: Subject & { readonly report: CrashReport }
  }
  readonly "process.message": {
    readonly measurements: { readonly queueLength: number }
    readonly metadata: Subject & { readonly message: unknown }
  }
  readonly "process.handled": {
    readonly measurements: { readonly duration: number; readonly blocking: number; readonly queueLength: number }
    readonly metadata: Subject & { readonly message: unknown }
  }
  readonly "process.blocked": {
    readonly measurements: { readonly blocking: number; readonly threshold: number }
    readonly metadata: Subject & { readonly message: unknown }
  }
  readonly "supervisor.restart": {
    readonly measurements: { readonly restarts: number }
    readonly metadata: Subject & { readonly id: string }
  }
  readonly "supervisor.escalation": {
    readonly measurements: { readonly restarts: number; readonly limit: number }
    readonly metadata: Subject & { readonly id: string }
  }
  readonly "message.dead": {
    readonly measurements: { readonly count: number }
    readonly metadata: DroppedMessage
  }
  readonly "message.unexpected": {
    readonly measurements: { readonly count: number }
    readonly metadata: DroppedMessage
  }
  readonly "telemetry.failure": {
    readonly measurements: { readonly handlers: number }
    readonly metadata: { readonly selector: string; readonly error: unknown }
  }
}

/** What a telemetry handler can be attached to, such as `process.blocked`. */
export type EventName = keyof Events

/** An event: its name, its time, its measurements and its metadata. */
export type Event<N extends EventName = EventName> = {
  readonly [K in N]: Events[K] & { readonly name: K; readonly at: number }
}[N]

/** A selection of events: one by its name, those of a prefix such as `"process"`, or all with `"*"`. */
export type Selector = EventName | Prefix<EventName> | "*"

/** The names that a selector matches. */
export type Selected<S extends Selector> = S extends "*"
  ? EventName
  : S extends EventName
    ? S
    : Extract<EventName, `${S}.${string}`>

/** The part of a name before the dot. */
type Prefix<N> = N extends `${infer P}.${string}` ? P : never
