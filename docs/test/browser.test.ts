/** The site in a browser: ten pages in light and dark, wide and narrow; the examples that run in a page; the search. */
import { AxeBuilder } from "@axe-core/playwright"
import { mkdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest"
import { launch } from "../../apps/playground/test/browser/findBrowser.ts"
import { linked } from "../.vitepress/sidebar.ts"

const place = inject("siteBrowser")
const url = inject("siteUrl")
const pictures = join(import.meta.dirname, "../dist/pictures")

const looked = [
  "/",
  "/start",
  "/paths/team",
  "/guide",
  "/tools",
  "/cookbook/conversations",
  "/how-a-turn-runs",
  "/guarantees",
  "/comparisons",
  "/reference/@troupe/chat/tools/"
]
/** How long a step of a page may take, in milliseconds: the machine may have other work. */
const patienceMs = 90_000
const schemes = ["light", "dark"] as const
const widths = [1440, 390] as const
/** The rules of axe that depend on the colours of a page. */
const ruledByColour = ["color-contrast", "link-in-text-block"]

/** Whether the built page of an address has an example with a button. */
const hasExample = (path: string): boolean =>
  readFileSync(join(import.meta.dirname, "../dist/site", `${path}.html`), "utf8").includes("run-example")

describe("the site", { skip: place === null }, () => {
  let browser: Browser

  beforeAll(async () => {
    if (place === null) throw new Error("there is no browser")
    mkdirSync(pictures, { recursive: true })
    browser = await launch(place)
  })
  afterAll(() => browser.close())

  /** Opens a page, and closes it when `look` returns or throws: pages that stay open slow the others down. */
  const visit = async (path: string, look: (page: Page) => Promise<void>): Promise<void> => {
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce" })
    try {
      context.setDefaultTimeout(patienceMs)
      const page = await context.newPage()
      await page.goto(`${url}${path}`)
      await look(page)
    } finally {
      await context.close()
    }
  }

  /** Takes a picture of the page as it is, and returns what is wrong with it: all rules of axe in light, those of colours in dark. */
  const problems = async (page: Page, name: string, scheme: "light" | "dark"): Promise<ReadonlyArray<string>> => {
    await page.screenshot({ path: join(pictures, `${name}.png`) })
    const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
    const axe = new AxeBuilder({ page })
    if (scheme === "dark") axe.withRules([...ruledByColour])
    const { violations } = await axe.analyze()
    const found = violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html }) => `${name}: ${id}: ${html.slice(0, 160)}`)
    )
    return overflow > 0 ? [...found, `${name}: it is ${overflow} pixels wider than its window`] : found
  }

  test.each(looked)("axe finds nothing on %s, in light and dark, wide and narrow", async (path) => {
    const base = path.replaceAll(/[^a-z-]+/g, "-").replaceAll(/^-|-$/g, "") || "home"
    await visit(path, async (page) => {
      const found: Array<string> = []
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 })
        for (const scheme of schemes) {
          await page.emulateMedia({ colorScheme: scheme })
          await page.locator(scheme === "dark" ? "html.dark" : "html:not(.dark)").waitFor()
          found.push(...(await problems(page, `${base}-${scheme}-${width}`, scheme)))
        }
      }
      expect(found).toEqual([])
    })
  })

  test("each example with a button runs in its page, with the values that it states", async () => {
    let runs = 0
    const wrong: Array<string> = []
    // One page for all: the modules that the examples share are loaded and compiled once.
    await visit("/", async (page) => {
      for (const path of linked.filter(hasExample)) {
        await page.goto(`${url}${path}`)
        for (const example of await page.locator(".run-example").all()) {
          runs++
          await example.getByRole("button").click()
          await example.and(page.locator('[data-state="done"], [data-state="failed"]')).waitFor()
          if ((await example.getAttribute("data-state")) === "failed")
            wrong.push(`${path}: ${await example.locator("ol").innerText()}`)
        }
      }
    })
    expect(wrong).toEqual([])
    expect(runs).toBeGreaterThanOrEqual(50)
  })

  test("the search finds a page by a word of its text", async () => {
    await visit("/", async (page) => {
      await page.keyboard.press("Control+k")
      await page.getByRole("searchbox").fill("back-pressure between processes")
      const found = page.locator('.VPLocalSearchBox .result[href^="/back-pressure"]').first()
      await found.waitFor()
      expect(await found.isVisible()).toBe(true)
    })
  })
})
