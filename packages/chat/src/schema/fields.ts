/** The keywords of objects. */
import { closestName, quoted } from "../errors/index.ts"
import type { Check, Evaluated, Run } from "./check.ts"
import type { Draft } from "./document.ts"
import { every, isFields, isNames, type Keyword, part } from "./keyword.ts"
import { patternOf } from "./pattern.ts"

export const properties: Keyword = {
  make: (argument, _, { checkOf }) => {
    if (!isFields(argument)) return undefined
    const checks = Object.entries(argument).map(([name, schema]) => [name, checkOf(schema)] as const)
    return (value, at, run, evaluated) =>
      !isFields(value) ||
      every(checks, run, ([name, check]) => {
        if (!Object.hasOwn(value, name)) return true
        evaluated?.keys.add(name)
        return part(check, value[name], name, at, run)
      })
  }
}

export const patternProperties: Keyword = {
  make: (argument, _, { checkOf }) => {
    if (!isFields(argument)) return undefined
    const checks = Object.entries(argument).map(([source, schema]) => [patternOf(source), checkOf(schema)] as const)
    return (value, at, run, evaluated) =>
      !isFields(value) ||
      every(checks, run, ([pattern, check]) => {
        if (pattern === undefined) return run.pass()
        return every(Object.keys(value), run, (name) => {
          run.spend(pattern.cost(name.length))
          if (!pattern.matches(name)) return true
          evaluated?.keys.add(name)
          return part(check, value[name], name, at, run)
        })
      })
  }
}

export const additionalProperties: Keyword = {
  make: (argument, schema, { checkOf }) => {
    const check = checkOf(argument)
    const allowed = isFields(schema["properties"]) ? Object.keys(schema["properties"]) : []
    const names = new Set(allowed)
    const patterns = Object.keys(isFields(schema["patternProperties"]) ? schema["patternProperties"] : {}).map(
      patternOf
    )
    // A name may match a pattern without a matcher.
    if (patterns.includes(undefined)) return (_, _at, run, evaluated) => passed(run, evaluated)
    return (value, at, run, evaluated) => {
      if (!isFields(value)) return true
      if (evaluated !== undefined) evaluated.areAllNames = true
      return every(Object.keys(value), run, (name) => {
        run.spend(1)
        const matches = patterns.some((pattern) => {
          run.spend(pattern?.cost(name.length) ?? 0)
          return pattern?.matches(name)
        })
        if (names.has(name) || matches) return true
        return argument === false
          ? run.fail({ above: at, key: name }, unknownName(name, allowed))
          : part(check, value[name], name, at, run)
      })
    }
  }
}

const passed = (run: Run, evaluated: Evaluated | undefined): true => {
  if (evaluated !== undefined) evaluated.areAllNames = true
  return run.pass()
}

/** Among more names no similar one is looked for. */
const mostCompared = 200

const unknownName = (name: string, names: ReadonlyArray<string>): string => {
  const meant = names.length > mostCompared ? undefined : closestName(name, names)
  if (meant !== undefined) return `is unknown; did you mean ${meant}?`
  return names.length === 0 ? "is unknown; no name is allowed" : `is unknown; use ${quoted(names.join(", "))}`
}

export const required: Keyword = {
  make: (argument) =>
    isNames(argument)
      ? (value, at, run) =>
          !isFields(value) ||
          every(argument, run, (name) => Object.hasOwn(value, name) || run.fail({ above: at, key: name }, "is missing"))
      : undefined
}

export const needs = (since: Draft): Keyword => ({
  since,
  make: (argument, _, { checkOf }) => {
    if (!isFields(argument)) return undefined
    const checks = Object.entries(argument).map(([name, rule]) => {
      const missing = `is missing; it belongs to ${quoted(name)}`
      const check: Check = isNames(rule)
        ? (value, at, run) =>
            every(
              rule,
              run,
              (need) => Object.hasOwn(value as object, need) || run.fail({ above: at, key: need }, missing)
            )
        : checkOf(rule)
      return [name, check] as const
    })
    return (value, at, run, evaluated) =>
      !isFields(value) ||
      every(checks, run, ([name, check]) => !Object.hasOwn(value, name) || check(value, at, run, evaluated))
  }
})

export const propertyNames: Keyword = {
  since: 6,
  make: (argument, _, { checkOf }) => {
    const check = checkOf(argument)
    return (value, at, run) =>
      !isFields(value) || every(Object.keys(value), run, (name) => part(check, name, name, at, run))
  }
}

export const unevaluatedProperties: Keyword = {
  since: 2019,
  make: (argument, _, { checkOf }) => {
    const check = checkOf(argument)
    return (value, at, run, evaluated) => {
      if (!isFields(value) || evaluated === undefined || evaluated.areAllNames) return true
      const names = Object.keys(value).filter((name) => !evaluated.keys.has(name))
      evaluated.areAllNames = true
      return every(names, run, (name) => part(check, value[name], name, at, run))
    }
  }
}
