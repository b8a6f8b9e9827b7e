/** The keywords that combine schemas. */
import { quoted } from "../errors/index.ts"
import type { At, Check } from "./check.ts"
import { type Compiler, every, isList, type Keyword } from "./keyword.ts"

const alternatives = (argument: unknown, { checkOf }: Compiler): ReadonlyArray<Check> | undefined =>
  isList(argument) && argument.length > 0 ? argument.map(checkOf) : undefined

export const allOf: Keyword = {
  make: (argument, _, compiler) => {
    const checks = alternatives(argument, compiler)
    return checks && ((value, at, run, evaluated) => every(checks, run, (check) => check(value, at, run, evaluated)))
  }
}

export const anyOf: Keyword = {
  make: (argument, _, compiler) => {
    const checks = alternatives(argument, compiler)
    if (checks === undefined) return undefined
    return (value, at, run, evaluated) => {
      const reasons: Array<string> = []
      let fits = false
      for (const check of checks) {
        const attempt = run.attempt(1, () => check(value, at, run, evaluated))
        fits ||= attempt.fits
        if (fits && evaluated === undefined) return true
        if (attempt.issues[0] !== undefined) reasons.push(reasonOf(attempt.issues[0], at))
      }
      return fits || run.fail(at, `fits none of ${checks.length} forms: ${quoted(reasons.join("; "))}`)
    }
  }
}

const reasonOf = (
  { path, message }: { readonly path: ReadonlyArray<string | number>; readonly message: string },
  at: At | undefined
): string => {
  let depth = 0
  for (let above = at; above !== undefined; above = above.above) depth++
  return [path.slice(depth).join("."), message].filter((word) => word !== "").join(" ")
}

export const oneOf: Keyword = {
  make: (argument, _, compiler) => {
    const checks = alternatives(argument, compiler)
    if (checks === undefined) return undefined
    return (value, at, run, evaluated) => {
      const reasons: Array<string> = []
      let decided = 0
      let undecided = 0
      for (const check of checks) {
        const { fits, isUndecided, issues } = run.attempt(1, () => check(value, at, run, evaluated))
        if (fits && isUndecided) undecided++
        else if (fits) decided++
        else if (issues[0] !== undefined) reasons.push(reasonOf(issues[0], at))
      }
      if (decided > 1) return run.fail(at, `fits ${decided} of ${checks.length} forms, but must fit only one`)
      if (decided + undecided > 0) return true
      return run.fail(at, `fits none of ${checks.length} forms: ${quoted(reasons.join("; "))}`)
    }
  }
}

export const not: Keyword = {
  make: (argument, _, { checkOf }) => {
    const check = checkOf(argument)
    return (value, at, run) => {
      const { fits, isUndecided } = run.attempt(0, () => check(value, at, run, undefined))
      return !fits || (isUndecided ? run.pass() : run.fail(at, "has a form that is not allowed"))
    }
  }
}

export const condition: Keyword = {
  since: 7,
  make: (argument, schema, { checkOf }) => {
    const [test, then, otherwise] = [argument, schema["then"] ?? true, schema["else"] ?? true].map(checkOf)
    if (test === undefined || then === undefined || otherwise === undefined) return undefined
    return (value, at, run, evaluated) => {
      const { fits, isUndecided } = run.attempt(0, () => test(value, at, run, evaluated))
      if (isUndecided) return run.pass()
      return (fits ? then : otherwise)(value, at, run, evaluated)
    }
  }
}
