/** The keywords of JSON Schema. */
import { quoted } from "../errors/index.ts"
import { type Check, Exhausted, Run } from "./check.ts"
import {
  additionalProperties,
  needs,
  patternProperties,
  properties,
  propertyNames,
  required,
  unevaluatedProperties
} from "./fields.ts"
import { formatKeyword } from "./formats.ts"
import { allOf, anyOf, condition, not, oneOf } from "./forms.ts"
import { contains, prefixOf, rest, tuple, unevaluatedItems, uniqueItems } from "./items.ts"
import { canonical, isMultiple, isType, jsonOf, lengthOf, typeOf } from "./jsonValue.ts"
import { isCount, isFields, isList, isNumber, isText, type Keyword } from "./keyword.ts"
import { bound, limit } from "./limits.ts"
import { patternOf } from "./pattern.ts"
import { dynamicReference, reference } from "./references.ts"

const oneValue = (values: ReadonlyArray<unknown>): Check => {
  const allowed = canonicalOf(values)
  if (allowed === undefined) return (_value, _at, run) => run.pass()
  const words = quoted(values.map(jsonOf).join(", "))
  const message = values.length === 1 ? `must be ${words}` : `must be one of ${words}`
  return (value, at, run) => allowed.has(canonical(value, run)) || run.fail(at, message)
}

/** The texts of the values of a schema; `undefined` if they are too many or too deep to compare with. */
const canonicalOf = (values: ReadonlyArray<unknown>): ReadonlySet<string> | undefined => {
  const run = new Run()
  try {
    return new Set(values.map((value) => canonical(value, run)))
  } catch (error) {
    if (error instanceof Exhausted) return undefined
    throw error
  }
}

/** The keywords, in the order of their checks. */
export const keywords: Readonly<Record<string, Keyword>> = {
  type: {
    make: (argument) => {
      const types = [argument].flat().filter(isText)
      const message = `must be ${types.join(" or ")}`
      return (value, at, run) =>
        types.length === 0 ||
        types.some((type) => isType(value, type)) ||
        run.fail(at, `${message}, but is ${typeOf(value)}`)
    }
  },
  enum: { make: (argument) => (isList(argument) ? oneValue(argument) : undefined) },
  const: { since: 6, make: (argument) => oneValue([argument]) },
  minimum: bound("exclusiveMinimum", (value, least) => value > least, "greater than"),
  maximum: bound("exclusiveMaximum", (value, most) => value < most, "less than"),
  exclusiveMinimum: limit(
    isNumber,
    isNumber,
    (value, least) => value > least,
    (least) => `must be greater than ${least}`
  ),
  exclusiveMaximum: limit(
    isNumber,
    isNumber,
    (value, most) => value < most,
    (most) => `must be less than ${most}`
  ),
  multipleOf: limit(isNumber, isCount, isMultiple, (factor) => `must be a multiple of ${factor}`),
  minLength: limit(
    isText,
    isCount,
    (value, least) => lengthOf(value, least) >= least,
    (least) => `must have at least ${least} characters`
  ),
  maxLength: limit(
    isText,
    isCount,
    (value, most) => lengthOf(value, most) <= most,
    (most) => `must have at most ${most} characters`
  ),
  pattern: {
    make: (argument) => {
      if (!isText(argument)) return undefined
      const pattern = patternOf(argument)
      if (pattern === undefined) return (value, _at, run) => !isText(value) || run.pass()
      return (value, at, run) => {
        if (!isText(value)) return true
        run.spend(pattern.cost(value.length))
        return pattern.matches(value) || run.fail(at, `must match the pattern ${quoted(argument)}`)
      }
    }
  },
  format: formatKeyword,
  minItems: limit(
    isList,
    isCount,
    ({ length }, least) => length >= least,
    (least) => `must have at least ${least} items`
  ),
  maxItems: limit(
    isList,
    isCount,
    ({ length }, most) => length <= most,
    (most) => `must have at most ${most} items`
  ),
  uniqueItems,
  minProperties: limit(
    isFields,
    isCount,
    (value, least) => Object.keys(value).length >= least,
    (least) => `must have at least ${least} fields`
  ),
  maxProperties: limit(
    isFields,
    isCount,
    (value, most) => Object.keys(value).length <= most,
    (most) => `must have at most ${most} fields`
  ),
  required,
  properties,
  patternProperties,
  additionalProperties,
  propertyNames,
  dependentRequired: needs(2019),
  dependentSchemas: needs(2019),
  dependencies: needs(4),
  prefixItems: {
    since: 2020,
    make: (argument, _, compiler) => (isList(argument) ? tuple(argument, compiler) : undefined)
  },
  items: {
    make: (argument, schema, compiler) =>
      isList(argument) ? tuple(argument, compiler) : rest(argument, prefixOf(schema), compiler)
  },
  additionalItems: {
    make: (argument, { items }, compiler) => (isList(items) ? rest(argument, items.length, compiler) : undefined)
  },
  contains,
  allOf,
  anyOf,
  oneOf,
  not,
  if: condition,
  $ref: { make: reference },
  $recursiveRef: { since: 2019, make: dynamicReference },
  $dynamicRef: { since: 2020, make: dynamicReference }
}

/** The keywords that depend on what the others of the same schema evaluated. */
export const lastKeywords: Readonly<Record<string, Keyword>> = { unevaluatedProperties, unevaluatedItems }
