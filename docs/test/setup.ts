/** Before the tests of the site: a browser is found, and the site is built and served. */
import { execFileSync } from "node:child_process"
import { join } from "node:path"
import { serve } from "vitepress"
import type { TestProject } from "vitest/node"
import { type BrowserPlace, findBrowser, installCommand } from "../../apps/playground/test/browser/findBrowser.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The browser, or `null` where the machine has none. */
    readonly siteBrowser: BrowserPlace | null
    /** The address of the site. */
    readonly siteUrl: string
  }
}

const folder = join(import.meta.dirname, "..")

/** Runs once, before the first test. `TROUPE_SITE=built` tests the site as it was built before. */
export const setup = async (project: TestProject): Promise<() => void> => {
  const place = await findBrowser()
  if (place === undefined)
    process.stderr.write(`The site is not opened: no Chrome, Edge or Chromium. Install one: ${installCommand}\n`)
  project.provide("siteBrowser", place ?? null)
  if (process.env["TROUPE_SITE"] !== "built")
    execFileSync(process.execPath, ["--run", "build"], { cwd: folder, stdio: ["ignore", "ignore", "inherit"] })
  const { server } = await serve({ root: folder, port: 0 })
  const address = server?.address()
  if (typeof address !== "object" || address === null) throw new Error("the site has no address")
  project.provide("siteUrl", `http://localhost:${address.port}`)
  return () => server?.close()
}
