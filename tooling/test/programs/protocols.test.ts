import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { pageFile, pageNow } from "../../protocols/page.ts"

test("the page of protocols has what the server carries, and a client can do what the page lists", async () => {
  const { page, tables } = await pageNow()
  expect(tables.acts.filter(([, ...cells]) => cells.includes("no"))).toEqual([])
  const text = tables.answers.find(([title]) => title === "text")
  expect(text?.slice(1)).toEqual(["yes", "yes", "yes", "yes"])
  expect(readFileSync(pageFile, "utf8"), "write docs/protocols.md again with `pnpm protocols`").toBe(page)
})
