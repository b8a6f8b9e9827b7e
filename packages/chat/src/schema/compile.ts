/**
 * Compiles schemas to functions, without `eval`.
 *
 * Owns: the compiled schemas of one document.
 * Does not own: the state of a check ({@link Run}), the meaning of a keyword (`keywords.ts`).
 *
 * SCHEMA1. No valid value is refused, by draft 4, 6, 7, 2019-09 or 2020-12. A part that cannot be decided fits: a reference
 *          to another document, an unknown dialect, a pattern without a matcher. Formats are checked only on request.
 *          With `nullable: true` (OpenAPI), null fits.
 * SCHEMA2. A schema is compiled once, when a value reaches it for the first time.
 * SCHEMA3. A check takes at most a million steps, 500 levels, and returns at most twenty issues. A check that needs more
 *          ends with one issue.
 */
import { isRecord } from "../errors/index.ts"
import { type At, type Check, Evaluated, Exhausted, type Issue, Run } from "./check.ts"
import { type Keywords, type Place, type Resource, SchemaDocument } from "./document.ts"
import type { Compiler } from "./keyword.ts"
import { keywords, lastKeywords } from "./keywords.ts"
import { replacedBy } from "./references.ts"

/** Compiles a document to a function that returns the issues of a value, none for a valid value (SCHEMA2). */
export const compile = (
  schema: unknown,
  options: { readonly hasFormats: boolean }
): ((value: unknown) => ReadonlyArray<Issue>) => {
  const document = new SchemaDocument(schema)
  const compiled = new Map<Resource, Map<object, Check>>()
  const checkAt = ({ schema: given, resource }: Place): Check => {
    if (given === false) return (_, at, run) => run.fail(at, "is not allowed")
    if (!isRecord(given)) return () => true
    const own = document.resourceOf(given, resource)
    const checks = compiled.get(own) ?? new Map<object, Check>()
    compiled.set(own, checks)
    const known = checks.get(given)
    if (known !== undefined) return known
    let check: Check | undefined
    const later: Check = (value, at, run, evaluated) => {
      check ??= checkOf(given, {
        draft: own.draft,
        resource: own,
        hasFormats: options.hasFormats,
        document,
        checkAt,
        checkOf: (below) => checkAt({ schema: below, resource: own })
      })
      return check(value, at, run, evaluated)
    }
    checks.set(given, later)
    return later
  }
  const root = checkAt({ schema, resource: document.root })
  return (value) => {
    const run = new Run()
    try {
      root(value, undefined, run, undefined)
      return run.issues
    } catch (error) {
      if (error instanceof Exhausted) return [{ path: [], message: error.message }]
      throw error
    }
  }
}

/** The check of one schema: all its keywords, then those that depend on what the others evaluated. */
const checkOf = (schema: Keywords, compiler: Compiler): Check => {
  const { draft, resource } = compiler
  const replaced = replacedBy(schema, draft)
  const checksOf = (table: typeof keywords): ReadonlyArray<Check> =>
    Object.entries(table).flatMap(([keyword, { since = 4, make }]) =>
      Object.hasOwn(schema, keyword) && draft >= since && !replaced(keyword)
        ? (make(schema[keyword], schema, compiler) ?? [])
        : []
    )
  const checks = checksOf(keywords)
  const last = checksOf(lastKeywords)
  const isNullable = schema["nullable"] === true
  const checked = (value: unknown, at: At | undefined, run: Run, above: Evaluated | undefined): boolean => {
    run.spend(1)
    const { undecided } = run
    const evaluated = above === undefined && last.length === 0 ? undefined : new Evaluated()
    const holds = (some: ReadonlyArray<Check>): boolean => {
      let fits = true
      for (const check of some) {
        if (check(value, at, run, evaluated)) continue
        fits = false
        if (run.isFull) break
      }
      return fits
    }
    // An undecided keyword may have evaluated any part.
    const fits = holds(checks) && (run.undecided > undecided || holds(last))
    if (fits && evaluated !== undefined) above?.add(evaluated)
    return fits
  }
  return (value, at, run, evaluated) => {
    if (isNullable && value === null) return true
    if (run.scope.at(-1) === resource) return run.below(() => checked(value, at, run, evaluated))
    run.scope.push(resource)
    const fits = run.below(() => checked(value, at, run, evaluated))
    run.scope.pop()
    return fits
  }
}
