import { expect, test } from "vitest"
import { exists, files, readText } from "../../house/workspace.ts"
import { site } from "../../release/addresses.ts"

/** What a user of npm gets. */
const published = files("packages/*/README.md", "packages/*/src/**/*.{ts,tsx}")

test("a published file leads to the site, and not to a page that only the repository has", () => {
  const found = published.filter((path) => /\.\.\/docs\/|\bdocs\/[\w-]+\.md/.test(readText(path)))
  expect(found).toEqual([])
})

test("an address of the site in a published file is that of a page", () => {
  const page = new RegExp(`${site.replaceAll(".", "\\.")}/([\\w/-]+)`, "g")
  const wrong = published.flatMap((path) =>
    [...readText(path).matchAll(page)].flatMap(([address, name = ""]) =>
      exists(`docs/${name}.md`) ? [] : [`${path}: ${address}`]
    )
  )
  expect(wrong).toEqual([])
})
