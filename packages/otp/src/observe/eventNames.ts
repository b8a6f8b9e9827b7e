/** The names of all events, and which of them a selector stands for. */
import type { EventName, Selector } from "./Telemetry.ts"

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

/** The events of a selector. */
export const selected = (selector: Selector): ReadonlyArray<EventName> =>
  Object.keys(eventNames)
    .filter(isEventName)
    .filter((name) => isSelected(selector, name))

/** Whether a selector stands for an event. */
export const isSelected = (selector: Selector, name: string): boolean =>
  selector === "*" || name === selector || name.startsWith(`${selector}.`)
