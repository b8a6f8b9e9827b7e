/** Chromium, and a playground for it to look at. */
import { existsSync } from "node:fs"
import { mkdir } from "node:fs/promises"
import { join } from "node:path"
import { Store } from "@troupe/chat"
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core"
import { type Playground, startPlayground } from "../../src/host/playground.ts"
import { scriptedModel } from "../../src/host/scriptedModel.ts"

const folder = join(import.meta.dirname, "../..")

/** Where the pictures go. */
const pictures = join(folder, "dist/pictures")

const places = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"].map(
  (name) => `/usr/bin/${name}`
)

const flags = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync"
]

/** Starts the browser. */
export const openBrowser = (): Promise<Browser> => {
  const executablePath = process.env["CHROMIUM_PATH"] ?? places.find((place) => existsSync(place))
  if (executablePath === undefined) throw new Error("There is no Chromium here; name one in CHROMIUM_PATH")
  return chromium.launch({ executablePath, args: flags })
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
