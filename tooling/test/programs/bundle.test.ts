import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { bundle, conditionProblems } from "../../packed/bundle.ts"
import { plainFunctions } from "../../packed/plainFunctions.ts"

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
    write("own.js", "globalThis.isOwnLoaded = true\nexport const own = 1")
    write("four.js", 'export { own } from "./own.js"')
    await bundle(folder, exportsOf("one", "inner/two", "three", "four"))
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

  test("an export that needs only modules of the first one does not load those of others", async () => {
    await load("inner/two.js")
    expect(Reflect.has(globalThis, "isOwnLoaded")).toBe(false)
    expect((await load("four.js"))["own"]).toBe(1)
    expect(Reflect.deleteProperty(globalThis, "isOwnLoaded")).toBe(true)
  })

  test("other packages stay outside of the bundle", async () => {
    expect(readFileSync(join(folder, "dist/bundled/one.js"), "utf8")).toContain('from"node:path"')
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

test("the arrow functions of the top level become plain functions that do the same, and others stay", async () => {
  const code = [
    "var add = (a, b = 1) => a + b;",
    "var later = async (a) => {",
    "  return await a;",
    "};",
    "var pair = ({ left }) => ({ left, inner: () => left });",
    "class Counter { count = 0; add = () => ++this.count; }",
    "export const all = [add(1), later, pair({ left: 2 }).inner(), new Counter().add()];"
  ].join("\n")
  const plain = plainFunctions(code)
  expect(plain.match(/function/g)).toHaveLength(3)
  const { all } = (await import(`data:text/javascript,${encodeURIComponent(plain)}`)) as {
    readonly all: readonly [number, (value: number) => Promise<number>, number, number]
  }
  const [sum, later, left, count] = all
  expect([sum, left, count]).toEqual([2, 2, 1])
  await expect(later(3)).resolves.toBe(3)
})
