/**
 * Runs the examples of Markdown files and doc comments as tests.
 *
 * Owns the ids `<file>.<line>.doctest.ts`, or `.tsx`, one module per example. The file that contains the examples registers
 * one test for each, which imports it. `examples.ts` finds examples, `assertions.ts` rewrites their assertions.
 *
 * **Invariants**
 *
 * - `DOC1.` An example runs in its own module: no other example sees its declarations.
 * - `DOC2.` A bare import in an example resolves as for the tooling, which depends on every library by name. So an example
 *   can import what a user can, and no internals.
 * - `DOC3.` A module imported for its exports registers nothing; only the file under test does.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import type { Plugin } from "vitest/config"
import { expectName, rewriteAssertions } from "./assertions.ts"
import { examplesOf, marker } from "./examples.ts"

const exampleId = /^(.+)\.(\d+)\.doctest\.tsx?$/

/** The plugin; `root` is the workspace's root folder. */
export const doctestPlugin = (root: string): Plugin => ({
  name: "troupe:doctest",
  enforce: "pre",
  resolveId(source, importer) {
    const [, path] = exampleId.exec(source) ?? []
    // The server may return an id as a URL, from its root.
    if (path !== undefined) return existsSync(path) ? source : join(this.environment.config.root, source)
    const isBare = !source.startsWith(".") && !source.startsWith("/") && !source.startsWith("node:")
    if (importer === undefined || !exampleId.test(importer) || !isBare || source === "vitest") return undefined
    return this.resolve(source, join(root, "tooling/package.json"), { skipSelf: true })
  },
  load(id) {
    const [, path, line] = exampleId.exec(id) ?? []
    if (path !== undefined) return exampleModule(path, Number(line))
    return id.endsWith(".md") ? registrations(root, id, readFileSync(id, "utf8")) : undefined
  },
  transform(code, id) {
    const isDocumented = id.endsWith(".ts") && !exampleId.test(id) && code.includes(`\`\`\`${marker}`)
    return isDocumented ? { code: `${code}\n${registrations(root, id, code)}`, map: null } : undefined
  }
})

/** Makes a document; loaded before all imports of the example. */
const pagePath = join(import.meta.dirname, "page.ts")

const exampleModule = (path: string, line: number): string => {
  const example = examplesOf(path, readFileSync(path, "utf8")).find((found) => found.line === line)
  if (example === undefined) throw new Error(`${path} has no runnable example at line ${line}`)
  const code = rewriteAssertions(example.code)
  const page = example.isPage === true ? `import ${JSON.stringify(pagePath)}; ` : ""
  return `${page}import { expect as ${expectName} } from "vitest"; ${code}\nexport {}`
}

const registrations = (root: string, path: string, text: string): string => {
  const tests = examplesOf(path, text).map((example) => {
    const title = `${relative(root, path)}:${example.line} ${example.title}`
    const id = `${path}.${example.line}.doctest.${example.isPage === true ? "tsx" : "ts"}`
    return `import.meta.vitest.test(${JSON.stringify(title)}, () => import(${JSON.stringify(id)}))`
  })
  return `if (import.meta.vitest) {\n${tests.join("\n")}\n}`
}
