/**
 * A TypeScript file's syntax tree, as plain nodes.
 *
 * **Details**: uses the bundler's parser; offsets count UTF-16 code units.
 *
 * @module
 */
import { type ParseResult, parseSync } from "vite"

/** One node: its kind, its place in the text, and its fields by name. */
export interface SyntaxNode {
  readonly type: string
  readonly start: number
  readonly end: number
  readonly [field: string]: unknown
}

/** Parses TypeScript, with JSX or without. Throws the error of plain TypeScript when the text is not a module. */
export const parse = (text: string): { readonly program: SyntaxNode; readonly module: ParseResult["module"] } => {
  const plain = parseSync("module.ts", text)
  const [error] = plain.errors
  const parsed = error === undefined ? plain : parseSync("module.tsx", text)
  if (error !== undefined && parsed.errors.length > 0) throw new SyntaxError(error.message)
  return { program: parsed.program as unknown as SyntaxNode, module: parsed.module }
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
