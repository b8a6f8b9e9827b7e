/** One check of a value against a compiled schema: its steps, its issues, and what it could not decide. */

/** The most steps of one check: about a second. A step is one schema at one value, or so many characters of a text. */
const mostSteps = 1_000_000

/** The most levels of schemas inside schemas. */
const mostLevels = 500

/** The most issues of one check. */
const mostIssues = 20

/** A part of a value: the path to it. */
export interface At {
  readonly above: At | undefined
  readonly key: string | number
}

/** A part of the value that does not fit. */
export interface Issue {
  readonly path: ReadonlyArray<string | number>
  readonly message: string
}

/** The parts of a value that a schema has evaluated, for `unevaluatedProperties` and `unevaluatedItems`. */
export class Evaluated {
  readonly keys = new Set<string | number>()
  areAllNames = false
  areAllItems = false

  add(other: Evaluated): void {
    for (const key of other.keys) this.keys.add(key)
    this.areAllNames ||= other.areAllNames
    this.areAllItems ||= other.areAllItems
  }
}

/** Compiled keywords. Returns whether the value fits. */
export type Check = (value: unknown, at: At | undefined, run: Run, evaluated: Evaluated | undefined) => boolean

/** A check that has used its steps or levels. */
export class Exhausted extends Error {
  override readonly name = "Exhausted"
}

/** The state of one check. */
export class Run {
  /** The resources that the check is in, outermost first (dynamic scope). */
  readonly scope: Array<object> = []
  issues: Array<Issue> = []
  /** How many parts could not be decided. They fit. */
  undecided = 0
  #most = mostIssues
  #steps = 0
  #levels = 0

  /** Counts steps. */
  spend(steps: number): void {
    this.#steps += steps
    if (this.#steps > mostSteps) throw new Exhausted(`the check took more than ${mostSteps} steps`)
  }

  /** Runs one level deeper. */
  below<A>(run: () => A): A {
    if (++this.#levels > mostLevels) throw new Exhausted(`the check went more than ${mostLevels} levels deep`)
    const result = run()
    this.#levels--
    return result
  }

  /** Whether the issues are complete. */
  get isFull(): boolean {
    return this.issues.length >= this.#most
  }

  /** Adds an issue; always `false`. */
  fail(at: At | undefined, message: string): false {
    if (!this.isFull) this.issues.push({ path: pathOf(at), message })
    return false
  }

  /** A part that cannot be decided fits; always `true`. */
  pass(): true {
    this.undecided++
    return true
  }

  /** Runs a check whose failure is no failure of the whole, and keeps at most `most` of its issues. */
  attempt(
    most: number,
    run: () => boolean
  ): { readonly fits: boolean; readonly isUndecided: boolean; readonly issues: ReadonlyArray<Issue> } {
    const { issues, undecided } = this
    const before = this.#most
    this.issues = []
    this.#most = most
    const fits = run()
    const attempt = { fits, isUndecided: this.undecided > undecided, issues: this.issues }
    this.issues = issues
    this.#most = before
    return attempt
  }
}

const pathOf = (at: At | undefined): ReadonlyArray<string | number> => {
  const path: Array<string | number> = []
  for (let part = at; part !== undefined; part = part.above) path.unshift(part.key)
  return path
}
