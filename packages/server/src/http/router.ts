/** Finds the route of a request, and whether its client accepts what the route produces. */
import { HttpError } from "../errors/index.ts"
import type { Route } from "./route.ts"

/** A route, and the values of its path's parameters. */
interface Found {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

interface Compiled {
  readonly route: Route
  readonly segments: ReadonlyArray<string>
}

/**
 * The routes of a server.
 *
 * - `find` throws an `HttpError` for an unknown path or method
 * - `refusedBelow` is how the routes with the same first segment answer a refusal
 */
export interface Router {
  readonly find: (method: string, pathname: string) => Found
  readonly refusedBelow: (pathname: string) => Route["refused"]
}

/** Makes the router of these routes. */
export const makeRouter = (routes: ReadonlyArray<Route>, basePath: string): Router => {
  const compiled = routes.map((route): Compiled => ({ route, segments: route.path.split("/").slice(1) }))
  const byLength = Map.groupBy(compiled, ({ segments }) => segments.length)
  const refusedBelow: Router["refusedBelow"] = (pathname) => {
    const first = pathname.startsWith(`${basePath}/`) ? pathname.slice(basePath.length + 1).split("/")[0] : undefined
    return compiled.find(({ route, segments }) => route.refused !== undefined && segments[0] === first)?.route.refused
  }
  const find: Router["find"] = (method, pathname) => {
    const parts = segmentsBelow(basePath, pathname)
    const there = (byLength.get(parts?.length ?? 0) ?? []).filter((candidate) => fits(candidate, parts ?? []))
    if (parts === undefined || there.length === 0) {
      throw new HttpError(
        "not_found",
        "There is nothing at this path; the paths are those of https://troupe.example/serving"
      )
    }
    const found = there.find(({ route }) => route.method === method)
    if (found === undefined) throw notAllowed(there)
    return { route: found.route, params: paramsOf(found, parts) }
  }
  return { find, refusedBelow }
}

const segmentsBelow = (basePath: string, pathname: string): ReadonlyArray<string> | undefined =>
  pathname.startsWith(`${basePath}/`)
    ? pathname
        .slice(basePath.length + 1)
        .split("/")
        .map(decoded)
    : undefined

/** Decodes a segment once: the result is a name, even when it looks encoded. */
const decoded = (segment: string): string => {
  try {
    return decodeURIComponent(segment)
  } catch (cause) {
    throw new HttpError("invalid_path", "The path is not well encoded; encode each part with encodeURIComponent", {
      cause
    })
  }
}

const fits = ({ segments }: Compiled, parts: ReadonlyArray<string>): boolean =>
  segments.every((segment, index) => segment.startsWith(":") || segment === parts[index])

const paramsOf = ({ segments }: Compiled, parts: ReadonlyArray<string>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    segments.flatMap((segment, index) => (segment.startsWith(":") ? [[segment.slice(1), parts[index] ?? ""]] : []))
  )

const notAllowed = (there: ReadonlyArray<Compiled>): HttpError => {
  const allow = [...new Set(there.map(({ route }) => route.method))].join(", ")
  return new HttpError("method_not_allowed", `This path takes ${allow}`, { headers: { allow } })
}

/** Whether a client accepts one of the media types that a route produces. */
export const accepts = (accept: string | null, produces: ReadonlyArray<string>): boolean => {
  if (accept === null || accept.trim() === "") return true
  const ranges = accept.split(",").map((range) => range.split(";", 1).join("").trim().toLowerCase())
  return produces.some((type) =>
    ranges.some((range) => range === "*/*" || range === type || range === `${type.split("/", 1).join("")}/*`)
  )
}
