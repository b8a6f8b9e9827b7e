/** Checks what a server is made with: what would refuse everybody, or nobody, says so at once. */
import { type ChatError, ValidationError } from "@troupe/chat"
import type { Limits, ServerOptions } from "./Server.ts"

/** The limits that count. */
export type AllLimits = { readonly [Name in keyof Limits]-?: number }

const defaults: AllLimits = {
  bodyBytes: 1_048_576,
  messageCharacters: 100_000,
  conversations: 1_000,
  requestsPerMinute: 600,
  streams: 100,
  answerBytes: 67_108_864
}

const names = Object.keys(defaults) as ReadonlyArray<keyof Limits>

export const limitsOf = (given: Limits = {}): AllLimits => ({
  ...defaults,
  ...Object.fromEntries(names.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])))
})

/** Throws a `ValidationError` (`invalid_options`) that names each option of the wrong kind. */
export const checkServerOptions = ({
  authorize,
  limits = {},
  origins = [],
  hosts = [],
  trustForwardedHost,
  basePath,
  exposeToolErrors
}: ServerOptions): void => {
  const found: Array<ChatError.Finding> = []
  if (typeof authorize !== "function") {
    found.push({ field: ["authorize"], reason: "must be a function: without one anybody could ask for anything" })
  }
  if (typeof limits !== "object" || limits === null || Array.isArray(limits)) {
    found.push({ field: ["limits"], reason: "must be an object" })
  } else
    for (const [name, limit] of Object.entries(limits)) {
      if (!names.some((known) => known === name)) found.push({ field: ["limits", name], reason: "unknown_option" })
      else if (limit !== undefined && !(typeof limit === "number" && limit >= 1)) {
        found.push({ field: ["limits", name], reason: "must be a number, 1 or more" })
      }
    }
  for (const [index, origin] of listed("origins", origins, found)) {
    if (!(typeof origin === "string" && URL.canParse(origin) && new URL(origin).origin === origin)) {
      found.push({ field: ["origins", index], reason: "must be an origin, as https://app.example.com" })
    }
  }
  for (const [index, host] of listed("hosts", hosts, found)) {
    if (!(typeof host === "string" && URL.canParse(`http://${host}`) && new URL(`http://${host}`).hostname === host)) {
      found.push({ field: ["hosts", index], reason: "must be the name of a host, without port" })
    }
  }
  if (trustForwardedHost !== undefined && typeof trustForwardedHost !== "boolean") {
    found.push({ field: ["trustForwardedHost"], reason: "must be true or false" })
  }
  if (basePath !== undefined && basePath !== "" && !/^(?:\/[\w.-]+)+$/u.test(basePath)) {
    found.push({ field: ["basePath"], reason: "must be a path, as /api" })
  }
  if (exposeToolErrors !== undefined && typeof exposeToolErrors !== "boolean") {
    found.push({ field: ["exposeToolErrors"], reason: "must be true or false" })
  }
  if (found.length > 0) throw new ValidationError("invalid_options", found)
}

/** The entries of a list; of what is none there are none, and it is found. */
const listed = (name: string, value: unknown, found: Array<ChatError.Finding>): Iterable<[number, unknown]> => {
  if (Array.isArray(value)) return value.entries()
  found.push({ field: [name], reason: "must be a list" })
  return []
}
