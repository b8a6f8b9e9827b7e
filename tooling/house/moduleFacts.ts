/**
 * Facts about one module: its imports, its exports and their docs, its names, its size.
 *
 * **Details**: a text is parsed once in a process, however many rules read its facts.
 *
 * @module
 */
import { memoOf } from "./memo.ts"
import { child, children, parse, textOf, walk } from "./syntax.ts"
import type { SyntaxNode } from "./syntax.ts"

/** One name a module exports. */
export interface ExportedName {
  readonly name: string
  readonly kind: "value" | "type" | "namespace" | "everything" | "default"
  /** The doc comment right above its declaration, without the stars; absent when there is none. */
  readonly doc: string | undefined
  /** Whether a namespace is exported as types alone. */
  readonly typesOnly?: boolean
  /** For a re-export: the module it comes from and its name there. */
  readonly from?: { readonly source: string; readonly name: string }
}

/** What the rules read of one module. */
interface ModuleFacts {
  /** Every module named by a static import, a re-export, an import type or a literal dynamic import, in order. */
  readonly imports: ReadonlyArray<string>
  /** Of these, the modules that are loaded at startup: no types, no dynamic imports. */
  readonly loaded: ReadonlyArray<string>
  /** Every name it exports, in order; an overloaded or merged name once, with its first doc comment. */
  readonly exports: ReadonlyArray<ExportedName>
  readonly identifiers: ReadonlySet<string>
  readonly classes: ReadonlyArray<{ readonly name: string; readonly lines: number }>
}

const importTypes = new Set(["ImportDeclaration", "ExportNamedDeclaration", "ExportAllDeclaration"])
const lateTypes = new Set(["ImportExpression", "TSImportType"])

/** The facts about a module with this text. */
export const factsOf = memoOf((text): ModuleFacts => {
  const program = parse(text)
  const imports: Array<string> = []
  const loaded: Array<string> = []
  const identifiers = new Set<string>()
  const classes: Array<ModuleFacts["classes"][number]> = []
  for (const node of walk(program)) {
    const { type } = node
    if (type === "Identifier" || type === "PrivateIdentifier") identifiers.add(textOf(node, "name"))
    if (type === "ClassDeclaration")
      classes.push({ name: nameOf(child(node, "id")), lines: codeLinesOf(text.slice(node.start, node.end)) })
    const isLate = lateTypes.has(type)
    if (!isLate && !importTypes.has(type)) continue
    const source = textOf(child(node, "source") ?? child(node, "argument"), "value")
    if (source === "") continue
    imports.push(source)
    const isType = textOf(node, "importKind") === "type" || textOf(node, "exportKind") === "type"
    if (!isLate && !isType) loaded.push(source)
  }
  return { imports, loaded, exports: exportsIn(program, text), identifiers, classes }
})

const exportsIn = (program: SyntaxNode, text: string): ReadonlyArray<ExportedName> => {
  const names = new Map<string, ExportedName>()
  for (const statement of children(program, "body")) {
    for (const found of exportedBy(statement, program, text)) {
      const key = found.kind === "everything" ? `* ${found.from?.source ?? ""}` : found.name
      const before = names.get(key)
      names.set(key, before === undefined ? found : { ...before, doc: before.doc ?? found.doc })
    }
  }
  return [...names.values()]
}

/** Lines that are neither blank nor comment. */
export const codeLinesOf = (text: string): number => {
  let insideComment = false
  let count = 0
  for (const raw of text.split("\n")) {
    const line = raw.trim()
    if (insideComment) {
      insideComment = !line.includes("*/")
    } else if (line.startsWith("/*")) {
      insideComment = !line.includes("*/")
    } else if (line !== "" && !line.startsWith("//")) {
      count += 1
    }
  }
  return count
}

const exportedBy = (statement: SyntaxNode, program: SyntaxNode, text: string): ReadonlyArray<ExportedName> => {
  const source = textOf(child(statement, "source"), "value")
  switch (statement.type) {
    case "ExportDefaultDeclaration":
      return [{ name: "default", kind: "default", doc: docAbove(statement, text) }]
    case "ExportAllDeclaration": {
      const name = nameOf(child(statement, "exported"))
      const kind = name === "" ? "everything" : "namespace"
      const typesOnly = textOf(statement, "exportKind") === "type"
      const found: ExportedName = {
        name: name === "" ? "*" : name,
        kind,
        doc: docAbove(statement, text),
        from: { source, name: "*" }
      }
      return [typesOnly ? { ...found, typesOnly } : found]
    }
    case "ExportNamedDeclaration": {
      const declaration = child(statement, "declaration")
      if (declaration !== undefined) {
        return declaredBy(declaration).map((found) => ({ ...found, doc: docAbove(statement, text) }))
      }
      return children(statement, "specifiers").map((specifier) => {
        const name = nameOf(child(specifier, "exported"))
        const local = nameOf(child(specifier, "local"))
        const isType = textOf(statement, "exportKind") === "type" || textOf(specifier, "exportKind") === "type"
        const doc = docAbove(specifier, text) ?? (source === "" ? docOfLocal(local, program, text) : undefined)
        const found = { name, kind: isType ? ("type" as const) : ("value" as const), doc }
        return source === "" ? found : { ...found, from: { source, name: local } }
      })
    }
    default:
      return []
  }
}

const declaredBy = (declaration: SyntaxNode): ReadonlyArray<{ name: string; kind: "value" | "type" }> => {
  if (declaration.type === "VariableDeclaration") {
    return children(declaration, "declarations").map((one) => ({ name: nameOf(child(one, "id")), kind: "value" }))
  }
  const isType = declaration.type === "TSInterfaceDeclaration" || declaration.type === "TSTypeAliasDeclaration"
  return [{ name: nameOf(child(declaration, "id")), kind: isType ? "type" : "value" }]
}

const docOfLocal = (name: string, program: SyntaxNode, text: string): string | undefined =>
  children(program, "body")
    .filter((statement) => declaredBy(statement).some((found) => found.name === name))
    .map((statement) => docAbove(statement, text))
    .find((doc) => doc !== undefined)

const nameOf = (node: SyntaxNode | undefined): string => textOf(node, "name") || textOf(node, "value")

const docAbove = (node: SyntaxNode, text: string): string | undefined => {
  const above = text.slice(0, node.start).trimEnd()
  const start = above.lastIndexOf("/**")
  if (!above.endsWith("*/") || start < 0 || above.indexOf("*/", start) !== above.length - 2) return undefined
  const doc = above
    .slice(start + 3, -2)
    .replaceAll(/^\s*\* ?/gm, "")
    .trim()
  return doc.includes("@module") ? undefined : doc
}
