import type { Browser, Page } from "playwright-core"
import { afterAll, beforeAll, describe, expect, test } from "vitest"
import { inBrowser, openBrowser, openPage, openPlayground, picture } from "./browser.ts"
import { problems, say, settles } from "./talk.ts"

let browser: Browser

/** What the page shows of the work of researchers. */
const work = (page: Page) => page.getByRole("region", { name: "Work of the researcher" })

/** The chat of a researcher in the tree. */
const researcher = (page: Page) => page.getByRole("treeitem", { name: /^Chat researcher/ })

describe("a team in the page", inBrowser, () => {
  beforeAll(async () => {
    browser = await openBrowser()
  })

  afterAll(() => browser.close())

  test("works below its calls, is killed and goes on, and continues with the answer that a person types", async () => {
    const playground = await openPlayground({ pauseAt: "season" })
    const { page, faults } = await openPage(browser, `${playground.url}/#/c/team`)
    await say(page, "Research Oslo with the team")
    await work(page).filter({ hasText: "what I know of the season" }).waitFor()
    // The other researcher has asked its question, and its rows go.
    await expect.poll(() => researcher(page).count(), { timeout: 10_000 }).toBe(1)
    const call = page.getByRole("treeitem", { name: /^ToolCall research/u })
    await expect.poll(() => call.count(), { timeout: 10_000 }).toBe(1)
    const levels = await Promise.all([call, researcher(page)].map((item) => item.getAttribute("aria-level")))
    expect(Number(levels[1])).toBe(Number(levels[0]) + 1)
    expect(await problems(page)).toEqual([])
    await picture(page, "team")

    // The request of the researcher that asked is over; whether the page saw it depends on when it began to observe.
    await page.getByRole("button", { name: /research › scripted: model request, .* goes on$/u }).waitFor()
    await picture(page, "team-turn")
    expect(await problems(page)).toEqual([])

    await researcher(page).click()
    await page.getByRole("button", { name: "Kill…" }).click()
    await page.getByRole("button", { name: "Kill", exact: true }).click()
    await page
      .locator(".tro-counters div")
      .filter({ hasText: /^Restarts1$/u })
      .waitFor()
    await work(page).filter({ hasText: "what I know of the season" }).waitFor()
    await picture(page, "team-killed")

    playground.goOn()
    const question = page.getByRole("region", { name: "Decision about ask" })
    await question.waitFor()
    await settles(page, "awaitingApproval")
    expect(await problems(page)).toEqual([])
    await picture(page, "team-question")
    const answer = question.getByRole("textbox", { name: "Who visits Oslo, and for how long?" })
    await answer.focus()
    await page.keyboard.type("two of us, for a day")
    await page.keyboard.press("Enter")
    const last = page.locator(".troupe-message[data-role=assistant]").last()
    await last.getByText("the answer was “two of us, for a day”").waitFor()
    await last.getByText("My notes on the weather").waitFor()
    await settles(page)
    expect(await work(page).count()).toBe(0)
    expect(faults).toEqual([])
    await playground.close()
  })

  test("AGENTMSG1 OBSERVE7 a scout in the background tells how far it is, is sent elsewhere, asks, and its chat reports the corrected result", async () => {
    const playground = await openPlayground()
    const { page, faults } = await openPage(browser, `${playground.url}/#/c/scout`)
    const texts = page.locator(".troupe-message")
    await say(page, "Scout Oslo in the background")
    await texts.getByText("The scout is on its way").waitFor()
    await settles(page)
    await say(page, "Ask the scout how far it is")
    await texts.getByText(/^The scout says: I have looked at \d places of Oslo/u).waitFor()
    await page.getByRole("article", { name: /^From the agent scout-/u }).waitFor()
    await page.getByRole("treeitem", { name: /^Chat scout.*parent tells: How far are you\?/u }).waitFor()
    await page
      .getByRole("treeitem", { name: /scout-\w+ tells: I have looked at/u })
      .first()
      .waitFor()
    await picture(page, "scout-told")
    await settles(page)
    await say(page, "Send the scout to Bergen")
    const question = page.getByRole("region", { name: "Decision about ask" })
    await question.waitFor()
    expect(await problems(page)).toEqual([])
    await picture(page, "scout-question")
    await question.getByRole("textbox", { name: "Who comes to Bergen, and for how long?" }).focus()
    await page.keyboard.type("two of us, for a day")
    await page.keyboard.press("Enter")
    await texts.getByText(/^The scout is back: My notes on Bergen: .*“two of us, for a day”\.$/u).waitFor()
    await settles(page)
    expect(await question.count()).toBe(0)
    expect(faults).toEqual([])
    await playground.close()
  })
})
