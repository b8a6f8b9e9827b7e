/**
 * What a suite of conformance cases is to the runner.
 *
 * @module
 */
import { readdirSync, readFileSync, statSync } from "node:fs"
import { basename, join } from "node:path"
import type { Fields } from "./fields.ts"
import type { Difference } from "./matching.ts"

/** The time the cases run on: one that jumps from timer to timer, or the host's. */
export type ClockKind = "virtual" | "real"

/** What rules read of a case, of whichever suite. */
export interface CaseFacts {
  readonly suite: "otp" | "chat" | "dispatch"
  /** What the case calls: a key of its suite's table of operations. */
  readonly operation: string
  readonly given: Fields
  readonly expected: Fields
}

/** Why a case is not run: it asks for what this project does not have (`unexamined`), or for another language (`skipped`). */
export interface NotRun {
  readonly notRun: "unexamined" | "skipped"
  readonly because: string
}

/** How a case differs from its expectation; an empty list when it does not. */
export type Finding = ReadonlyArray<Difference> | NotRun

/** One case, as a suite has read it. */
export interface Case {
  readonly id: string
  readonly facts: CaseFacts
  /** Runs it by itself. */
  run(clock: ClockKind): Promise<Finding>
}

/** Reads the cases of a file. */
export interface Suite {
  /** How many cases may run at a time on the host's clock. */
  readonly concurrency: number
  /** The cases of a file's JSON value; `file` is its name without `.json`. */
  casesOf(content: unknown, file: string): ReadonlyArray<Case>
}

/** A case that asks for what this project does not have. */
export const unexaminedCase = (because: string): NotRun => ({ notRun: "unexamined", because })

/** The cases of a file, or of every JSON file below a folder, in the order of the files' names. */
export const readCases = (suite: Suite, path: string): ReadonlyArray<Case> => {
  const files = statSync(path).isDirectory()
    ? readdirSync(path, { recursive: true, encoding: "utf8" })
        .filter((name) => name.endsWith(".json"))
        .toSorted()
        .map((name) => join(path, name))
    : [path]
  return files.flatMap((file) => suite.casesOf(JSON.parse(readFileSync(file, "utf8")), basename(file, ".json")))
}
