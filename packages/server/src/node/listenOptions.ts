/** The options with which a server listens, and their check. */
import { optionFindings, ValidationError } from "@troupe/chat/errors"
import type { Clock } from "@troupe/otp"
import * as z from "zod"

/**
 * Where and how a server listens.
 *
 * **Details**: the requests of a connection are answered in order, and 100 may wait on it.
 *
 * **Gotchas**: a server that listens on a loopback address answers only to the names of this computer, unless its options list
 * `hosts`. Otherwise a page of another site could reach it under a name of its own (DNS rebinding).
 */
export interface ListenOptions {
  /** The port. Default: any free one. */
  readonly port?: number | undefined
  /** The address to listen on. Default: `"127.0.0.1"`. */
  readonly host?: string | undefined
  /** How long `close` waits for running requests before it ends them, in milliseconds. Default: 10,000. */
  readonly graceMs?: number | undefined
  /** How long the headers of a request may take to arrive, in milliseconds. Default: 10,000. */
  readonly headersMs?: number | undefined
  /** How long a whole request may take to arrive, in milliseconds. Default: 30,000. */
  readonly requestMs?: number | undefined
  /** How long a client may take nothing of its answer before it is disconnected, in milliseconds. Default: 120,000. */
  readonly stallMs?: number | undefined
  /**
   * How long a connection may have no request before it is closed, in milliseconds. Default: 5,000. It is closed after that and
   * `headersMs` even when bytes arrive that are no request.
   */
  readonly keepAliveMs?: number | undefined
  /** The most connections at the same time. Default: 10,000. */
  readonly connections?: number | undefined
  /** The most bytes of the headers of a request. Default: 16,384. */
  readonly headerBytes?: number | undefined
  /** The clock of the times. Default: the host's. */
  readonly clock?: Clock.Clock | undefined
}

const passing = (test: (value: unknown) => boolean, reason: string): z.ZodType => z.custom(test, reason).optional()

const isCount = (value: unknown, least: number, most = Infinity): boolean =>
  Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most

const milliseconds = passing((value) => typeof value === "number" && value >= 0, "must_be_milliseconds")
const count = passing((value) => isCount(value, 1), "must_be_a_positive_integer")

const types = z.strictObject(
  {
    port: passing((value) => isCount(value, 0, 65_535), "must_be_a_number from 0 to 65535"),
    host: z.string("must_be_a_text").optional(),
    graceMs: milliseconds,
    headersMs: milliseconds,
    requestMs: milliseconds,
    stallMs: milliseconds,
    keepAliveMs: milliseconds,
    connections: count,
    headerBytes: count,
    clock: passing((value) => typeof value === "object" && value !== null && "now" in value, "must_be_a_clock")
  } satisfies { readonly [Name in keyof Required<ListenOptions>]: z.ZodType },
  "must_be_an_object of options"
)

/** Throws a `ValidationError` (`invalid_options`) for a value that is no server, and for unknown and invalid options. */
export const checkListening = (server: unknown, options: unknown): void => {
  const isServer = typeof server === "object" && server !== null && "fetch" in server && "close" in server
  const found = isServer ? [] : [{ field: ["server"], reason: "must_be the server of Server.make" }]
  const known = Object.keys(types.shape).join(", ")
  const ofOptions = optionFindings(types, options, () => `unknown_option; use ${known}`)
  if (!isServer || ofOptions.length > 0) throw new ValidationError("invalid_options", [...found, ...ofOptions])
}
