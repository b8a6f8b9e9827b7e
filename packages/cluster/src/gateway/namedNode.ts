/**
 * A request on its way to the node that it names.
 *
 * HOP2. A request that names a node is sent to that node, once. When the cluster has no such node, or the node is not reached,
 *       the client gets `node_unreached`: nothing was done. When the node is silent until the deadline of the wire (INNER1),
 *       the client gets `node_silent`.
 */
import { HttpError } from "@troupe/server/HttpError"
import { ClusterError } from "../placement/index.ts"
import type { NodeList } from "./NodeList.ts"
import { refusalOf } from "./refusal.ts"

/** Calls `ask` if the node is a member. Rejects with an `HttpError`: `node_unreached`, `node_silent`. */
export const toNode = async (
  nodes: Pick<NodeList, "has">,
  node: string,
  ask: () => Promise<Response>
): Promise<Response> => {
  if (!(await nodes.has(node))) throw unreached(undefined)
  try {
    return await ask()
  } catch (cause) {
    if (!(cause instanceof ClusterError) || cause.reason === "stopped") throw refusalOf(cause)
    throw cause.reason === "silent" ? silent(cause) : unreached(cause)
  }
}

const unreached = (cause: unknown): HttpError =>
  new HttpError(
    "node_unreached",
    "The cluster has no such node at the moment, or it was not reached; nothing was done",
    {
      cause,
      retryAfterMs: 1_000
    }
  )

const silent = (cause: unknown): HttpError =>
  new HttpError("node_silent", "The node gave no answer; whether it processed the request is not known", {
    cause,
    retryAfterMs: 1_000
  })
