/**
 * The examples as a strict program of a user: a project with one file for each example, which `pnpm typecheck` compiles.
 *
 * **Details**: it stands below the tooling, which depends on every library by name. The examples obey none of the repository's
 * own rules for names that are not used.
 *
 * @module
 */
import { mkdirSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { examplesOf } from "./examples.ts"
import { files, readText, root } from "../house/workspace.ts"

const exampleFolder = join(root, "tooling/dist/examples")

/** The files with examples, except the generated pages, which repeat the doc comments. */
const paths = (): ReadonlyArray<string> =>
  files("README.md", "packages/*/README.md", "docs/**/*.md", "packages/*/src/**/*.ts").filter(
    (path) => !path.startsWith("docs/reference/")
  )

/** The name of a file in the project: the page, and the line of the example there. */
const written = (): ReadonlyArray<readonly [string, string]> =>
  paths().flatMap((path) =>
    examplesOf(path, readText(path)).map(({ line, code, isPage }) => {
      const name = `${path.replaceAll("/", "_")}.${line}.${isPage === true ? "tsx" : "ts"}`
      return [name, `${code}\nexport {}\n`] as const
    })
  )

/** Writes the project anew, and returns its folder. */
export const writeExampleProject = (folder = exampleFolder): string => {
  const { references } = JSON.parse(readText("tooling/tsconfig.json")) as {
    readonly references: ReadonlyArray<{ readonly path: string }>
  }
  const config = {
    extends: "../../tsconfig.json",
    compilerOptions: {
      noUnusedLocals: false,
      noUnusedParameters: false,
      tsBuildInfoFile: "../examples.tsbuildinfo",
      plugins: []
    },
    include: ["."],
    exclude: [],
    references: references.map(({ path }) => ({ path: join("../..", path) }))
  }
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of [["tsconfig.json", JSON.stringify(config)], ...written()] as const)
    writeFileSync(join(folder, name), text)
  return folder
}
