/**
 * Joins the AG-UI events of one run, from several homes.
 *
 * AGUISPLICE1. When another home goes on, everything that is open on the client's side ends. The snapshot of that home replaces the
 *              messages, and the running step is sent again. `RUN_STARTED` is sent once.
 */
import type { Splice } from "../../http/index.ts"
import { dataFrame } from "../index.ts"
import type { AgUiEvent } from "./agUiStream.ts"

/** What begins something, and the event that ends it. */
const ends: Readonly<Record<string, string>> = {
  STEP_STARTED: "STEP_FINISHED",
  REASONING_START: "REASONING_END",
  REASONING_MESSAGE_START: "REASONING_MESSAGE_END",
  TEXT_MESSAGE_START: "TEXT_MESSAGE_END",
  TOOL_CALL_START: "TOOL_CALL_END"
}

/** The events of a piece of a message, which open and end nothing. */
const content = /^data: \{"type":"[A-Z_]+_(?:CONTENT|ARGS)"/u

/** The event that ends what this one begins, or that this one is. */
const endOf = ({ type, messageId, toolCallId, stepName }: AgUiEvent): AgUiEvent => ({
  type: ends[type] ?? type,
  ...(toolCallId === undefined ? { messageId, stepName } : { toolCallId })
})

/** Makes one for the stream of a run. */
export const agUiSplice = (): Splice => {
  const open = new Map<string, AgUiEvent>()
  let hasStarted = false
  let endings = ""

  const passed = (frame: string): string => {
    if (!frame.startsWith("data: {") || content.test(frame)) return frame
    const event = JSON.parse(frame.slice("data: ".length)) as AgUiEvent
    if (event.type === "RUN_STARTED" && hasStarted) return ""
    hasStarted = true
    const end = endOf(event)
    if (event.type in ends) open.set(JSON.stringify(end), end)
    else open.delete(JSON.stringify(end))
    return frame
  }

  /** Ends what is open, the newest first. */
  const close = (): void => {
    endings += [...open.values()].toReversed().map(dataFrame).join("")
    open.clear()
  }

  return {
    push: (frame) => {
      const before = endings
      endings = ""
      return before + passed(frame)
    },
    again: (headers) => {
      close()
      return headers
    },
    failed: () => {
      close()
      return endings + dataFrame({ type: "RUN_ERROR", message: "The turn could not go on: moved", code: "moved" })
    }
  }
}
