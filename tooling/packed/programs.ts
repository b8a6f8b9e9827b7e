/**
 * The programs in plain JavaScript that a project runs: one that loads every export, and the examples of the README files.
 *
 * @module
 */
import { writeFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { expectName, rewriteAssertions } from "../doctest/assertions.ts"
import { markdownExamples } from "../doctest/examples.ts"
import { publicModules, publicNames } from "../house/publicApi.ts"
import { exists, readText } from "../house/workspace.ts"
import type { WorkspacePackage } from "../house/workspace.ts"

/** Writes a program that imports every public module of every library and looks for each of its names. */
export const writeLoader = (folder: string, libraries: ReadonlyArray<WorkspacePackage>) => {
  const expected = Object.fromEntries(libraries.flatMap(namesBySpecifier))
  writeFileSync(
    join(folder, "load.js"),
    `const expected = ${JSON.stringify(expected, undefined, 2)}
const problems = []
for (const [specifier, names] of Object.entries(expected)) {
  try {
    const found = await import(specifier)
    problems.push(...names.filter((name) => found[name] === undefined).map((name) => specifier + " has no " + name))
  } catch (error) {
    problems.push(specifier + ": " + error)
  }
}
if (problems.length > 0) throw new Error(problems.join("\\n"))
`
  )
  return { title: `each of ${Object.keys(expected).length} modules loads`, file: "load.js" }
}

/** The values that each subpath of a package exports; a namespace stands for its members. */
const namesBySpecifier = ({ folder, manifest }: WorkspacePackage): ReadonlyArray<[string, ReadonlyArray<string>]> => {
  const values = publicNames(folder).filter(({ kind }) => kind === "value")
  return publicModules(folder).map(({ module }) => [
    module === "index" ? manifest.name : `${manifest.name}/${module}`,
    [...new Set(values.filter((one) => one.module === module).map(({ name }) => name.split(".", 1).join("")))]
  ])
}

/** A module with the code of an example, which asserts its results. */
export const asserting = (code: string): string => `import { deepStrictEqual } from "node:assert/strict"
const ${expectName} = (value) => ({ toEqual: (expected) => deepStrictEqual(value, expected) })
${rewriteAssertions(code)}
`

/** Writes the examples of the project's README and of each package's, as modules that assert their results. */
export const writeExamples = (folder: string, libraries: ReadonlyArray<WorkspacePackage>) => {
  const [thirtyLines] = markdownExamples(readText("README.md"))
  if (thirtyLines === undefined) throw new Error("README.md has no example")
  const found = libraries
    .map((library) => `${library.folder}/README.md`)
    .filter(exists)
    .flatMap((path) => markdownExamples(readText(path)).map((example) => ({ path, example })))
  return [{ path: "README.md", example: thirtyLines }, ...found].map(({ path, example }, index) => {
    const file = `example${index}.js`
    writeFileSync(join(folder, file), stripTypeScriptTypes(asserting(example.code)))
    return { title: `${path}: "${example.title}"`, file }
  })
}
