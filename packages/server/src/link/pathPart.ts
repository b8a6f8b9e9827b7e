/** The part of a URL's path for an id. */
import { HttpError } from "../errors/index.ts"

/**
 * The part of a path for an id. A URL drops parts of one or two dots, also encoded ones, and half of a surrogate pair has no encoding.
 *
 * Throws an `HttpError` (`invalid_input`) for such an id.
 */
export const pathPart = (field: string, id: string): string => {
  if (id !== "" && id !== "." && id !== ".." && id.isWellFormed()) return encodeURIComponent(id)
  const reason = 'must_be_a_text without half surrogate pairs, and neither empty nor "." nor ".."'
  throw new HttpError("invalid_input", "A path cannot have this id; `issues` says why", {
    issues: [{ field: [field], reason }]
  })
}
