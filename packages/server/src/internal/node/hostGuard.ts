/** Which names a server answers to that listens on this computer alone. */
import { HttpError } from "../../HttpError.ts"

const own: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]", "::1"])

/** Throws an `HttpError` (403) for a name that is not this computer's, where only this computer can ask. */
export const hostGuard = (host: string, hosts: ReadonlyArray<string> | undefined): ((request: Request) => void) => {
  if (hosts !== undefined || !own.has(host)) return () => {}
  return ({ url }) => {
    if (own.has(new URL(url).hostname)) return
    throw new HttpError("host_refused", "This server answers to this computer's own names; list others in `hosts`")
  }
}
