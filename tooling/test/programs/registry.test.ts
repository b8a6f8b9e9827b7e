import { spawn } from "node:child_process"
import { once } from "node:events"
import { existsSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { pathToFileURL } from "node:url"
import { expect, test } from "vitest"
import { root } from "../../house/workspace.ts"
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

test("RELEASE1. when a signal ends its program, they end too", () =>
  withFolder(async (place) => {
    const program = join(place, "program.mjs")
    const registry = pathToFileURL(join(root, "tooling/release/registry.ts"))
    writeFileSync(
      program,
      `import { withFolder, withServer } from "${registry}"
      await withFolder((folder) => withServer(folder, (url) => new Promise(() => console.log(folder + " " + url))))`
    )
    const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] })
    const ended = once(child, "close")
    const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string]
    const [folder = "", url = ""] = line.split(" ")
    expect(existsSync(folder)).toBe(true)
    child.kill("SIGTERM")
    expect(await ended).toEqual([1, null])
    await expect(fetch(`${url}-/ping`)).rejects.toThrow("fetch failed")
    expect(existsSync(folder)).toBe(false)
  }))
