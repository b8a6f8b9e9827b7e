/**
 * Serves what a module exports, over standard streams or HTTP.
 *
 * MCPCMD1. Over standard streams the standard output has messages of the protocol only: the console of the module writes to the standard
 *          error.
 * MCPCMD2. Over HTTP each request needs a caller: the module names it by `authorize`, or the command line by `--owner`, which is for
 *          the loopback address only.
 */
import { Console } from "node:console"
import { resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { Fake, type RunningTroupe, Troupe } from "@troupe/chat"
import { listen } from "@troupe/server/Node"
import { type McpCaller, type McpServeOptions, serve } from "../server/index.ts"
import { CommandError } from "./CommandError.ts"

/** What a module exports. */
interface Served {
  readonly troupe?: RunningTroupe
  readonly mcp?: McpServeOptions
}

/** Where a module is served, and to whom. Without a port, over the standard streams. */
interface Place extends Pick<McpCaller, "may"> {
  readonly port: number | undefined
  readonly host: string
  readonly owner: string | undefined
}

/** Serves a module, until its client has gone or a signal ends it. */
export const serveModule = async (path: string, place: Place): Promise<void> => {
  const { port, owner, may } = place
  if (port === undefined) Object.assign(console, new Console(process.stderr))
  const { troupe, mcp } = await served(path)
  if (mcp === undefined) throw new CommandError(`${path} does not export mcp, the options of Mcp.serve.`)
  if (troupe === undefined && mcp.agents !== undefined)
    throw new CommandError(`${path} exports agents in mcp, but no troupe. Export the Troupe that has them.`)
  const options = port === undefined ? mcp : { ...mcp, authorize: authorizeOf(mcp, place) }
  const running = troupe ?? (await Troupe.start({ adapter: Fake.make({ script: [] }) }))
  const service = serve(running, options)
  let { close } = service
  if (port === undefined) service.stdio({ owner: owner ?? "stdio", may })
  else {
    const listening = await listen(service, { port, host: place.host })
    close = listening.close
    process.stderr.write(`MCP at ${listening.url}/mcp\n`)
  }
  let isEnding = false
  const end = async (): Promise<void> => {
    if (isEnding) return
    isEnding = true
    await close()
    await running.stop()
    process.exit()
  }
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void end())
  if (port === undefined) process.stdin.once("close", () => void end())
}

/** Who calls over HTTP (MCPCMD2). */
const authorizeOf = (
  { authorize }: McpServeOptions,
  { host, owner, may }: Place
): NonNullable<McpServeOptions["authorize"]> => {
  if (authorize !== undefined) return authorize
  if (owner === undefined)
    throw new CommandError("Over HTTP, export authorize in mcp, or name one owner for all callers with --owner.")
  if (!["127.0.0.1", "::1", "localhost"].includes(host))
    throw new CommandError(`--owner serves everybody who reaches ${host}: export authorize in mcp instead.`)
  return () => ({ owner, may })
}

const served = async (path: string): Promise<Served> => {
  try {
    return (await import(pathToFileURL(resolve(path)).href)) as Served
  } catch (cause) {
    throw new CommandError(`${path} cannot be loaded: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause
    })
  }
}
