/**
 * Facts about one module: its imports, its exports and their docs, its names, its size.
 *
 * **Details**: a text is parsed once in a process, however many rules read its facts.
 *
 * @module
 */
import { memoOf } from "./memo.ts"
import { child, parse, textOf, walk } from "./syntax.ts"

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
  const imports: Array<string> = []
  const loaded: Array<string> = []
  const identifiers = new Set<string>()
  const classes: Array<ModuleFacts["classes"][number]> = []
  const { program, module } = parse(text)
  for (const node of walk(program)) {
    const { type } = node
    if (type === "Identifier" || type === "PrivateIdentifier") identifiers.add(textOf(node, "name"))
    if (type === "ClassDeclaration")
      classes.push({ name: textOf(child(node, "id"), "name"), lines: codeLinesOf(text.slice(node.start, node.end)) })
    const isLate = lateTypes.has(type)
    if (!isLate && !importTypes.has(type)) continue
    const source = textOf(child(node, "source") ?? child(node, "argument"), "value")
    if (source === "") continue
    imports.push(source)
    const isType = textOf(node, "importKind") === "type" || textOf(node, "exportKind") === "type"
    if (!isLate && !isType) loaded.push(source)
  }
  return { imports, loaded, exports: exportsIn(module, text), identifiers, classes }
})

const exportsIn = (
  { staticExports }: ReturnType<typeof parse>["module"],
  text: string
): ReadonlyArray<ExportedName> => {
  const names = new Map<string, ExportedName>()
  for (const { start, entries } of staticExports) {
    const isList = /^export\s+(type\s+)?\{/.test(text.slice(start))
    for (const { start: own, exportName, importName, localName, moduleRequest, isType } of entries) {
      const source = moduleRequest?.value
      const isWhole = importName.kind.startsWith("All")
      const name = exportName.name ?? (isWhole ? "*" : "default")
      const declared = source === undefined ? docOfLocal(localName.name ?? "", text) : undefined
      const doc = isList ? (docAbove(own, text) ?? declared) : docAbove(start, text)
      const key = name === "*" ? `* ${source}` : name
      const before = names.get(key)
      const whole = name === "*" ? "everything" : "namespace"
      const found: ExportedName = {
        name,
        kind: isWhole ? whole : name === "default" ? "default" : isType ? "type" : "value",
        doc,
        ...(isWhole && isType ? { typesOnly: true } : {}),
        ...(source === undefined ? {} : { from: { source, name: importName.name ?? "*" } })
      }
      const kind = before?.kind === "type" ? found.kind : (before ?? found).kind
      names.set(key, { ...(before ?? found), kind, doc: before?.doc ?? doc })
    }
  }
  return [...names.values()]
}

/** The lines that are neither blank nor comment. */
export const codeLinesOf = (text: string): number =>
  text.replaceAll(/^[ \t]*\/\*[\s\S]*?\*\/.*$/gm, "").match(/^[ \t]*(?!\/\/)\S/gm)?.length ?? 0

/** The doc comment of a name that is declared in one statement and exported in another. */
const docOfLocal = (name: string, text: string): string | undefined => {
  const declaration = new RegExp(`^(?:const|let|(?:async )?function\\*?|class|interface|type) ${name}\\b`, "m").exec(
    text
  )
  return declaration === null ? undefined : docAbove(declaration.index, text)
}

/** The doc comment that ends right before an offset, without the stars; a module header is none. */
export const docAbove = (start: number, text: string): string | undefined => {
  const above = text.slice(0, start).trimEnd()
  const begin = above.lastIndexOf("/**")
  if (!above.endsWith("*/") || begin < 0 || above.indexOf("*/", begin) !== above.length - 2) return undefined
  const doc = above
    .slice(begin + 3, -2)
    .replaceAll(/^\s*\* ?/gm, "")
    .trim()
  return doc.includes("@module") ? undefined : doc
}
