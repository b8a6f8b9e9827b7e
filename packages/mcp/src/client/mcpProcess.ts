/**
 * The process of an MCP server.
 *
 * Owns: the connection of this process, and the wait for the next start. Its state is the health of the server, which the observer
 * shows. Does not own the tools.
 *
 * MCPH1. The scope of the process closes its connection when the process ends, for any reason. A process that ends in order waits for
 *        that in `terminate`.
 * MCPH2. A lost connection is opened again after a wait, which doubles with each failed start in a row. After the last start of the
 *        bound the process ends with an `McpError` as exit reason.
 * MCPH6. A server that needs a sign-in is opened when the storage has its tokens; that is no failed start.
 * MCPH5. The start by a supervisor never fails: a server that cannot be reached waits for its next start.
 *
 * The race of a loss with an orderly end: (1) the server ends; (2) before the process has read that, it gets a shutdown
 * request; (3) `terminate` closes the lost connection, which does nothing; (4) the exit reason is the requested one.
 */
import { GenServer, type Pid, Process, Timer } from "@troupe/otp"
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { type McpConnection, type McpError, type McpHealth, type McpOptions, signInPage } from "../connection/index.ts"
import { lastingMs, waitAfter } from "./restarts.ts"

/** How often the storage of a server that needs a sign-in is read: another program may have signed in. */
const lookAgainMs = 5_000

/** The server of a process. */
export interface Hosted {
  readonly name: string
  readonly options: McpOptions
  health: McpHealth
  readonly connection: () => McpConnection
  readonly takeAhead: () => McpConnection | undefined
  readonly open: (connection: McpConnection) => Promise<void>
  readonly listen: (connection: McpConnection, lost: (error: McpError) => void) => void
  readonly gone: (connection: McpConnection) => void
  readonly isSignedIn: () => Promise<boolean>
}

type Message = { readonly lost: McpError } | { readonly restart: true }

/** Makes the process of a server. If it `waits`, a failed first start is no failure of the process. */
export const mcpProcess = (host: Hosted, waits: boolean) => {
  let connection = host.takeAhead()
  let openedAt = 0

  const close = async (): Promise<void> => {
    const closing = connection
    if (closing !== undefined) host.gone(closing)
    await closing?.close()
  }

  const become = (health: McpHealth): McpHealth => {
    host.health = health
    return health
  }

  const now = (self: Pid): number => Process.systemOf(self).clock.now()

  /** Opens the connection, unless it is open already. */
  const open = async (self: Pid<Message>, failedStarts: number): Promise<McpHealth> => {
    if (connection === undefined) {
      connection = host.connection()
      await host.open(connection)
    }
    openedAt = now(self)
    host.listen(connection, (lost) => Process.send(self, { lost }))
    return become({ status: "connected", failedStarts })
  }

  /** Waits for the next start, or ends the process (MCPH2). */
  const waiting = (self: Pid<Message>, failedStarts: number, error: unknown) => {
    connection = undefined
    const signIn = signInPage(error)
    if (signIn !== undefined) {
      Timer.sendAfter(self, { restart: true }, lookAgainMs)
      return become({ status: "waiting", failedStarts: 0, error: String(error), signIn })
    }
    const health = become({ status: "waiting", failedStarts, error: String(error) })
    const wait = waitAfter(failedStarts, host.options.restarts)
    if (wait === undefined) return undefined
    Timer.sendAfter(self, { restart: true }, wait)
    return health
  }

  return GenServer.make<undefined, McpHealth, never, never, never, Message>({
    init: async (_, self) => {
      const ended = Effect.promise(async () => {
        become({ ...host.health, status: "stopped" })
        await close()
      })
      Effect.runSync(Scope.addFinalizer(Process.scope(self), ended))
      try {
        return GenServer.ok(await open(self, 0))
      } catch (error) {
        const health = waits || signInPage(error) !== undefined ? waiting(self, 1, error) : undefined
        return health === undefined ? GenServer.fail(error) : GenServer.ok(health)
      }
    },
    handleInfo: async (message, health, self) => {
      const { failedStarts } = health
      const failed = (count: number, error: unknown) => {
        const next = waiting(self, count, error)
        return next === undefined ? GenServer.stopping(error, health) : GenServer.noreply(next)
      }
      if (isLost(message)) {
        const lasted = now(self) - openedAt >= lastingMs
        await connection?.close()
        return failed(lasted ? 1 : failedStarts + 1, message.lost)
      }
      if (!isRestart(message) || health.status === "connected") return undefined
      if (health.signIn !== undefined && !(await host.isSignedIn())) {
        Timer.sendAfter(self, { restart: true }, lookAgainMs)
        return undefined
      }
      try {
        return GenServer.noreply(await open(self, failedStarts))
      } catch (error) {
        return failed(failedStarts + 1, error)
      }
    },
    terminate: close
  })
}

const isLost = (message: unknown): message is { readonly lost: McpError } =>
  typeof message === "object" && message !== null && "lost" in message

const isRestart = (message: unknown): message is { readonly restart: true } =>
  typeof message === "object" && message !== null && "restart" in message
