/**
 * The interface between a suite of conformance cases and the runner.
 *
 * @module
 */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { basename, join } from "node:path"
import type { Fields } from "./json.ts"
import type { Difference } from "./matching.ts"

/** The clock of the cases: a virtual one that jumps from timer to timer, or the host's. */
export type ClockKind = "virtual" | "real"

/** The facts of a case that deviations read, the same for all suites. */
export interface CaseFacts {
  readonly suite: "otp" | "gen-statem" | "chat" | "dispatch" | "practice" | "schema"
  /** The operation of the case: a key of its suite's table of operations. */
  readonly operation: string
  readonly given: Fields
  readonly expected: Fields
}

/**
 * Why a case is not run: it needs a feature that this project does not have (`unexamined`), or another language
 * (`skipped`).
 */
export class NotRun extends Error {
  readonly status: "unexamined" | "skipped"
  constructor(because: string, status: NotRun["status"] = "unexamined") {
    super(because)
    this.status = status
  }
}

/** The differences of a case from its expectation; an empty list when there are none. */
export type Finding = ReadonlyArray<Difference>

/** One case of a suite. */
export interface Case {
  readonly id: string
  readonly facts: CaseFacts
  /** Runs the case; rejects with a `NotRun` when it cannot run. */
  run(clock: ClockKind): Promise<Finding>
}

/** Reads the cases of a file. */
export interface Suite {
  /** The number of cases that may run at a time on the host's clock. Default 1. */
  readonly concurrency?: number
  /** The cases of a file's JSON value; `file` is its name without `.json`, `path` its path. */
  casesOf(content: unknown, file: string, path: string): ReadonlyArray<Case>
}

/** Ends a case that needs a feature that this project does not have. */
export const unexaminedCase = (because: string): never => {
  throw new NotRun(because)
}

/** The cases of a file, or of every JSON file below a folder, in the order of the files' names. */
export const readCases = (suite: Suite, path: string): ReadonlyArray<Case> => {
  const files = statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".json"))
        .toSorted()
        .map((name) => join(path, name))
    : [path]
  return files.flatMap((file) => suite.casesOf(JSON.parse(readFileSync(file, "utf8")), basename(file, ".json"), file))
}
