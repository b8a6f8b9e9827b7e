import type { Browser, Page } from "playwright-core"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { inBrowser, openBrowser, openPage, openPlayground, type TestPlayground } from "./browser.ts"
import { settles } from "./talk.ts"

let browser: Browser
let playground: TestPlayground

const say = async (page: Page, text: string): Promise<void> => {
  await page.locator(".troupe-composer textarea").fill(text)
  await page.keyboard.press("Enter")
}

const answered = async (page: Page, text: string): Promise<void> => {
  const before = await page.locator(".troupe-message[data-role=assistant]:not([data-state])").count()
  await say(page, text)
  await page.locator(".troupe-message[data-role=assistant]:not([data-state])").nth(before).waitFor()
  await settles(page)
}

const fill = async (prefix: string, count: number): Promise<void> => {
  await Promise.all(
    Array.from({ length: count }, (__, index) => `you/${prefix}-${index}`).map(async (id) => {
      const chat = await playground.troupe.chat(id)
      for await (const _ of chat.send("Hello"));
    })
  )
}

describe("reading a conversation", inBrowser, () => {
  beforeAll(async () => {
    browser = await openBrowser()
    playground = await openPlayground({ pauseAt: "lighthouse" })
  })

  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()))
  })

  afterAll(async () => {
    await browser.close()
    await playground.close()
  })

  test("SCROLL1. who scrolls up stays there while an answer streams, and is at the end again after saying something", async () => {
    const { page } = await openPage(browser, `${playground.url}/#/c/scrolled`, {
      viewport: { width: 1280, height: 480 }
    })
    const top = (): Promise<number> => page.locator(".troupe-thread").evaluate((box) => box.scrollTop)
    for (const text of ["Hello", "Hello again"]) await answered(page, text)
    expect(await top()).toBeGreaterThan(0)
    await say(page, "Tell me a long story")
    await page.locator("[data-state=streaming]").getByText("lighthouse").waitFor()
    await page.mouse.move(500, 200)
    await page.mouse.wheel(0, -10_000)
    await page.waitForFunction(() => document.querySelector(".troupe-thread")?.scrollTop === 0)
    playground.goOn()
    await page.locator(".troupe-thread").getByText("somebody is expected").waitFor()
    await settles(page)
    expect(await top()).toBe(0)
    await answered(page, "Hello")
    const rest = await page
      .locator(".troupe-thread")
      .evaluate((box) => box.scrollHeight - box.clientHeight - box.scrollTop)
    expect(rest).toBeLessThan(2)
  })

  test("what the model says runs nothing, fetches nothing, and leads nowhere in this tab", async () => {
    const { page, faults } = await openPage(browser, `${playground.url}/#/c/hostile`)
    await say(page, "Book a table")
    await settles(page, "awaitingUser")
    await answered(
      page,
      `<img src=x onerror="document.title='x'"> [a](javascript:alert) [b](#elsewhere) ![p](https://example.invalid/p.png)`
    )
    const answer = page.locator(".troupe-message[data-role=assistant]").last()
    expect(await answer.locator("img, script").count()).toBe(0)
    expect(await answer.locator("a:not([target=_blank])").count()).toBe(0)
    expect(await answer.locator('a[href^="javascript"]').count()).toBe(0)
    expect(await page.title()).not.toBe("x")
    expect(faults).toEqual([])
  })

  test("a refusal is shown, and its text is there to be sent again", async () => {
    const { page } = await openPage(browser, `${playground.url}/#/c/refused`)
    await say(page, "Charge 20 dollars")
    await settles(page, "awaitingApproval")
    await say(page, "Hello")
    const notified = page.getByRole("alert")
    await notified.getByText("waits for decisions").waitFor()
    expect(await page.locator(".troupe-composer textarea").inputValue()).toBe("Hello")
    await page.getByRole("button", { name: "Deny", exact: true }).click()
    await settles(page)
    await page.locator(".troupe-composer textarea").press("Enter")
    await notified.waitFor({ state: "detached" })
  })

  test("a chat that is deleted where it is open makes room for a new one", async () => {
    const { page } = await openPage(browser, `${playground.url}/#/c/deleted`)
    await answered(page, "Hello")
    await page.locator(".troupe-chats li[data-current] button").click()
    await page.getByRole("button", { name: "Delete for good" }).click()
    await page.waitForURL((url) => !url.hash.includes("deleted"))
    await page.getByText("What should the troupe do?").waitFor()
    expect(await page.locator(".troupe-message").count()).toBe(0)
  })

  test("among many chats all can be listed, and the one that is open is in sight in the tree", async () => {
    await fill("many", 55)
    const { page, faults } = await openPage(browser, `${playground.url}/#/c/last`)
    await answered(page, "Hello")
    await page.locator(".troupe-chats li").nth(49).waitFor()
    await page.getByRole("button", { name: "More" }).click()
    await page.locator(".troupe-chats li").nth(55).waitFor()
    const own = page.locator('[role="treeitem"]:has(.tro-label[title="Chat you/last"])')
    await own.waitFor()
    await page.waitForFunction(() => {
      const row = document.querySelector('[role="treeitem"][aria-selected="true"]')
      const box = row?.closest(".tro-body, .tro-panel")?.getBoundingClientRect()
      const { top, bottom } = row?.getBoundingClientRect() ?? { top: -1, bottom: -1 }
      return box !== undefined && top >= box.top && bottom <= box.bottom + 1
    })
    expect(faults).toEqual([])
  })
})
