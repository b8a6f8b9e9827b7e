/**
 * The events of a turn, and their fold into results.
 *
 * @module
 */
export { AdapterEvent, Event, ToolEvent } from "./events/Event.ts"
export { StreamCollector } from "./events/StreamCollector.ts"
