import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, test } from "vitest"

const read = (path: string): string => readFileSync(join(import.meta.dirname, path), "utf8")

test("the docs show the React example that the browser tests run, and it has at most thirty lines", () => {
  const example = read("browser/local/story.tsx")
  expect(read("../../../docs/react.md")).toContain(`\`\`\`tsx\n${example}\`\`\`\n`)
  expect(example.trimEnd().split("\n").length).toBeLessThanOrEqual(30)
})
