/**
 * The server of the page's buttons, on the loopback interface: the state of the nodes, and commands for them.
 *
 * CONTROL1. A page of another origin than the gateway's gets no answer that it can read, and its commands are refused.
 */
import { type Listening, listen } from "@troupe/server/Node"
import { Hono } from "hono"
import { cors } from "hono/cors"
import { streamSSE } from "hono/streaming"
import { actionsOf, type ClusterStatus, type Command, type NodeAction } from "../control/index.ts"

/** The controlled cluster. `command` returns the reason why a command is not possible. */
export interface Controlled {
  readonly status: () => ClusterStatus
  readonly command: (command: Command) => string | undefined
  /** Calls a function at each change of the status. */
  readonly subscribe: (changed: () => void) => () => void
  readonly isOrigin: (origin: string) => boolean
}

const isAction = (text: string): text is NodeAction =>
  [...actionsOf("running"), ...actionsOf("frozen"), ...actionsOf("ended")].some((action) => action === text)

/** Starts the server. */
export const startControl = ({ status, command, subscribe, isOrigin }: Controlled): Promise<Listening> => {
  const closing = new AbortController()
  const app = new Hono()
  app.use(cors({ origin: (origin) => (isOrigin(origin) ? origin : null), allowMethods: ["GET", "POST"] }))
  app.use(async (context, next) => {
    const origin = context.req.header("origin")
    if (origin !== undefined && !isOrigin(origin)) return context.json({ error: "This page may not do this." }, 403)
    return next()
  })
  app.get("/nodes", (context) => context.json(status()))
  app.get("/events", (context) =>
    streamSSE(context, async (stream) => {
      let { promise, resolve } = Promise.withResolvers<void>()
      const wake = (): void => resolve()
      const leave = subscribe(wake)
      stream.onAbort(wake)
      closing.signal.addEventListener("abort", wake, { once: true })
      while (!stream.aborted && !closing.signal.aborted) {
        ;({ promise, resolve } = Promise.withResolvers<void>())
        await stream.writeSSE({ data: JSON.stringify(status()) })
        await promise
      }
      closing.signal.removeEventListener("abort", wake)
      leave()
    })
  )
  const answered = (refusal: string | undefined): Response =>
    refusal === undefined
      ? Response.json(status(), { status: 202 })
      : Response.json({ error: refusal }, { status: 409 })
  app.post("/nodes", () => answered(command({ type: "add" })))
  app.post("/nodes/:node/:action", ({ req }) => {
    const { node, action } = req.param()
    return isAction(action)
      ? answered(command({ type: action, node: Number(node) }))
      : Response.json({ error: `There is no action ${action}.` }, { status: 404 })
  })
  const server = {
    fetch: async (request: Request) => app.fetch(request),
    close: async () => closing.abort(),
    hosts: undefined
  }
  return listen(server, { graceMs: 500 })
}
