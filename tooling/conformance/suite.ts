/**
 * What a kind of conformance cases is to the runner, and how it finds the cases of a folder.
 *
 * @module
 */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { isList, object, text } from "./json.ts"
import type { Json, JsonObject } from "./json.ts"

/** The time the cases run on: one that jumps from timer to timer, or the host's. */
export type ClockKind = "virtual" | "real"

/** One case: its id, and what its file says. */
export interface Case {
  readonly id: string
  readonly content: JsonObject
}

/** How one case went: `undefined` when it passed, else what is wrong, in one line. */
export type Complaint = string | undefined

/** A kind of cases. */
export interface Suite {
  /** Runs one case by itself. */
  run(found: Case, clock: ClockKind): Promise<Complaint>
}

const casesOf = (content: Json): ReadonlyArray<Case> =>
  (isList(content) ? content : [content]).map((found) => ({ id: text(object(found)["id"]), content: object(found) }))

/** The cases of a file, or of all JSON files of a folder, by their ids. */
export const readCases = (path: string): ReadonlyArray<Case> => {
  const files = statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".json"))
        .map((name) => join(path, name))
    : [path]
  return files
    .flatMap((file) => casesOf(JSON.parse(readFileSync(file, "utf8")) as Json))
    .toSorted((one, other) => (one.id < other.id ? -1 : 1))
}
