import { spawnSync } from "node:child_process"
import { mkdtempDisposableSync, readdirSync, readFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, test } from "vitest"
import { rewriteAssertions } from "../../doctest/assertions.ts"
import { writeExampleProject } from "../../doctest/exampleProject.ts"
import { docCommentExamples, markdownExamples } from "../../doctest/examples.ts"
import { readText } from "../../house/workspace.ts"

const ticks = "```"
const runnable = `${ticks}ts import.meta.vitest`

describe("an example is found", () => {
  test("in Markdown, under its heading, when its fence is marked", () => {
    const text = ["# Guide", "", "## Start", runnable, "one()", ticks, `${ticks}ts`, "two()", ticks].join("\n")
    expect(markdownExamples(text)).toEqual([{ title: "Start", line: 5, code: "one()" }])
  })

  test("in a doc comment, under the name it documents, without its stars", () => {
    const text = [
      "const a = 1",
      "/**",
      " * Says.",
      " *",
      ` * ${runnable}`,
      " * const b = {",
      " *   c: 1",
      " * }",
      ` * ${ticks}`
    ]
    const module = [...text, " */", "export const say = () => a"].join("\n")
    expect(docCommentExamples(module)).toEqual([{ title: "say", line: 6, code: "const b = {\n  c: 1\n}" }])
  })

  test("in a list item, without the item's indentation", () => {
    const text = ["- item", `  ${runnable}`, "  f(", "    1)", `  ${ticks}`].join("\n")
    expect(markdownExamples(text).map((found) => found.code)).toEqual(["f(\n  1)"])
  })

  test("as a page, when its fence says that there is JSX in it", () => {
    const text = [`${ticks}tsx import.meta.vitest`, "<p />", ticks].join("\n")
    expect(markdownExamples(text)).toEqual([{ title: "example", line: 2, code: "<p />", isPage: true }])
  })

  test("never inside a longer fence that only shows it", () => {
    expect(markdownExamples(["````md", runnable, "f()", ticks, "````"].join("\n"))).toEqual([])
  })

  test("only with a closing fence", () => {
    expect(() => markdownExamples([runnable, "f()"].join("\n"))).toThrow("line 2 has no closing fence")
  })
})

describe("an assertion", () => {
  test.each([
    ["an expression", "f(1) // => 2", "__expect(f(1)).toEqual((2)) // => 2"],
    ["an awaited expression", "await f() // => [1]", "__expect(await f()).toEqual(([1])) // => [1]"],
    ["what console.log is given", "console.log(a) // => 1", "__expect(a).toEqual((1)) // => 1"],
    ["a declared name", "const a = 1 // => 1", "const a = 1; __expect(a).toEqual((1)) // => 1"],
    ["a name declared with its type", "const a: A = f() // => 1", "const a: A = f(); __expect(a).toEqual((1)) // => 1"],
    ["an expression of several lines", "f(\n  1\n) // => 2", "__expect(f(\n  1\n)).toEqual((2)) // => 2"],
    ["an object", "f() // => { a: 1 }", "__expect(f()).toEqual(({ a: 1 })) // => { a: 1 }"],
    [
      "a statement inside a block",
      "for (const a of b) {\n  a // => 1\n}",
      "for (const a of b) {\n  __expect(a).toEqual((1)) // => 1\n}"
    ]
  ])("compares %s", (_, code, rewritten) => {
    expect(rewriteAssertions(code)).toBe(rewritten)
  })

  test("may go on in indented comment lines", () => {
    expect(rewriteAssertions("f() // => [1,\n//    2]\ng()")).toBe(
      "__expect(f()).toEqual(([1,    2])) // => [1,\n//    2]\ng()"
    )
  })

  test("counts characters as the text does, not as bytes", () => {
    expect(rewriteAssertions('f("é…👋") // => "é"')).toBe('__expect(f("é…👋")).toEqual(("é")) // => "é"')
  })

  test("keeps every line on its line", () => {
    const code = "const a = 1 // => 1\n\na // => 1\n// => is not one"
    expect(() => rewriteAssertions(code)).toThrow("line 4")
    expect(rewriteAssertions("const a = 1 // => 1\n\na // => 1").split("\n")).toHaveLength(3)
  })

  test.each([
    ["has nothing to its left", "// => 1", "there is no value to the left"],
    ["stands after a pattern", "const { a } = b // => 1", "there is no value to the left"],
    ["stands after a block", "if (a) {\n} // => 1", "there is no value to the left"],
    ["has no expression to its right", "a // => it is one", "is not an expression"],
    ["is empty", "a // =>", "is not an expression"]
  ])("is refused when it %s", (_, code, problem) => {
    expect(() => rewriteAssertions(code)).toThrow(problem)
  })
})

interface Report {
  readonly testResults: ReadonlyArray<{
    readonly assertionResults: ReadonlyArray<{ readonly title: string; readonly status: string }>
  }>
}

/** Runs the examples of `tooling/test/examples` in a runner of their own. */
const runExamples = () => {
  using scratch = mkdtempDisposableSync(join(tmpdir(), "doctest-"))
  const folder = join(import.meta.dirname, "examples")
  const runner = join(fileURLToPath(import.meta.resolve("vitest/package.json")), "../vitest.mjs")
  const report = join(scratch.path, "report.json")
  const args = [runner, "run", "--root", folder, "--reporter=json", `--outputFile=${report}`]
  const { status } = spawnSync(process.execPath, args, { cwd: folder, encoding: "utf8" })
  const { testResults } = JSON.parse(readFileSync(report, "utf8")) as Report
  const outcomes = testResults.flatMap((file) => file.assertionResults)
  return { status, outcomes: outcomes.map((one) => `${one.status} ${one.title.replace(/^.*\//, "")}`).toSorted() }
}

test("each example is a file of the strict program that the type check compiles", () => {
  using folder = mkdtempDisposableSync(join(tmpdir(), "troupe-examples-"))
  writeExampleProject(folder.path)
  const [example] = markdownExamples(readText("README.md"))
  const written = readFileSync(join(folder.path, `README.md.${example?.line}.ts`), "utf8")
  expect(written).toBe(`${example?.code}\nexport {}\n`)
  const names = readdirSync(folder.path)
  expect(names.some((name) => /^docs_react\.md\.\d+\.tsx$/.test(name))).toBe(true)
  expect(names.some((name) => name.startsWith("packages_otp_src_server_GenServer.ts."))).toBe(true)
})

test("DOC1. each example passes or fails by itself, and one that fails fails the run", () => {
  expect(runExamples()).toEqual({
    status: 1,
    outcomes: [
      "failed breaks.md:12 A throw",
      "failed breaks.md:6 A false assertion",
      "passed Documented.ts:5 double",
      "passed holds.md:14 A package of the tooling's",
      "passed holds.md:6 A value"
    ]
  })
})
