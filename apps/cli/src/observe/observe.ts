/**
 * `observe`: a running server's processes in the terminal.
 *
 * @module
 */
import type { ObserverLink } from "@troupe/server/ChatLink"
import { ConnectionError, connect, HttpError } from "@troupe/server/Client"
import { CliError, type ObserveOptions } from "../options/index.ts"
import { runReport } from "./observerReport.ts"
import { type KeyInput, runObserver } from "./observerTerminal.ts"
import type { Paint, TerminalOutput } from "../output/index.ts"

/** The environment of `observe`. */
export interface ObserveSurroundings {
  readonly input: KeyInput & { readonly isTTY?: boolean | undefined }
  readonly output: TerminalOutput & { readonly isTTY?: boolean | undefined }
  readonly paint: Paint
  /** Ends it early. */
  readonly signal: AbortSignal
}

/**
 * Observes a server until the user quits or the signal is aborted.
 *
 * **Errors**: rejects with a `CliError` when no server answers at first, and when the server refuses.
 */
export const observe = async (
  { url, headers, once, node }: ObserveOptions,
  surroundings: ObserveSurroundings
): Promise<void> => {
  const { input, output, paint, signal } = surroundings
  const link = connect({ url, headers }).observer
  const observer = node === undefined ? link : { ...link, ...link.node?.(node) }
  const refused = new AbortController()
  let refusal: Error | undefined
  const leave = observer.tree.subscribe(() => {
    refusal = finalError(observer)
    if (refusal !== undefined) refused.abort()
  })
  try {
    await firstState(observer, signal)
    const ending = AbortSignal.any([signal, refused.signal])
    if (signal.aborted) return
    if (input.isTTY === true && output.isTTY === true && !once) {
      await runObserver({ observer, url, input, output, paint, signal: ending })
    } else await runReport({ observer, once, signal: ending, write: (line) => void output.write(`${line}\n`) })
    if (refusal !== undefined) throw refusal
  } catch (error) {
    throw explained(error, url)
  } finally {
    leave()
  }
}

const finalError = ({ tree }: ObserverLink): Error | undefined => {
  const error = tree.getError?.()
  return error instanceof HttpError && error.status !== undefined && error.status < 500 && error.status !== 429
    ? error
    : undefined
}

/** Resolves with the first state; rejects with an error that comes before it. */
const firstState = ({ tree }: ObserverLink, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const look = (): void => {
      const error = tree.getError?.()
      if (error !== undefined) end(() => reject(error))
      else if (tree.getState() !== undefined || signal.aborted) end(resolve)
    }
    const end = (settle: () => void): void => {
      leave()
      signal.removeEventListener("abort", look)
      settle()
    }
    const leave = tree.subscribe(look)
    signal.addEventListener("abort", look)
    look()
  })

const explained = (error: unknown, url: string): unknown => {
  const elsewhere = new CliError(`${url} is no Troupe server, or its paths begin elsewhere`)
  if (error instanceof ConnectionError) {
    if (error.status !== undefined) return elsewhere
    return new CliError(`no server answers at ${url}: start one, or name another with observe <url>`)
  }
  if (!(error instanceof HttpError)) return error
  if (error.code === "unauthorized")
    return new CliError(`${url} requires authorization: --header "authorization: Bearer …"`)
  if (error.code === "forbidden")
    return new CliError(`${url} lets nobody observe but whom its authorize permits it with may: { observe: true }`)
  if (error.status === 404) return elsewhere
  return new CliError(`${url} refuses: ${error.message}`)
}
