/** The site in a browser: ten pages in light and dark, wide and narrow; the examples that run in a page; the search. */
import { AxeBuilder } from "@axe-core/playwright"
import { mkdirSync } from "node:fs"
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

describe("the site", { skip: place === null }, () => {
  let browser: Browser

  beforeAll(async () => {
    if (place === null) throw new Error("there is no browser")
    mkdirSync(pictures, { recursive: true })
    browser = await launch(place)
  })
  afterAll(() => browser.close())

  /** Opens a page, and closes it when `look` returns or throws: pages that stay open slow the others down. */
  const visit = async (
    path: string,
    look: (page: Page) => Promise<void>,
    colorScheme: "light" | "dark" = "light",
    width = 1440
  ): Promise<void> => {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 }, reducedMotion: "reduce" })
    try {
      context.setDefaultTimeout(patienceMs)
      const page = await context.newPage()
      await page.goto(`${url}${path}`)
      await look(page)
    } finally {
      await context.close()
    }
  }

  const cases = looked.flatMap((path) => schemes.flatMap((scheme) => widths.map((width) => ({ path, scheme, width }))))
  test.each(cases)("axe finds nothing on $path, $scheme, $width wide", async ({ path, scheme, width }) => {
    const name = path.replaceAll(/[^a-z-]+/g, "-").replaceAll(/^-|-$/g, "") || "home"
    const look = async (page: Page): Promise<void> => {
      await page.screenshot({ path: join(pictures, `${name}-${scheme}-${width}.png`) })
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)
      expect(overflow).toBeLessThanOrEqual(0)
      const { violations } = await new AxeBuilder({ page }).analyze()
      const found = violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`))
      expect(found).toEqual([])
    }
    await visit(path, look, scheme, width)
  })

  let runs = 0
  test.each(linked)("each example with a button runs on %s, with the values that it states", async (path) => {
    await visit(path, async (page) => {
      for (const example of await page.locator(".run-example").all()) {
        runs++
        await example.getByRole("button").click()
        await example.and(page.locator('[data-state="done"], [data-state="failed"]')).waitFor()
        const isWrong = (await example.getAttribute("data-state")) === "failed"
        expect(isWrong ? await example.locator("ol").innerText() : "").toBe("")
      }
    })
  })

  test("at least fifty examples run in their pages", () => expect(runs).toBeGreaterThanOrEqual(50))

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
