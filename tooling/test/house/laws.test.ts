import { expect, test } from "vitest"
import { exists, files, readText } from "../../house/workspace.ts"

/** The laws at the beginning of a file, such as ` * CALL1. A call has one outcome.` */
const stated = files("packages/*/src/**/*.{ts,tsx}", "apps/*/src/**/*.{ts,tsx}", "tooling/*/**/*.ts").flatMap((path) =>
  [...readText(path).matchAll(/^ \* ([A-Z]+\d+)\. /gm)].map(([, law = ""]) => ({ law, path }))
)

/** Rows of the table of guarantees: the laws, and the file that keeps them. */
const rows = readText("docs/guarantees.md")
  .split("\n")
  .flatMap((line) => {
    const [, laws = "", , path = ""] = line.split("|").map((cell) => cell.trim())
    return /^[A-Z]+\d+/.test(laws) ? [{ laws: laws.split(/, /), path: path.replaceAll("`", "") }] : []
  })

test("each law has a number of its own", () => {
  const places = Map.groupBy(stated, ({ law }) => law)
  expect([...places.values()].filter((of) => of.length > 1).map((of) => of.map(({ path }) => path))).toEqual([])
})

test("a file states at most five laws", () => {
  const byFile = Map.groupBy(stated, ({ path }) => path)
  expect([...byFile].filter(([, laws]) => laws.length > 5).map(([path]) => path)).toEqual([])
})

test("the file in the row of a guarantee names one of its laws", () => {
  expect(rows.length).toBeGreaterThan(200)
  const names = (path: string, law: string): boolean => new RegExp(`\\b${law}\\b`).test(readText(path))
  const wrong = rows.filter(({ laws, path }) => !exists(path) || !laws.some((law) => names(path, law)))
  expect(wrong).toEqual([])
})

test("each test file that `verify` leaves out has a row, with what it checks", () => {
  const listed = [...readText("docs/guarantees.md").matchAll(/^\| `([^`]+\.test\.ts)` +\| \S/gm)].map(
    ([, path = ""]) => path
  )
  expect(listed).toEqual(
    files(
      "{packages/*,apps/*,tooling}/test/**/growth/**/*.test.ts",
      "packages/*/test/**/growth.test.ts",
      "{packages/*,apps/*,examples,tooling}/test/programs/**/*.test.ts",
      "apps/playground/test/browser/**/*.test.ts"
    )
  )
})
