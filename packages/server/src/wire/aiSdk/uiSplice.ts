/**
 * Joins the UI message streams of one reply, from several homes.
 *
 * UISPLICE1. A client gets each step that is over once. The step that was cut is begun again, with `reset-step`.
 */
import type { Splice } from "../../http/index.ts"
import { dataFrame } from "../index.ts"
import { inUiVersion, uiVersionOf } from "./uiVersion.ts"

const isOf = (frame: string, type: string): boolean => frame.startsWith(`data: {"type":"${type}"`)

const resultPrefix = 'data: {"type":"tool-output-'

/** Makes one for the stream of a reply to this request. */
export const uiSplice = (request: Pick<Request, "headers">): Splice => {
  const written = inUiVersion(uiVersionOf(request))
  /** The steps that the client has, and those of the present answer that are to be left out. */
  let [steps, behind] = [0, 0]
  let isInStep = false
  let isJoining = false

  /** The frames for the client, of an answer that begins again. */
  const joined = (frame: string): string => {
    if (behind > 0) {
      if (isOf(frame, "finish-step")) behind -= 1
      return ""
    }
    if (isOf(frame, "start") || !frame.startsWith("data: ")) return ""
    // The results of a step that the client has.
    if (frame.startsWith(resultPrefix)) return frame
    isJoining = false
    if (!isInStep) return passed(frame)
    if (isOf(frame, "start-step")) return dataFrame({ type: "reset-step" })
    return passed(dataFrame({ type: "reset-step" })) + passed(dataFrame({ type: "finish-step" })) + passed(frame)
  }

  const passed = (frame: string): string => {
    if (isOf(frame, "start-step")) isInStep = true
    if (isOf(frame, "finish-step")) {
      isInStep = false
      steps += 1
    }
    return frame
  }

  return {
    push: (frame) => written(isJoining ? joined(frame) : passed(frame)),
    again: (headers) => {
      isJoining = true
      behind = steps
      return headers
    },
    failed: () =>
      dataFrame({ type: "data-troupe-error", transient: true, data: { code: "moved" } }) +
      dataFrame({ type: "error", errorText: "The turn could not go on: moved" })
  }
}
