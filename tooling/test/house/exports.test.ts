import { describe, expect, test } from "vitest"
import { docComplaint, publicNames } from "../../house/publicApi.ts"
import { workspacePackages } from "../../house/workspace.ts"

const libraries = workspacePackages().filter((found) => found.kind === "library")

describe("public exports", () => {
  test.each(libraries)("of $folder change only together with the recorded list", async (found) => {
    const lines = publicNames(found.folder).map((name) => `${name.module}.${name.name} (${name.kind})\n`)
    await expect(lines.join("")).toMatchFileSnapshot(`./__snapshots__/${found.short}.exports.txt`)
  })

  test.each(libraries)("of $folder each have a doc comment that opens with a sentence", (found) => {
    const complaints = publicNames(found.folder).flatMap((name) => {
      const wrong = docComplaint(name)
      return wrong === undefined ? [] : [`${name.module}.${name.name} ${wrong}`]
    })
    expect(complaints).toEqual([])
  })
})

test("the doors of packages/chat export at most 200 names together", () => {
  expect(publicNames("packages/chat").length).toBeLessThanOrEqual(200)
})
