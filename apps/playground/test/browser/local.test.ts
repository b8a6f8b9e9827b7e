import type { Browser, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { faultsOf, inBrowser, openBrowser } from "./browser.ts"
import { builtPage } from "./builtPage.ts"
import type { LocalPage } from "./local/main.tsx"

let files: Awaited<ReturnType<typeof builtPage>>
let browser: Browser

/** Within the page. */
declare const local: LocalPage

/** The page, from nowhere: whatever else it asks for fails. */
const open = async (): Promise<{ readonly page: Page; readonly faults: ReadonlyArray<string> }> => {
  const context = await browser.newContext({ viewport: { width: 1280, height: 860 } })
  await context.route("**/*", (route) => {
    const file = files.get(new URL(route.request().url()).pathname.replace(/^\/$/u, "/index.html"))
    return file === undefined ? route.abort() : route.fulfill(file)
  })
  const page = await context.newPage()
  const faults = faultsOf(page)
  await page.goto("https://page.test/")
  await page.locator("body[data-ready]").waitFor({ state: "attached" })
  return { page, faults }
}

const status = (page: Page, name: string): Promise<void> => page.locator(`main[data-status="${name}"]`).waitFor()
const press = (page: Page, name: string): Promise<void> =>
  page.locator("main").getByRole("button", { name, exact: true }).click()

describe("a system that lives in the page", inBrowser, () => {
  beforeAll(async () => {
    files = await builtPage("local")
    browser = await openBrowser()
  })

  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()))
  })

  afterAll(() => browser.close())

  test("a conversation with tools, a cancelled one that hangs, and a kill from the observer", async () => {
    const { page, faults } = await open()
    await page.evaluate(() => local.show("c1"))
    await press(page, "weather")
    await page.locator("main").getByText("So it is 12 °C in Oslo.").waitFor()
    await status(page, "completed")
    await press(page, "stuck")
    await page.locator("main").getByText("stuck running").waitFor()
    await press(page, "cancel")
    await status(page, "cancelled")
    await press(page, "long")
    await page.locator("#partial").getByText("one two three").waitFor()
    await page
      .getByRole("treeitem", { name: /Chat c1/u })
      .first()
      .click()
    await page.getByRole("button", { name: "Kill…" }).click()
    await page.getByRole("button", { name: "Kill", exact: true }).click()
    await status(page, "interrupted")
    await page.locator("#partial").getByText("one two three").waitFor()
    await press(page, "resume")
    await status(page, "completed")
    expect(await page.locator("p.assistant").last().innerText()).toBe(
      "one two three four five six seven eight nine ten"
    )
    expect(faults).toEqual([])
  })

  test("the machine itself runs under StrictMode, and goes on when it is given another turn", async () => {
    const { page, faults } = await open()
    await page.evaluate(() => local.machine())
    await press(page, "say")
    await page.getByText("You said hello.").waitFor()
    await page.locator(`main[data-state='"idle"']`).waitFor()
    await press(page, "say")
    await page.getByText("You said hello.").nth(1).waitFor()
    expect(faults).toEqual([])
  })

  test("the example of the docs shows a reply while it streams, and cancels it", async () => {
    const { page, faults } = await open()
    await page.evaluate(() => local.story())
    await press(page, "Tell")
    await page.locator("#partial").getByText("Once upon a time").waitFor()
    await press(page, "Cancel")
    await page.getByRole("button", { name: "Tell", exact: true }).waitFor()
    expect(await page.locator("main p").allInnerTexts()).toEqual(["Tell me a story.", "Once upon a time", ""])
    expect(faults).toEqual([])
  })

  test("chats that are shown for less than a frame leave the last one shown, as it is", async () => {
    const { page, faults } = await open()
    const ids = Array.from({ length: 30 }, (_, index) => `c${index}`)
    await page.evaluate(async (all) => {
      for (const id of all) await local.say(id, `I am ${id}`)
    }, ids)
    await page.evaluate((all) => local.rush([...all, ...all.toReversed(), ...all]), ids)
    await page.locator('main[data-id="c29"]').getByText("You said I am c29.").waitFor()
    expect(await page.locator("main p.user").allInnerTexts()).toEqual(["I am c29"])
    expect(faults).toEqual([])
  })

  test("what a server made is taken over without a difference, and lives", async () => {
    const { page, faults } = await open()
    await page.evaluate(() => local.say("h", "hello"))
    const { complaints, html, isSame } = await page.evaluate(() => local.hydrate("h"))
    expect(html).toContain("You said hello.")
    expect({ complaints, isSame }).toEqual({ complaints: [], isSame: true })
    await press(page, "weather")
    await page.getByText("So it is 12 °C in Oslo.").waitFor()
    expect(faults).toEqual([])
  })

  test("a chat and its observer that were mounted a hundred times leave nothing behind", async () => {
    const { page, faults } = await open()
    const client = await page.context().newCDPSession(page)
    const used = async (): Promise<{ readonly heap: number; readonly nodes: number; readonly listeners: number }> => {
      await client.send("HeapProfiler.collectGarbage")
      const { usedSize: heap } = await client.send("Runtime.getHeapUsage")
      const { nodes, jsEventListeners: listeners } = await client.send("Memory.getDOMCounters")
      return { heap, nodes, listeners }
    }
    await page.evaluate(() => local.say("m", "hello"))
    // The first drawn chart loads the layout engine, of some 8 MB, once for the page.
    await page.evaluate(() => local.show("m"))
    await page.getByRole("button", { name: "Whole chart" }).click()
    await page.locator(".tro-canvas").waitFor()
    await page.evaluate(() => local.mount("m", 20))
    const before = await used()
    await page.evaluate(() => local.mount("m", 100))
    const after = await used()
    expect(after.heap - before.heap).toBeLessThan(1_500_000)
    expect(after.nodes - before.nodes).toBeLessThan(100)
    expect(after.listeners - before.listeners).toBeLessThan(10)
    expect(faults).toEqual([])
  })
})
