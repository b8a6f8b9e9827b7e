/** A browser, and a playground that it opens. */
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { Store } from "@troupe/chat"
import type { Browser, BrowserContextOptions, Page } from "playwright-core"
import { inject } from "vitest"
import { type Playground, startPlayground } from "../../src/host/playground.ts"
import { scriptedModel } from "../../src/host/scriptedModel.ts"
import { launch } from "./findBrowser.ts"

const folder = join(import.meta.dirname, "../..")

/** Where the pictures go. */
const pictures = join(folder, "dist/pictures")

const place = inject("browser")

/** The options of a block of tests that need the browser: without one the tests are reported as not run. */
export const inBrowser: { readonly skip: boolean } = { skip: place === null }

/** Starts the browser. */
export const openBrowser = (): Promise<Browser> => {
  if (place === null) throw new Error("openBrowser() needs a browser: give the block the options inBrowser")
  return launch(place)
}

/** A playground of its own for a test, with a model that is fast enough to test and slow enough to watch. */
export const openPlayground = (
  options: { readonly store?: Store.Store; readonly wordDelayMs?: number } = {}
): Promise<Playground> =>
  startPlayground({
    adapter: scriptedModel({ wordDelayMs: options.wordDelayMs ?? 5 }),
    store: options.store ?? Store.memory(),
    pages: join(folder, "dist/page")
  })

/** A page of a fresh profile, which fails the test when a script of it fails: `faults` are what it logged. */
export const openPage = async (
  browser: Browser,
  url: string,
  options: BrowserContextOptions = {}
): Promise<{ readonly page: Page; readonly faults: ReadonlyArray<string> }> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 }, ...options })
  const page = await context.newPage()
  const faults = faultsOf(page)
  await page.goto(url)
  return { page, faults }
}

/** What a page logs as an error from here on. */
export const faultsOf = (page: Page): ReadonlyArray<string> => {
  const faults: Array<string> = []
  page.on("pageerror", (error) => faults.push(error.message))
  page.on("console", (message) => {
    if (message.type() === "error") faults.push(`${message.text()} ${message.location().url}`)
  })
  return faults
}

/** Keeps a picture of the page. */
export const picture = async (page: Page, name: string): Promise<void> => {
  await mkdir(pictures, { recursive: true })
  await page.screenshot({ path: join(pictures, `${name}.png`) })
}
