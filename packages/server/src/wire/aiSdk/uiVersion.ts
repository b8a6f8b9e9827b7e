/**
 * The streams of clients of the AI SDK 5 and 6: their parsers end a stream with an error at a chunk that they do not know.
 *
 * UIVERSION1. A client that sends the header `x-troupe-ai-sdk` with its version gets only chunks that this version reads. Without the header,
 *             the version is 7. A call that waits for a decision is then the data part `data-troupe-approval`, and a denied call has
 *             an error. A step that is sent again (`reset-step`) stands beside its beginning until the client loads the messages.
 */
import { HttpError } from "../../errors/index.ts"
import { dataFrame } from "../index.ts"

type UiVersion = 5 | 6 | 7

const versionHeader = "x-troupe-ai-sdk"

/**
 * The version of the client.
 *
 * **Errors**: throws an `HttpError` (`invalid_input`) for another version.
 */
export const uiVersionOf = ({ headers }: Pick<Request, "headers">): UiVersion => {
  const given = headers.get(versionHeader) ?? "7"
  if (given === "5") return 5
  if (given === "6") return 6
  if (given === "7") return 7
  throw new HttpError("invalid_input", `The header ${versionHeader} is the version of the package "ai": 5, 6 or 7`)
}

interface Known {
  readonly toolCallId: string
  readonly reason?: string
}

const parsed = (frame: string): Known => JSON.parse(frame.slice("data: ".length)) as Known

const isOf = (frame: string | undefined, type: string): boolean => frame?.startsWith(`data: {"type":"${type}"`) === true

/** Makes the function that writes whole frames in the form of a version. It remembers the reasons of denials. */
export const inUiVersion = (version: UiVersion): ((frames: string) => string) => {
  if (version === 7) return (frames) => frames
  const reasons = new Map<string, string | undefined>()
  /** `next` is the frame after it. */
  const reduced = (frame: string, next: string | undefined): string => {
    if (isOf(frame, "reset-step") || isOf(frame, "tool-approval-response")) return ""
    if (version === 6) return frame
    if (isOf(frame, "tool-approval-request")) {
      const { toolCallId, reason } = parsed(frame)
      const isDenied = isOf(next, "tool-approval-response")
      if (isDenied) reasons.set(toolCallId, reason)
      return isDenied ? "" : dataFrame({ type: "data-troupe-approval", transient: true, data: { toolCallId, reason } })
    }
    if (!isOf(frame, "tool-output-denied")) return frame
    const { toolCallId } = parsed(frame)
    return dataFrame({
      type: "tool-output-error",
      toolCallId,
      errorText: reasons.get(toolCallId) ?? "The call was denied"
    })
  }
  return (frames) =>
    frames
      .split(/(?<=\n\n)/u)
      .map((frame, at, all) => reduced(frame, all[at + 1]))
      .join("")
}
