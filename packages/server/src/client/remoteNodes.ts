/**
 * The list of the nodes of a server's cluster, followed by requests.
 *
 * Owns: the one request or pause of a follower. Does not own the list. Calls the server's route of nodes.
 *
 * RNODES1. Until it is stopped, the list is requested each second, one request at a time. Afterwards there is neither a
 *          request nor a timer.
 * RNODES2. A request without an answer ends after ten seconds, with an error. A permanent refusal ends the requests for good:
 *          without a cluster there is one.
 * RNODES3. The follower gets a list only when something changed, and an error only when it differs from the one before.
 *
 * Requests are used instead of a stream, because a browser opens only six connections to a server over HTTP/1.1.
 */
import { asError, ConnectionError, HttpError } from "../errors/index.ts"
import { type Follower, isFinal, pause } from "./reconnectingStream.ts"
import { isRecord, type Remote } from "./remote.ts"

const everyMs = 1_000
const longestMs = 10_000

/** Starts to follow the list at a path, and returns the function that stops. */
export const followNodes = (remote: Remote, path: string, follower: Follower): (() => void) => {
  const left = new AbortController()
  void run(remote, path, follower, left.signal)
  return () => left.abort()
}

const run = async (remote: Remote, path: string, follower: Follower, left: AbortSignal): Promise<void> => {
  let text = ""
  let message: string | undefined
  while (!left.aborted) {
    const answer = await requested(remote, path, left)
    if (left.aborted) return
    const error = answer instanceof Error ? answer : undefined
    const nodes = isRecord(answer) ? answer["nodes"] : undefined
    const newest = error === undefined ? JSON.stringify(nodes) : text
    if (newest !== text) follower.received(nodes as never, text === "")
    else if (error?.message !== message) follower.became(error === undefined ? "open" : "reconnecting", error)
    text = newest
    message = error?.message
    if (error !== undefined && isFinal(error)) return
    const leastMs = error instanceof HttpError ? (error.retryAfterMs ?? 0) : 0
    await pause(remote.clock, Math.max(everyMs, leastMs), left)
  }
}

/** The answer to one request, or its error. */
const requested = async ({ clock, ask }: Remote, path: string, left: AbortSignal): Promise<unknown> => {
  const late = new AbortController()
  const timer = clock.setTimeout(
    () => late.abort(new ConnectionError("The server gave no list of its nodes")),
    longestMs
  )
  try {
    return await ask("GET", path, undefined, AbortSignal.any([left, late.signal]))
  } catch (cause) {
    return asError(cause)
  } finally {
    clock.clearTimeout(timer)
  }
}
