/** The keywords of lists. */
import type { Check } from "./check.ts"
import type { Keywords } from "./document.ts"
import { canonical } from "./jsonValue.ts"
import { type Compiler, every, isCount, isList, type Keyword, part } from "./keyword.ts"

/** The first items of a list, each by a schema of its own. */
export const tuple = (schemas: ReadonlyArray<unknown>, { checkOf }: Compiler): Check => {
  const checks = schemas.map(checkOf)
  return (value, at, run, evaluated) =>
    !isList(value) ||
    every(checks.entries(), run, ([index, check]) => {
      if (index >= value.length) return true
      evaluated?.keys.add(index)
      return part(check, value[index], index, at, run)
    })
}

/** The items of a list from an index on. */
export const rest = (schema: unknown, from: number, { checkOf }: Compiler): Check => {
  const check = checkOf(schema)
  return (value, at, run, evaluated) => {
    if (!isList(value)) return true
    if (evaluated !== undefined) evaluated.areAllItems = true
    let fits = true
    for (let index = from; index < value.length && !(run.isFull && !fits); index++) {
      run.spend(1)
      if (!part(check, value[index], index, at, run)) fits = false
    }
    return fits
  }
}

export const prefixOf = ({ prefixItems }: Keywords): number => (isList(prefixItems) ? prefixItems.length : 0)

export const contains: Keyword = {
  since: 6,
  make: (argument, { minContains, maxContains }, { checkOf, draft }) => {
    const check = checkOf(argument)
    const hasBounds = draft >= 2019
    const least = hasBounds && isCount(minContains) ? minContains : 1
    const most = hasBounds && isCount(maxContains) ? maxContains : Number.POSITIVE_INFINITY
    return (value, at, run, evaluated) => {
      if (!isList(value)) return true
      let decided = 0
      let undecided = 0
      for (const [index, item] of value.entries()) {
        const { fits, isUndecided } = run.attempt(0, () => part(check, item, index, at, run))
        if (!fits) continue
        if (draft >= 2020) evaluated?.keys.add(index)
        if (isUndecided) undecided++
        else decided++
      }
      if (decided + undecided < least)
        return run.fail(at, `must have at least ${least} items of the form that it has to contain`)
      return decided <= most || run.fail(at, `must have at most ${most} items of the form that it has to contain`)
    }
  }
}

export const uniqueItems: Keyword = {
  make: (argument) => {
    if (argument !== true) return undefined
    return (value, at, run) => {
      if (!isList(value)) return true
      const earlier = new Map<string, number>()
      for (const [index, item] of value.entries()) {
        const key = canonical(item, run)
        const first = earlier.get(key)
        if (first !== undefined)
          return run.fail(at, `must have no item twice, but items ${first} and ${index} are equal`)
        earlier.set(key, index)
      }
      return true
    }
  }
}

export const unevaluatedItems: Keyword = {
  since: 2019,
  make: (argument, _, { checkOf }) => {
    const check = checkOf(argument)
    return (value, at, run, evaluated) => {
      if (!isList(value) || evaluated === undefined || evaluated.areAllItems) return true
      evaluated.areAllItems = true
      return every(
        value.entries(),
        run,
        ([index, item]) => evaluated.keys.has(index) || part(check, item, index, at, run)
      )
    }
  }
}
