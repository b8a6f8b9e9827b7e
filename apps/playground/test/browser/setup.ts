/** Before the browser tests: a browser is found, and the page is built. */
import { join } from "node:path"
import { build } from "vite"
import type { TestProject } from "vitest/node"
import { type BrowserPlace, findBrowser, installCommand } from "./findBrowser.ts"

declare module "vitest" {
  interface ProvidedContext {
    /** The browser, or `null` where the machine has none and the browser tests do not run. */
    readonly browser: BrowserPlace | null
  }
}

const folder = join(import.meta.dirname, "../..")

/** Runs once, before the first test. */
export const setup = async (project: TestProject): Promise<void> => {
  const place = await findBrowser()
  project.provide("browser", place ?? null)
  if (place === undefined) {
    process.stderr.write(`The browser tests do not run: no Chrome, Edge or Chromium. Install one: ${installCommand}\n`)
    return
  }
  await build({ root: folder, configFile: join(folder, "vite.config.ts"), logLevel: "warn" })
}
