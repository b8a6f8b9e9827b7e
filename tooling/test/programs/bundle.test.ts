import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { bundle, conditionProblems } from "../../packed/bundle.ts"

/** The published exports of a package with these modules. */
const exportsOf = (...modules: ReadonlyArray<string>) =>
  Object.fromEntries(
    modules.map((module) => [
      `./${module}`,
      { types: `./dist/${module}.d.ts`, node: `./dist/bundled/${module}.js`, default: `./dist/${module}.js` }
    ])
  )

describe("the bundle of a package", () => {
  const folder = mkdtempSync(join(tmpdir(), "troupe-bundle-"))
  const write = (path: string, text: string): void => writeFileSync(join(folder, "dist", path), text)

  beforeAll(async () => {
    mkdirSync(join(folder, "dist/inner"), { recursive: true })
    writeFileSync(join(folder, "package.json"), JSON.stringify({ type: "module", sideEffects: false }))
    write("shared.js", 'import "node:fs"\nexport class Shared {}')
    write("one.js", 'export { Shared } from "./shared.js"\nexport { join } from "node:path"')
    write("inner/two.js", 'export { Shared } from "../shared.js"')
    write("three.js", 'export * from "./shared.js"\nexport * as all from "./shared.js"')
    await bundle(folder, exportsOf("one", "inner/two", "three"))
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  const load = (path: string): Promise<Readonly<Record<string, unknown>>> =>
    import(pathToFileURL(join(folder, "dist/bundled", path)).href) as Promise<Readonly<Record<string, unknown>>>

  test("BUNDLE2. all exports share one instance of a module that they need", async () => {
    const [one, two, three] = [await load("one.js"), await load("inner/two.js"), await load("three.js")]
    expect(one["Shared"]).toBeTypeOf("function")
    expect(two["Shared"]).toBe(one["Shared"])
    expect(three["Shared"]).toBe(one["Shared"])
    expect(three["all"]).toEqual({ Shared: one["Shared"] })
  })

  test("other packages stay outside of the bundle", async () => {
    expect(readFileSync(join(folder, "dist/bundled/one.js"), "utf8")).toContain('from "node:path"')
    expect((await load("one.js"))["join"]).toBe(join)
  })
})

describe("BUNDLE1. the exports of a package", () => {
  const { "./one": one, "./two": two } = exportsOf("one", "two")

  test("may all lead Node to the bundle, or none of them", () => {
    expect(conditionProblems({ one, two })).toEqual([])
    expect(conditionProblems({ one: { types: "./dist/one.d.ts", default: "./dist/one.js" } })).toEqual([])
  })

  test("may not lead Node to the bundle and to separate modules", () => {
    const separate = { types: "./dist/two.d.ts", default: "./dist/two.js" }
    expect(conditionProblems({ one, separate })).toEqual([`separate must have ${JSON.stringify(two)}`])
  })

  test("may not lead Node to the bundle of another module", () => {
    const wrong = { ...two, node: "./dist/bundled/one.js" }
    expect(conditionProblems({ one, wrong })).toEqual([`wrong must have ${JSON.stringify(two)}`])
  })
})
