/**
 * Runs the examples of Markdown files and doc comments as tests.
 *
 * Owns the ids `<file>.doctest.ts`, the module that vitest loads in place of a file with examples: it registers one test for
 * each example. Owns the ids `<file>.<line>.doctest.ts`, or `.tsx`, one module for each example, which its test imports.
 * `examples.ts` finds examples, `assertions.ts` rewrites their assertions.
 *
 * **Invariants**
 *
 * - `DOC1.` An example runs in its own module: no other example sees its declarations.
 * - `DOC2.` A bare import in an example resolves as for the tooling, which depends on every library by name. So an example
 *   can import what a user can, and no internals.
 * - `DOC3.` A module imported for its exports registers nothing, and is loaded once for all examples: a file under test is not
 *   loaded itself.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs"
import { join, relative } from "node:path"
import type { Plugin } from "vitest/config"
import { expectName, rewriteAssertions } from "./assertions.ts"
import { examplesOf } from "./examples.ts"

const exampleId = /^(.+)\.(\d+)\.doctest\.tsx?$/
const fileId = /^(.+\.(?:md|ts))\.doctest\.ts$/

/** The plugin; `root` is the workspace's root folder. */
export const doctestPlugin = (root: string): Plugin => ({
  name: "troupe:doctest",
  enforce: "pre",
  resolveId(source, importer) {
    const [, path] = exampleId.exec(source) ?? fileId.exec(source) ?? []
    // The server may return an id as a URL, from its root.
    if (path !== undefined) return existsSync(path) ? source : join(this.environment.config.root, source)
    // Only vitest requests a file by its whole path, to run its tests.
    if (source.startsWith(`${root}/`) && isDocumented(source)) return `${source}.doctest.ts`
    const isBare = !source.startsWith(".") && !source.startsWith("/") && !source.startsWith("node:")
    if (importer === undefined || !exampleId.test(importer) || !isBare || source === "vitest") return undefined
    return this.resolve(source, join(root, "tooling/package.json"), { skipSelf: true })
  },
  load(id) {
    const [, examplePath, line] = exampleId.exec(id) ?? []
    if (examplePath !== undefined) return exampleModule(examplePath, Number(line))
    const [, path] = fileId.exec(id) ?? []
    return path === undefined ? undefined : registrations(root, path, readFileSync(path, "utf8"))
  }
})

/** Whether a file contains examples. */
const isDocumented = (path: string): boolean =>
  /\.(?:md|ts)$/.test(path) && existsSync(path) && examplesOf(path, readFileSync(path, "utf8")).length > 0

/** Makes a document. An example that renders a page loads its own copy, before all its imports. */
const pagePath = join(import.meta.dirname, "page.ts")

const exampleModule = (path: string, line: number): string => {
  const example = examplesOf(path, readFileSync(path, "utf8")).find((found) => found.line === line)
  if (example === undefined) throw new Error(`${path} has no runnable example at line ${line}`)
  const code = rewriteAssertions(example.code)
  const page = example.isPage === true ? `import ${JSON.stringify(`${pagePath}?example=${line}`)}; ` : ""
  return `${page}import { expect as ${expectName} } from "vitest"; ${code}\nexport {}`
}

const registrations = (root: string, path: string, text: string): string => {
  const tests = examplesOf(path, text).map((example) => {
    const title = `${relative(root, path)}:${example.line} ${example.title}`
    const id = `${path}.${example.line}.doctest.${example.isPage === true ? "tsx" : "ts"}`
    return `test(${JSON.stringify(title)}, () => import(${JSON.stringify(id)}))`
  })
  return `import { test } from "vitest"\n${tests.join("\n")}`
}
