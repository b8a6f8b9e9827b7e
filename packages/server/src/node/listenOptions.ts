/** The options with which a server listens, and their check. */
import { optionFindings, ValidationError } from "@troupe/chat/errors"
import type { Clock } from "@troupe/otp"
import * as z from "zod"

/**
 * Where and how a server listens.
 *
 * **Units and defaults**: `port` is any free one, `host` is `"127.0.0.1"`. Times are in milliseconds. A request's headers
 * must arrive within `headersMs`, 10,000, and all of it within `requestMs`, 30,000. A client that takes nothing of its
 * answer for `stallMs`, 120,000, is disconnected. A connection without a request is closed after `keepAliveMs`, 5,000;
 * after that and `headersMs` even when bytes arrive that are no request. `graceMs` is 10,000. `connections` is 10,000,
 * `headerBytes` 16,384. `clock` is the host's. The requests of a connection are answered in order, and 100 may wait on it.
 *
 * **Gotchas**: a server that listens on a loopback address answers only to the names of this computer, unless its options
 * list `hosts`. Otherwise a page of another site could reach it under a name of its own (DNS rebinding).
 */
export interface ListenOptions {
  readonly port?: number | undefined
  readonly host?: string | undefined
  readonly graceMs?: number | undefined
  readonly headersMs?: number | undefined
  readonly requestMs?: number | undefined
  readonly stallMs?: number | undefined
  readonly keepAliveMs?: number | undefined
  readonly connections?: number | undefined
  readonly headerBytes?: number | undefined
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
