/** The events of a turn: their shapes, their fold into results, and the bounded stream that a reader pulls. */
export { Event, isEvent } from "./Event.ts"
export type {
  AdapterEvent,
  MessageCompleted,
  MessageStarted,
  RequestDelayed,
  ToolCallCompleted,
  ToolEvent
} from "./Event.ts"
export { StreamCollector } from "./StreamCollector.ts"
export { continues, innermost, isFragment, joined, textOf, withText } from "./deltas.ts"
export { EventStream } from "./eventStream.ts"
export { outletIn, emit, QueueSource } from "./outlet.ts"
export type { Outlet, Source } from "./outlet.ts"
export { hasCost, reportedUsage } from "./runCollector.ts"
export { storableEvent } from "./storableEvent.ts"
export { ToolEvents } from "./toolEventStream.ts"
