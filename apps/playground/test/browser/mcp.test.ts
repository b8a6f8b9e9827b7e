import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import type { Playground } from "../../src/host/playground.ts"
import { inBrowser, openBrowser, openPage, openPlayground } from "./browser.ts"
import { problems, say, settles } from "./talk.ts"

let browser: Browser
let playground: Playground

describe("a server of MCP on the page", inBrowser, () => {
  beforeAll(async () => {
    browser = await openBrowser()
    playground = await openPlayground()
  })

  afterAll(async () => {
    await browser.close()
    await playground.close()
  })

  test("ELICIT2. its form is filled in on the page, and its health is the state of its process in the observer", async () => {
    const { page, faults } = await openPage(browser, `${playground.url}/#/c/hotel`)
    await say(page, "Reserve a hotel room")
    const decision = page.getByRole("region", { name: "Decision about book_room" })
    const form = decision.getByRole("form", { name: "Which room?" })
    await form.getByLabel("Nights").fill("3")
    await form.getByLabel("View").selectOption("garden")
    await form.getByLabel("Breakfast").uncheck()
    expect(await problems(page)).toEqual([])
    await form.getByRole("button", { name: "Answer" }).click()
    await page.getByText("3 nights with a view of the garden, without breakfast").last().waitFor()
    await settles(page)
    await page.getByRole("treeitem", { name: /^MCP hotel/u }).click()
    await page.getByText("connected").first().waitFor()
    expect(faults).toEqual([])
    await page.context().close()
  })

  test("ELICIT2. its form can be declined", async () => {
    const { page } = await openPage(browser, `${playground.url}/#/c/declined`)
    await say(page, "Reserve a hotel room")
    await page
      .getByRole("region", { name: "Decision about book_room" })
      .getByRole("button", { name: "Decline" })
      .click()
    await page.getByText("No room was booked").last().waitFor()
    expect(await page.getByRole("region", { name: "Decision about book_room" }).count()).toBe(0)
    await page.context().close()
  })
})
