/**
 * Examples that run in the page: the tested examples that import only what a browser can load.
 *
 * **Details**: an example is compiled as its test is, so a page checks the same assertions. Each is a module of its own, which
 * is loaded when a reader runs it. The fence of an example, and its module, are known by the example's code.
 *
 * @module
 */
import { createHash } from "node:crypto"
import { globSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { MarkdownRenderer, Plugin } from "vitepress"
import { expectName, rewriteAssertions } from "../../tooling/doctest/assertions.ts"
import { examplesOf } from "../../tooling/doctest/examples.ts"
import { child, children, parse, textOf, walk } from "../../tooling/house/syntax.ts"
import { root } from "../../tooling/house/workspace.ts"

const idOf = (code: string): string => createHash("sha256").update(code.trim()).digest("hex").slice(0, 12)

const loadable =
  /^(?:@troupe\/(?:otp|chat|testing)(?:\/.+)?|@troupe\/server(?:\/(?!Node).+)?|effect(?:\/.+)?|xstate(?:\/.+)?|zod)$/

/** Whether a browser can run an example: all that it imports, and no global of Node. */
const runsInPage = (code: string): boolean => {
  const { module } = parse(code)
  const imported = module.staticImports.map(({ moduleRequest }) => moduleRequest.value)
  return (
    imported.length > 0 &&
    imported.every((source) => loadable.test(source)) &&
    module.staticExports.length === 0 &&
    !/\b(?:process|Buffer|gc)\.|import\(/.test(code)
  )
}

/** The module of an example: a function that runs it with the page's own check and console. */
const exampleModule = (code: string): string => {
  const labelled = withLabels(rewriteAssertions(code))
  const lifted = children(parse(labelled).program, "body").filter(
    ({ type }) => type === "ImportDeclaration" || type === "TSModuleDeclaration"
  )
  const body = lifted.reduceRight((text, { start, end }) => text.slice(0, start) + text.slice(end), labelled)
  const head = lifted
    .filter(({ type }) => type === "ImportDeclaration")
    .map(({ start, end }) => labelled.slice(start, end))
    .join("\n")
  return `${head}\nexport default async (${expectName}, console) => {\n${body}\n}`
}

/** Gives each assertion the text of its value. */
const withLabels = (code: string): string => {
  const calls = [...walk(parse(code).program)].filter(
    (node) => node.type === "CallExpression" && textOf(child(node, "callee"), "name") === expectName
  )
  return calls
    .toSorted((left, right) => right.start - left.start)
    .reduce((text, call) => {
      const [value] = children(call, "arguments")
      if (value === undefined) return text
      const label = JSON.stringify(text.slice(value.start, value.end))
      return `${text.slice(0, value.end)}, ${label}${text.slice(value.end)}`
    }, code)
}

/** The code of every example that runs in a page, by its id. */
const runnable = (): ReadonlyMap<string, string> => {
  const files = globSync(["docs/**/*.md", "packages/*/src/**/*.ts"], {
    cwd: root,
    exclude: ["docs/node_modules/**", "docs/dist/**", "docs/reference/**", "docs/.vitepress/**"]
  })
  const examples = files.flatMap((path) => examplesOf(path, readFileSync(join(root, path), "utf8")))
  return new Map(
    examples.flatMap(({ code, isPage }) => (isPage === true || !runsInPage(code) ? [] : [[idOf(code), code] as const]))
  )
}

const listId = "virtual:examples"
const folder = join(root, "docs/.vitepress/examples/")

/** The modules of the examples, and their list. */
export const examplePlugin = (): Plugin => {
  const examples = runnable()
  return {
    name: "troupe:examples",
    enforce: "pre",
    resolveId(source, importer) {
      if (source === listId || source.startsWith(folder)) return source
      const isBare = !source.startsWith(".") && !source.startsWith("/")
      if (!isBare || importer?.startsWith(folder) !== true) return undefined
      return this.resolve(source, join(root, "tooling/package.json"), { skipSelf: true })
    },
    load(id, options) {
      if (id === listId) {
        const ids = options?.ssr === true ? [] : [...examples.keys()]
        const rows = ids.map((key) => `${JSON.stringify(key)}: () => import(${JSON.stringify(`${folder}${key}.ts`)})`)
        return `export default { ${rows.join(", ")} }`
      }
      const code = id.startsWith(folder) ? examples.get(id.slice(folder.length, -".ts".length)) : undefined
      return code === undefined ? undefined : exampleModule(code)
    }
  }
}

/** Puts the button that runs an example below its fence. */
export const withRunButtons = (md: MarkdownRenderer): void => {
  const { fence } = md.renderer.rules
  md.renderer.rules.fence = (tokens, index, options, env, self) => {
    const token = tokens[index]
    const html = fence?.(tokens, index, options, env, self) ?? ""
    return token?.info.trim() === "ts import.meta.vitest" && runsInPage(token.content)
      ? `${html}<RunExample id="${idOf(token.content)}" />\n`
      : html
  }
}
