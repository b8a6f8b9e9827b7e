/** The host names that a server on a loopback address answers to. */
import { HttpError, quoted } from "../errors/index.ts"

const own: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]", "::1"])

/**
 * Returns a check that throws an `HttpError` (403) for a name that is not this computer's, when only this computer can
 * connect.
 */
export const hostGuard = (host: string, hosts: ReadonlyArray<string> | undefined): ((request: Request) => void) => {
  if (hosts !== undefined || !own.has(host)) return () => {}
  return ({ url }) => {
    const { hostname } = new URL(url)
    if (own.has(hostname)) return
    throw new HttpError(
      "host_refused",
      `This server listens on this computer alone and does not answer to the host ${quoted(hostname)}; list it in \`hosts\` if a proxy asks under that name`
    )
  }
}
