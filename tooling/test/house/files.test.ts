import { basename } from "node:path"
import { describe, expect, test } from "vitest"
import { codeLinesOf, factsOf } from "../../house/moduleFacts.ts"
import { conditionProblems } from "../../packed/bundle.ts"
import { exists, files, readJson, readText, workspacePackages } from "../../house/workspace.ts"

const sources = files("packages/*/src/**/*.{ts,tsx}", "apps/*/src/**/*.{ts,tsx}", "tooling/**/*.ts")
const tests = files("packages/*/test/**/*.{ts,tsx}", "apps/*/test/**/*.{ts,tsx}", "tooling/test/**/*.ts")
/** The tests whose text the rules judge; this file, which spells out what it forbids, is not among them. */
const judgedTests = tests.filter((path) => basename(path) !== "files.test.ts")
const everyFile = [...new Set([...sources, ...tests, ...files("*.ts")])]
const projects = workspacePackages()
const libraries = projects.filter((found) => found.kind === "library")

const linesMatching = (path: string, pattern: RegExp): ReadonlyArray<string> =>
  readText(path)
    .split("\n")
    .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1} ${line.trim()}`] : []))

describe("file names", () => {
  test("name a concept, never a drawer", () => {
    const drawers = /^(utils?|helpers?|common|misc|types?|constants?|shared)\./i
    expect(everyFile.filter((path) => drawers.test(basename(path)))).toEqual([])
  })

  test("of a library are words without a hyphen or a dot", () => {
    const named = files("packages/*/src/**/*.{ts,tsx}")
    expect(named.filter((path) => !/^[A-Za-z][A-Za-z0-9]*\.tsx?$/.test(basename(path)))).toEqual([])
  })

  test("no package has a folder for all of its internals", () => {
    expect(files("{packages,apps}/*/src/**/*").filter((path) => /\/internal\//.test(path))).toEqual([])
  })
})

describe("a source file", () => {
  test("has at most 400 lines of code", () => {
    const sized = sources.map((path) => ({ path, lines: codeLinesOf(readText(path)) }))
    expect(sized.filter((found) => found.lines > 400)).toEqual([])
  })

  test("has classes of at most 250 lines of code", () => {
    const classes = sources.flatMap((path) => factsOf(readText(path)).classes.map((found) => ({ path, ...found })))
    expect(classes.filter(({ lines }) => lines > 250)).toEqual([])
  })

  test("has a type error expected only in a type test", () => {
    const plain = everyFile.filter((path) => !path.endsWith(".test-d.ts"))
    expect(plain.flatMap((path) => linesMatching(path, /^\s*\/\/\s*@ts-expect-error/))).toEqual([])
  })
})

describe("a test file", () => {
  test("skips, focuses and postpones nothing", () => {
    const evasion = /\b(it|test|describe|suite)(\.\w+)*\.(skip|skipIf|runIf|only|todo|fails)\b/
    expect(judgedTests.flatMap((path) => linesMatching(path, evasion))).toEqual([])
  })

  test("retries nothing", () => {
    // The runner's own option is a count, or has one; a request's policy has neither.
    const retried = /[{,]\s*retry\s*:\s*(\d|\{\s*(count|condition|delay)\b)/
    expect(judgedTests.flatMap((path) => linesMatching(path, retried))).toEqual([])
  })

  test("does not sleep on the wall clock", () => {
    const sleep = /\bsetTimeout\(\s*\w+\s*,\s*[1-9]|from "node:timers/
    expect(judgedTests.flatMap((path) => linesMatching(path, sleep))).toEqual([])
  })
})

const referencesOf = (path: string): ReadonlyArray<string> =>
  (readJson<{ readonly references?: ReadonlyArray<{ readonly path: string }> }>(path).references ?? [])
    .map((found) => found.path)
    .toSorted()

const workspaceDependencies = (dependencies: Readonly<Record<string, string>>): ReadonlyArray<string> =>
  projects.filter((found) => dependencies[found.manifest.name] !== undefined).map((found) => found.folder)

describe("a package", () => {
  test.each(projects)("$folder references exactly the projects of its workspace dependencies", (found) => {
    const up = found.folder.includes("/") ? "../../" : "../"
    const siblings = (folder: string): string =>
      found.kind === "library" ? `../${basename(folder)}` : `${up}${folder}`
    const expected = workspaceDependencies(found.manifest.dependencies ?? {})
      .map(siblings)
      .toSorted()
    expect(referencesOf(`${found.folder}/tsconfig.json`)).toEqual(expected)
  })

  test("is a project of the root tsconfig, and so are its tests", () => {
    const expected = projects.flatMap((found) =>
      found.kind === "tooling" ? [found.folder] : [found.folder, `${found.folder}/test`]
    )
    const others = ["docs", "examples", "packages/create-troupe/templates"]
    expect(referencesOf("tsconfig.json")).toEqual([...expected, ...others].toSorted())
  })

  test("is type-checked together with its tests by its own typecheck script", () => {
    const unchecked = projects.filter(
      (found) => !/verify\/typecheck\.ts/.test(found.manifest.scripts?.["typecheck"] ?? "")
    )
    expect(unchecked.map((found) => found.folder)).toEqual([])
  })

  test.each(libraries)("$folder serves src in the workspace, and dist when published", (found) => {
    const { exports, files: packed, publishConfig, type } = found.manifest
    expect(type).toBe("module")
    expect(packed).toContain("dist")
    expect(Object.keys(publishConfig?.exports ?? {})).toEqual(Object.keys(exports ?? {}))
    expect(JSON.stringify(exports)).not.toContain("dist/")
    expect(JSON.stringify(publishConfig?.exports)).not.toContain("src/")
    expect(exists(`${found.folder}/src/index.ts`)).toBe(true)
  })

  test.each(libraries)("BUNDLE1. $folder leads Node to a bundle from all of its exports, or from none", (found) => {
    expect(conditionProblems(found.manifest.publishConfig?.exports ?? {})).toEqual([])
  })
})
