/**
 * The observer: the processes of the whole Troupe, including the chats of all owners, for permitted callers.
 *
 * OBSERVE3. Only callers with `may: { observe: true }` see or kill a process through these routes.
 * OBSERVE4. A chat's name is the caller's own id for the caller's chats, and the Troupe's id for others. Where the caller's
 *           id could be an id of the Troupe, the Troupe's id is used for it too. No two chats have the same name.
 * OBSERVE5. In a cluster, a request with `?node=` is answered by the node of this address, and any other by the node that
 *           the client has reached. The permission is checked before the request is forwarded.
 */
import { Observation } from "@troupe/chat/observe"
import type { RunningTroupe } from "@troupe/chat"
import { Observer } from "@troupe/otp"
import * as z from "zod"
import type { Watched } from "../link/index.ts"
import { HttpError } from "../errors/index.ts"
import { check } from "../access/index.ts"
import { events, frame, json, lastFrame } from "./responses.ts"
import { AtNode, type Call, type Frames, type Route } from "../http/index.ts"

const observations = new WeakMap<RunningTroupe, Observation.Observation>()

/**
 * One observation for each Troupe, shared by all callers. Throws an `HttpError` (403) for a caller without permission, and
 * `AtNode` when the request names another node (OBSERVE5).
 */
const observationFor = ({ may, troupe, cluster, url }: Call): Observation.Observation => {
  check(may, "observe")
  const node = url.searchParams.get("node") ?? cluster?.address
  if (cluster !== undefined && node !== undefined && node !== cluster.address) throw new AtNode(node)
  const known = observations.get(troupe) ?? Observation.make(troupe)
  observations.set(troupe, known)
  return known
}

/** The frames of a watched value, none twice. A slow reader skips states: each frame is the state at the time of the request. */
const watchedFrames = <A>(watched: Watched<A>, wire: (state: A) => unknown): Frames =>
  async function* frames(signal) {
    let sent: A | undefined
    let wake = (): void => {}
    const leave = watched.subscribe(() => wake())
    const gone = (): void => wake()
    signal.addEventListener("abort", gone)
    try {
      while (!signal.aborted) {
        const state = watched.getState()
        if (state === undefined || state === sent) {
          await new Promise<void>((resolve) => {
            wake = resolve
          })
          continue
        }
        sent = state
        yield frame(JSON.stringify(wire(state)))
      }
    } finally {
      signal.removeEventListener("abort", gone)
      leave()
    }
  }

const streamOf = <A>(call: Call, watched: Watched<A>, wire: (state: A) => unknown): Response =>
  call.stream(watchedFrames(watched, wire), { last: lastFrame })

type Named = { readonly chat?: string | undefined }

const named = <A extends Named>(node: A, call: Call): A =>
  node.chat === undefined ? node : { ...node, chat: nameOf(node.chat, call) }

/** OBSERVE4. */
const nameOf = (inner: string, call: Call): string => {
  const own = call.chats.outerId(inner)
  return isOthers(own, call) ? inner : own
}

/** Whether a name may be another owner's chat: the Troupe's ids contain a slash, or are ids of live chats. */
const isOthers = (name: string, { troupe }: Call): boolean => name.includes("/") || troupe.isAlive(name)

const namedAll = (nodes: ReadonlyArray<Observation.ProcessNode>, call: Call): ReadonlyArray<Observation.ProcessNode> =>
  nodes.map(({ agentMessages, ...node }) => ({
    ...named({ ...node, children: namedAll(node.children, call) }, call),
    ...(agentMessages !== undefined && {
      agentMessages: agentMessages.map((one) => ({ ...one, from: nameOf(one.from, call) }))
    })
  }))

const tree = async (call: Call): Promise<Response> => {
  const { cluster } = call
  const own = cluster === undefined ? {} : { node: cluster.address }
  return streamOf(call, observationFor(call).tree, (state) => ({ ...state, ...own, tree: namedAll(state.tree, call) }))
}

const process = async (call: Call): Promise<Response> => {
  const watched = observationFor(call).process(call.params["pid"] ?? "")
  const leave = watched.subscribe(() => {})
  const isThere = watched.getState() !== undefined
  leave()
  if (!isThere) throw noProcess()
  return streamOf(call, watched, (state) => named(state, call))
}

const noProcess = (): HttpError =>
  new HttpError("not_found", "No process lives under this pid; the tree has those that do")

/** The caller's chat of this name, or else the Troupe's. For a name that may be another owner's, the Troupe's first. */
const innerOf = async (name: string, call: Call): Promise<string> => {
  const own = `${call.chats.prefix}${name}`
  const isOther = (isOthers(name, call) || !(await call.troupe.has(own))) && (await call.troupe.has(name))
  return isOther ? name : own
}

const timeline = async (call: Call): Promise<Response> => {
  const { timeline: timelineOf } = observationFor(call)
  const name = call.params["chat"] ?? ""
  return streamOf(call, timelineOf(await innerOf(name, call)), (state) => ({ ...state, chat: name }))
}

const kill = async (call: Call): Promise<Response> => {
  const observation = observationFor(call)
  await call.body(z.strictObject({}))
  const pid = call.params["pid"] ?? ""
  const isThere = Observer.find(call.troupe.system, pid) !== undefined
  await observation.kill(pid)
  if (!isThere) throw noProcess()
  return Response.json({ ok: true })
}

const nodes = async (call: Call): Promise<Response> => {
  check(call.may, "observe")
  const chat = call.url.searchParams.get("chat")
  const id = chat === null ? undefined : await innerOf(chat, call)
  return Response.json({ nodes: (await call.cluster?.nodeList(id)) ?? [] })
}

const route = (method: Route["method"], path: string, handle: Route["handle"], type: string): Route => ({
  method,
  path: `/observer/${path}`,
  handle,
  produces: [type],
  observes: true,
  isEndless: type === events
})

export const observerRoutes: ReadonlyArray<Route> = [
  route("GET", "tree", tree, events),
  route("GET", "processes/:pid", process, events),
  route("GET", "timeline/:chat", timeline, events),
  route("POST", "processes/:pid/kill", kill, json)
]

/** The routes of a server whose program is a node of a cluster. */
export const nodeRoutes: ReadonlyArray<Route> = [route("GET", "nodes", nodes, json)]
