/**
 * Converts an example's `// =>` comments to assertions, on the same lines.
 *
 * **Details**: the statement to the left is an expression, a `console.log` of one value, or the declaration of one name.
 * The text to the right is an expression. It may continue in the comment lines below, indented by three spaces or more. The
 * two are compared by structure.
 *
 * @module
 */
import { child, children, lineAt, parse, textOf, walk } from "../house/syntax.ts"
import type { SyntaxNode } from "../house/syntax.ts"

/** The name the rewritten code calls; the loader of the example binds it to `expect`. */
export const expectName = "__expect"

/**
 * Rewrites one example.
 *
 * **Errors**: throws when an assertion has no value to its left, or no expression to its right.
 */
export const rewriteAssertions = (code: string): string => {
  const statements = [...walk(parse(code).program)].filter(
    (node) => node.type === "ExpressionStatement" || node.type === "VariableDeclaration"
  )
  const edits = [...code.matchAll(/\/\/ =>(.*(?:\n[ \t]*\/\/ {3,}.*)*)/g)].map((comment) => {
    const expected = (comment[1] ?? "").replaceAll(/\n[ \t]*\/\/ /g, "\n").trim()
    const fail = (problem: string): never => {
      throw new Error(`line ${lineAt(code, comment.index)} of the example: ${problem}`)
    }
    if (!isExpression(expected)) fail(`"${expected}" is not an expression`)
    const left = statements.find(
      (node) => code.slice(node.end, comment.index).trim() === "" && node.end <= comment.index
    )
    const subject = left === undefined ? undefined : subjectOf(left)
    if (left === undefined || subject === undefined) return fail("there is no value to the left of `// =>`")
    const value = code.slice(subject.start, subject.end)
    const assertion = `${expectName}(${value}).toEqual((${expected.replaceAll("\n", " ")}))`
    return left.type === "VariableDeclaration"
      ? { start: left.end, end: left.end, text: `; ${assertion}` }
      : { start: left.start, end: left.end, text: assertion }
  })
  return edits.reduceRight((text, edit) => text.slice(0, edit.start) + edit.text + text.slice(edit.end), code)
}

const subjectOf = (statement: SyntaxNode): SyntaxNode | undefined => {
  if (statement.type === "VariableDeclaration") {
    const [only, ...others] = children(statement, "declarations")
    const name = only === undefined || others.length > 0 ? undefined : child(only, "id")
    if (name?.type !== "Identifier") return undefined
    return { ...name, end: name.start + textOf(name, "name").length }
  }
  const expression = child(statement, "expression")
  const callee = expression?.type === "CallExpression" ? child(expression, "callee") : undefined
  if (expression === undefined || callee === undefined || !isConsoleLog(callee)) return expression
  const [only, ...others] = children(expression, "arguments")
  return others.length > 0 ? undefined : only
}

const isConsoleLog = (callee: SyntaxNode): boolean =>
  callee.type === "MemberExpression" &&
  textOf(child(callee, "object"), "name") === "console" &&
  textOf(child(callee, "property"), "name") === "log"

const isExpression = (text: string): boolean => {
  if (text === "") return false
  try {
    return children(parse(`(${text})`).program, "body").length === 1
  } catch {
    return false
  }
}
