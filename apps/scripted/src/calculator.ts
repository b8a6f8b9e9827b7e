/**
 * A calculator: parses and evaluates an arithmetic expression.
 *
 * **Details**: numbers, `+ - * / % ^`, parentheses and signs. `^` binds tightest and to the right, so `-2^2` is `-4` and
 * `2^3^2` is `512`.
 *
 * @module
 */

/** Why an expression is invalid, and where. */
class CalculationError extends Error {
  override readonly name = "CalculationError"
}

/** The result of `calculate`. */
export type Calculation =
  | { readonly ok: true; readonly value: number }
  | { readonly ok: false; readonly error: CalculationError }

const deepest = 200

/** The value of an expression, or its error. */
export const calculate = (expression: string): Calculation => {
  try {
    return { ok: true, value: rounded(evaluate(tokens(expression))) }
  } catch (error) {
    if (error instanceof CalculationError) return { ok: false, error }
    throw error
  }
}

interface Token {
  readonly text: string
  readonly at: number
}

const tokens = (expression: string): ReadonlyArray<Token> => {
  const found: Array<Token> = []
  let at = 0
  for (const match of expression.matchAll(/\s+|\d+(?:\.\d+)?(?:e[-+]?\d+)?|\.\d+|[-+*/%^()]/giy)) {
    if (match[0].trim() !== "") found.push({ text: match[0], at: match.index })
    at = match.index + match[0].length
  }
  if (at < expression.length) {
    throw new CalculationError(
      `I cannot read "${expression[at]}" at position ${at + 1}; use numbers and + - * / % ^ ( )`
    )
  }
  if (found.length === 0) throw new CalculationError("There is nothing to calculate")
  return found
}

const evaluate = (list: ReadonlyArray<Token>): number => {
  let next = 0
  let depth = 0
  const accept = (...texts: ReadonlyArray<string>): string | undefined => {
    const token = list[next]
    if (token === undefined || !texts.includes(token.text)) return undefined
    next++
    return token.text
  }
  const unexpected = (): CalculationError => {
    const token = list[next]
    return new CalculationError(
      token === undefined
        ? "The expression ends too early"
        : `"${token.text}" at position ${token.at + 1} is out of place`
    )
  }
  const sum = (): number => {
    let value = product()
    for (let sign = accept("+", "-"); sign !== undefined; sign = accept("+", "-")) {
      value = sign === "+" ? value + product() : value - product()
    }
    return value
  }
  const product = (): number => {
    let value = signed()
    for (let sign = accept("*", "/", "%"); sign !== undefined; sign = accept("*", "/", "%")) {
      const right = signed()
      if (sign !== "*" && right === 0) throw new CalculationError("Division by zero")
      value = sign === "*" ? value * right : sign === "/" ? value / right : value % right
    }
    return value
  }
  const signed = (): number => {
    if (++depth > deepest) throw new CalculationError("The expression is nested too deeply")
    const sign = accept("+", "-")
    const value = sign === undefined ? power() : sign === "-" ? -signed() : signed()
    depth--
    return value
  }
  const power = (): number => {
    const base = primary()
    return accept("^") === undefined ? base : base ** signed()
  }
  const primary = (): number => {
    if (accept("(") !== undefined) {
      const value = sum()
      if (accept(")") === undefined) throw unexpected()
      return value
    }
    const value = Number(list[next]?.text)
    if (Number.isNaN(value)) throw unexpected()
    next++
    return value
  }
  const value = sum()
  if (next < list.length) throw unexpected()
  if (!Number.isFinite(value)) throw new CalculationError("The result is too large, or is not a real number")
  return value
}

/** Rounds to twelve digits, so that `0.1 + 0.2` is `0.3`, and turns `-0` into `0`. */
const rounded = (value: number): number => (Number.isInteger(value) ? value + 0 : Number(value.toPrecision(12)))
