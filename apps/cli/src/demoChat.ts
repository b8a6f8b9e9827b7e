/**
 * The chat of the demo and everything it stands on: the system, the file server, the tools.
 *
 * @module
 */
import type { Event } from "@troupe/chat/Event"
import type { Message } from "@troupe/chat/Message"
import type { LiveCall } from "./toolLines.ts"

export interface DemoChat {
  readonly send: (text: string) => AsyncIterable<Event>
  readonly retry: () => AsyncIterable<Event>
  readonly cancel: () => Promise<void>
  readonly kill: () => Promise<{ readonly before: string; readonly after: string | undefined; readonly messages: number }>
  readonly tree: () => string
  readonly messages: () => ReadonlyArray<Message>
  readonly waitsForAnswer: () => boolean
  readonly liveCalls: () => ReadonlyArray<LiveCall>
  readonly elapsedMs: (toolCallId: string) => number | undefined
  readonly stop: () => Promise<void>
}
