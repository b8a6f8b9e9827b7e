import { existsSync } from "node:fs"
import { expect, test } from "vitest"
import { withFolder, withServer } from "../../release/registry.ts"

test("RELEASE1. when the body of a registry throws, its server ends, and its folder is deleted", async () => {
  const places: Array<string> = []
  const used = withFolder((folder) =>
    withServer(folder, async (url) => {
      places.push(folder, url)
      expect((await fetch(`${url}-/ping`)).status).toBe(200)
      throw new Error("the body")
    })
  )
  await expect(used).rejects.toThrow("the body")
  const [folder = "", url = ""] = places
  await expect(fetch(`${url}-/ping`)).rejects.toThrow("fetch failed")
  expect(existsSync(folder)).toBe(false)
})
