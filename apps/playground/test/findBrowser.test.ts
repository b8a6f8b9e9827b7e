import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { delimiter, join } from "node:path"
import { afterEach, beforeEach, describe, expect, test } from "vitest"
import { type BrowserPlace, findBrowser, type Machine, placesOf } from "./browser/findBrowser.ts"

let folder: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "troupe-browser-"))
})
afterEach(() => rm(folder, { recursive: true, force: true }))

/** A machine on which a browser starts only at the places of a list. */
const machine = (env: Machine["env"], starting: ReadonlyArray<BrowserPlace> = [], installs = false): Machine => ({
  env,
  find: async (places) => places.find((place) => starting.some((one) => JSON.stringify(one) === JSON.stringify(place))),
  install: () => installs
})

describe("the browser of the browser tests", () => {
  test("is the one that CHROMIUM_PATH names, and no other", async () => {
    expect(placesOf({ CHROMIUM_PATH: "/opt/mine", PATH: folder })).toEqual([{ executablePath: "/opt/mine" }])
    await expect(findBrowser(machine({ CHROMIUM_PATH: "/opt/mine" }, [{ channel: "chrome" }]))).rejects.toThrow(
      "CHROMIUM_PATH=/opt/mine"
    )
  })

  test("is otherwise the first that starts: from the PATH, then Chrome, Edge and Chromium as Playwright finds them", async () => {
    const path = join(folder, "google-chrome")
    await writeFile(path, "")
    await chmod(path, 0o755)
    const env = { PATH: ["", join(folder, "absent"), folder].join(delimiter) }
    expect(placesOf(env)).toEqual([
      { executablePath: path },
      { channel: "chrome" },
      { channel: "msedge" },
      { channel: "chromium" }
    ])
    expect(await findBrowser(machine(env, [{ channel: "msedge" }]))).toEqual({ channel: "msedge" })
  })

  test.each(["", "0", "false", undefined])(
    "is not required with CI=%j: a machine without one runs everything else",
    async (CI) => {
      expect(await findBrowser(machine({ CI }))).toBeUndefined()
    }
  )

  test.each(["1", "true", "yes"])(
    "is required with CI=%j, and the error names the command that installs one",
    async (CI) => {
      await expect(findBrowser(machine({ CI }))).rejects.toThrow("playwright-core install chromium")
    }
  )

  test("is looked for again after the distribution's was installed", async () => {
    const chromium: Array<BrowserPlace> = []
    const fresh = machine({}, chromium)
    const install = () => chromium.push({ channel: "chromium" }) > 0
    expect(await findBrowser({ ...fresh, install })).toEqual({ channel: "chromium" })
  })
})
