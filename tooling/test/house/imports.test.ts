import { dirname, join, normalize } from "node:path"
import { describe, expect, test } from "vitest"
import { appRow, importTable, mayTouchNode, oursOf, packageOf } from "../../house/importTable.ts"
import type { ImportRow } from "../../house/importTable.ts"
import { factsOf } from "../../house/moduleFacts.ts"
import { dependencyNames, files, readText, workspacePackages } from "../../house/workspace.ts"
import type { WorkspacePackage } from "../../house/workspace.ts"

const judged = workspacePackages().filter((found) => found.kind !== "tooling")

const rowOf = (found: WorkspacePackage): ImportRow | undefined =>
  found.kind === "app" ? { ...appRow, foreign: dependencyNames(found.manifest) } : importTable[found.short]

const isAllowed = (row: ImportRow, packageName: string): boolean => {
  const ours = oursOf(packageName)
  return ours === undefined ? row.foreign.includes(packageName) : row.ours.includes(ours)
}

/** The peers of the libraries a package depends on, which it passes on without importing them. */
const inheritedPeers = (found: WorkspacePackage): ReadonlyArray<string> =>
  judged
    .filter((other) => found.manifest.dependencies?.[other.manifest.name] !== undefined)
    .flatMap((other) => Object.keys(other.manifest.peerDependencies ?? {}))

/** Whether a package's `exports` list the subpath of an import. */
const isDoor = (packageName: string, specifier: string): boolean =>
  Object.keys(judged.find((found) => found.manifest.name === packageName)?.manifest.exports ?? {}).includes(
    `.${specifier.slice(packageName.length)}`
  )

/** What is wrong with one import, or nothing. */
const complaint = (found: WorkspacePackage, row: ImportRow, path: string, specifier: string): string | undefined => {
  const source = `${found.folder}/src/`
  if (specifier.startsWith("node:")) {
    return mayTouchNode(row, path.slice(source.length)) ? undefined : "may not touch node:*"
  }
  if (specifier.startsWith(".")) {
    if (!normalize(join(dirname(path), specifier)).startsWith(source)) return "leaves its own src"
    return /\.(tsx?|json|css)$/.test(specifier) ? undefined : "has no .ts at its end"
  }
  const packageName = packageOf(specifier)
  if (packageName === found.manifest.name) return "imports its own package by name"
  if (oursOf(packageName) !== undefined && !isDoor(packageName, specifier)) return "is no door of the package"
  if (!dependencyNames(found.manifest).includes(packageName)) return "is not among its dependencies"
  return isAllowed(row, packageName) ? undefined : "is not in its row of the import table"
}

describe("the import table", () => {
  test("every package has a row", () => {
    expect(judged.filter((found) => rowOf(found) === undefined).map((found) => found.folder)).toEqual([])
  })

  test("no row lets two packages import each other", () => {
    const reach = (from: string, seen: ReadonlyArray<string>): ReadonlyArray<string> =>
      (importTable[from]?.ours ?? []).flatMap((next) =>
        seen.includes(next) ? [next] : [next, ...reach(next, [...seen, next])]
      )
    expect(Object.keys(importTable).filter((short) => reach(short, [short]).includes(short))).toEqual([])
  })

  test.each(judged)("$folder depends only on what its row allows", (found) => {
    const row = rowOf(found)
    const own = dependencyNames(found.manifest).filter((name) => !inheritedPeers(found).includes(name))
    expect(own.filter((name) => row === undefined || !isAllowed(row, name))).toEqual([])
  })

  test.each(judged)("$folder imports only what its row allows", (found) => {
    const row = rowOf(found)
    const complaints = files(`${found.folder}/src/**/*.{ts,tsx}`).flatMap((path) =>
      factsOf(readText(path)).imports.flatMap((specifier) => {
        const wrong = row === undefined ? "has no row" : complaint(found, row, path, specifier)
        return wrong === undefined ? [] : [`${path}: "${specifier}" ${wrong}`]
      })
    )
    expect(complaints).toEqual([])
  })

  test("PEER2. a dependency on one of ours is a workspace link that is published as a range", () => {
    const pinned = workspacePackages().flatMap((found) =>
      Object.entries(found.manifest.dependencies ?? {})
        .filter(([name, range]) => oursOf(name) !== undefined && range !== "workspace:^")
        .map(([name, range]) => `${found.folder}: ${name} ${range}`)
    )
    expect(pinned).toEqual([])
  })

  test("a foreign dependency takes its version from the catalog, a library's its range", () => {
    const loose = workspacePackages().flatMap((found) =>
      Object.entries(found.manifest.dependencies ?? {})
        .filter(
          ([name, range]) =>
            oursOf(name) === undefined && range !== (found.kind === "library" ? "catalog:ranges" : "catalog:")
        )
        .map(([name, range]) => `${found.folder}: ${name} ${range}`)
    )
    expect(loose).toEqual([])
  })
})

describe("an import is refused when it", () => {
  const chat = judged.find((found) => found.short === "chat")
  const row = importTable["chat"]
  const refusal = (specifier: string): string | undefined =>
    chat === undefined || row === undefined
      ? "no chat package"
      : complaint(chat, row, "packages/chat/src/tool/one.ts", specifier)

  test.each([
    ["touches node:* outside the packages that may", "node:fs", "may not touch node:*"],
    ["reaches into another package by path", "../../../otp/src/Process.ts", "leaves its own src"],
    ["reaches past another package's doors", "@troupe/otp/kernel/kernel", "is no door of the package"],
    ["names its own package", "@troupe/chat", "imports its own package by name"],
    ["names a package nobody declared", "left-pad", "is not among its dependencies"],
    ["points against the table", "@troupe/providers", "is not among its dependencies"],
    ["drops the .ts", "../Message", "has no .ts at its end"]
  ])("%s", (_, specifier, wrong) => {
    expect(refusal(specifier)).toBe(wrong)
  })

  test("and taken when it follows the table", () => {
    const followed = ["@troupe/otp", "@troupe/otp/clock", "effect", "zod", "../Message.ts"]
    expect(followed.filter((specifier) => refusal(specifier) !== undefined)).toEqual([])
  })
})
