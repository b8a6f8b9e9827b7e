/**
 * A TypeScript file's syntax tree, as plain nodes.
 *
 * **Details**: uses the test runner's parser; offsets count UTF-16 code units.
 *
 * @module
 */
import { parseAst } from "vitest/node"

/** One node: its kind, its place in the text, and its fields by name. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

/** Parses TypeScript, with JSX or without. Throws the parser's error when the text is not a module. */
export const parse = (text: string): SyntaxNode => {
  const program = parsed(text)
  if (!isNode(program)) throw new TypeError("the parser returned no tree")
  return program
}

/** A text that is not plain TypeScript may contain JSX; for a text that is neither, the error is TypeScript's. */
const parsed = (text: string): unknown => {
  try {
    return parseAst(text, { lang: "ts" })
  } catch (refusal) {
    try {
      return parseAst(text, { lang: "tsx" })
    } catch {
      throw refusal
    }
  }
}

/** The node in a field, if there is one. */
export const child = (node: SyntaxNode, field: string): SyntaxNode | undefined => {
  const value = node[field]
  return isNode(value) ? value : undefined
}

/** The nodes in a list field; empty when the field holds no list. */
export const children = (node: SyntaxNode, field: string): ReadonlyArray<SyntaxNode> => {
  const value = node[field]
  return Array.isArray(value) ? value.filter(isNode) : []
}

/** A text field's value; empty when the field holds no text. */
export const textOf = (node: SyntaxNode | undefined, field: string): string => {
  const value = node?.[field]
  return typeof value === "string" ? value : ""
}

/** A node and everything below it, parents first. */
export function* walk(root: SyntaxNode): Generator<SyntaxNode> {
  const open = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    yield node
    open.push(...Object.values(node).flat().filter(isNode).toReversed())
  }
}

/** The line, counted from 1, an offset is on. */
export const lineAt = (text: string, offset: number): number => text.slice(0, offset).split("\n").length

const isNode = (value: unknown): value is SyntaxNode =>
  typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" && "start" in value
