import { readFileSync } from "node:fs"
import { expect, test } from "vitest"
import { featureRows, pageFile, pageWith } from "../../providers/page.ts"
import { partRows } from "../../providers/parts.ts"

test("no provider package drops a feature of a request: it sends it, or names it", async () => {
  const rows = await featureRows()
  expect(rows.filter(({ verdicts }) => verdicts.includes("dropped"))).toEqual([])
  expect(rows.length).toBeGreaterThan(30)
  expect(readFileSync(pageFile, "utf8"), "write docs/providers.md again with `pnpm providers`").toBe(
    await pageWith(rows)
  )
})

test("every stream part of the specification is an event, is kept, or only opens or closes what others fill", async () => {
  const silent = (await partRows()).filter(({ events, kept }) => events.length === 0 && kept.length === 0)
  expect(silent.map(({ type }) => type)).toEqual(["text-start", "text-end", "reasoning-end", "tool-input-end", "ping"])
})
