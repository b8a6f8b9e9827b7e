/**
 * The events of a turn, and their fold into results.
 *
 * @module
 */
export * as Event from "./events/Event.ts"
export { StreamCollector } from "./events/StreamCollector.ts"
