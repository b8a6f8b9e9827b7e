import type { Browser } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { inBrowser, openBrowser, openPage, openPlayground, picture } from "./browser.ts"
import { problems, say, settles } from "./talk.ts"

let browser: Browser

describe("a team in the page", inBrowser, () => {
  beforeAll(async () => {
    browser = await openBrowser()
  })

  afterAll(() => browser.close())

  test("shows the words and the tools of each researcher below its call, and the answer of the coordinator", async () => {
    const playground = await openPlayground({ pauseAt: "season" })
    const { page, faults } = await openPage(browser, `${playground.url}/#/c/team`)
    await say(page, "Research Oslo with the team")
    const work = page.getByRole("region", { name: "Work of the researcher" })
    await work.filter({ hasText: "what I know of the season" }).waitFor()
    expect(await problems(page)).toEqual([])
    await picture(page, "team")
    playground.goOn()
    await work.getByRole("list", { name: "Tools of the researcher" }).getByText("weather").waitFor()
    await settles(page)
    await page.locator(".message.assistant").last().getByText("My notes on the weather").waitFor()
    expect(await work.count()).toBe(0)
    expect(faults).toEqual([])
    await playground.close()
  })
})
