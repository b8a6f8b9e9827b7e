import { Store } from "@troupe/chat/store"
import type { Browser } from "playwright-core"
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest"
import { inBrowser, openBrowser, openPage, openPlayground, picture, type TestPlayground } from "./browser.ts"
import { say, settles, story } from "./talk.ts"

let browser: Browser
const open: Array<TestPlayground> = []

const begin = async (options: Parameters<typeof openPlayground>[0] = {}): Promise<TestPlayground> => {
  const playground = await openPlayground(options)
  open.push(playground)
  return playground
}

describe("a conversation in the browser", inBrowser, () => {
  beforeAll(async () => {
    browser = await openBrowser()
  })

  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()))
    await Promise.all(open.splice(0).map((playground) => playground.close()))
  })

  afterAll(() => browser.close())

  test("tools run beside each other, and the answer has their results", async () => {
    const { url, goOn } = await begin({ holdTools: true })
    const { page, faults } = await openPage(browser, url)
    await say(page, "What's the weather in Oslo, Lima and Kyoto?")
    await page.locator(".troupe-running > .troupe-call").nth(2).waitFor()
    await picture(page, "tools-running")
    goOn()
    await settles(page)
    const answer = page.locator(".troupe-message[data-role=assistant]").last()
    for (const city of ["Oslo", "Lima", "Kyoto"]) await answer.getByText(`°C in ${city}`).waitFor()
    expect(await page.locator('.troupe-call[data-outcome="completed"]').count()).toBe(3)
    await picture(page, "tools-done")
    expect(faults).toEqual([])
  })

  test("a tool's question is answered where one types, and a call that may change something waits for a decision", async () => {
    const { url } = await begin()
    const { page, faults } = await openPage(browser, url)
    await say(page, "Book a table")
    await settles(page, "awaitingUser")
    await page
      .getByRole("textbox", { name: "Before I can book a table: for when, and for how many?" })
      .fill("Friday, for two")
    await page.keyboard.press("Enter")
    await page.locator(".troupe-thread").getByText('You answered my question with "Friday, for two"').waitFor()
    await settles(page)
    await say(page, "Charge 20 dollars")
    const row = page.locator(".troupe-call", { hasText: "charge" })
    const card = row.getByRole("region", { name: "Decision about charge" })
    await card.getByRole("button", { name: "Edit the arguments" }).click()
    await card.getByRole("textbox", { name: "Arguments of charge" }).fill('{ "dollars": 2')
    await card.getByText("This is no JSON").waitFor()
    expect(await card.getByRole("button", { name: "Allow" }).isDisabled()).toBe(true)
    await card.getByRole("textbox", { name: "Arguments of charge" }).fill('{ "dollars": 25 }')
    await picture(page, "approval")
    await card.getByRole("button", { name: "Deny" }).click()
    await page.keyboard.press("Enter")
    await card.getByRole("button", { name: "Allow" }).click()
    await card.getByText("Allowed").waitFor()
    await page.locator(".troupe-message[data-role=assistant]").last().getByText("charged 25 dollars").waitFor()
    await settles(page)
    expect(faults).toEqual([])
  })

  test("REVISE1. a question is edited and an answer regenerated, and the thread goes on from there", async () => {
    const { url, troupe } = await begin()
    const { page, faults } = await openPage(browser, `${url}/#/c/revised`)
    for (const text of ["Hello", "Hello again"]) {
      await say(page, text)
      await settles(page)
    }
    const said = page.locator(".troupe-message[data-role=user]")
    await said.nth(1).hover()
    await said.nth(1).getByRole("button", { name: "Edit" }).click()
    await page.getByRole("textbox", { name: "Your message" }).fill("What's the weather in Rome?")
    await page.getByRole("button", { name: "Send again" }).click()
    await page.locator(".troupe-message[data-role=assistant]").last().getByText("°C in Rome").waitFor()
    await settles(page)
    expect(await said.locator(".troupe-plain").allInnerTexts()).toEqual(["Hello", "What's the weather in Rome?"])
    const before = (await troupe.history("you/revised")).length
    await page.getByRole("button", { name: "Regenerate" }).click()
    await expect
      .poll(async () => (await troupe.history("you/revised")).length, { timeout: 10_000 })
      .toBeGreaterThan(before)
    await expect.poll(async () => (await troupe.history("you/revised")).at(-1)?.state.running).toBe(false)
    await settles(page)
    expect(await said.count()).toBe(2)
    expect(faults).toEqual([])
  })

  test("cancel ends an answer at once and keeps what was said", async () => {
    const { url } = await begin({ pauseAt: "keeper" })
    const { page, faults } = await openPage(browser, url)
    await say(page, "Tell me a long story")
    await page.locator("[data-state=streaming]").getByText("Once there was").waitFor()
    await page.getByRole("button", { name: "Stop" }).click()
    await settles(page)
    const kept = await page.locator(".troupe-message[data-role=assistant]").last().innerText()
    expect(kept).toContain("Once there was")
    expect(kept).toContain("cut short")
    expect(kept).not.toContain("somebody is expected")
    expect(faults).toEqual([])
  })

  test("one running tool is cancelled, its siblings are untouched", async () => {
    const { url, goOn } = await begin({ holdTools: true })
    const { page, faults } = await openPage(browser, url)
    await say(page, "Tell the weather in Lima and Rome")
    const cancels = page.getByRole("button", { name: "Cancel weather" })
    await cancels.first().click()
    await expect.poll(() => cancels.count(), { timeout: 10_000 }).toBe(1)
    goOn()
    await page.locator(".troupe-message[data-role=assistant]").last().getByText("°C in Rome").waitFor()
    await settles(page)
    expect(await page.locator('.troupe-call[data-outcome="cancelled"]').count()).toBe(1)
    expect(await page.locator('.troupe-call[data-outcome="completed"]').count()).toBe(1)
    expect(faults).toEqual([])
  })

  test("a page that is loaded again in mid-answer goes on with it, and nothing is missed or said twice", async () => {
    const { url, goOn } = await begin({ pauseAt: "lighthouse" })
    const { page, faults } = await openPage(browser, url)
    await say(page, "Tell me a long story")
    await page.locator("[data-state=streaming]").getByText("lighthouse").waitFor()
    await page.reload()
    await page.locator("[data-state=streaming]").getByText("lighthouse").waitFor()
    await picture(page, "reloaded-in-mid-answer")
    goOn()
    await settles(page)
    expect(await page.locator(".troupe-message[data-role=user]").count()).toBe(1)
    expect(await page.locator(".troupe-message[data-role=assistant]").count()).toBe(1)
    expect(await page.locator(".troupe-message[data-role=assistant]").innerText()).toMatch(story)
    expect(faults).toEqual([])
  })

  test("two tabs on one conversation show the same, whoever speaks", async () => {
    const { url, goOn } = await begin({ pauseAt: "lighthouse" })
    const first = await openPage(browser, `${url}/#/c/shared`)
    const second = await openPage(browser, `${url}/#/c/shared`)
    await say(first.page, "Tell me a long story")
    await second.page.locator("[data-state=streaming]").getByText("lighthouse").waitFor()
    goOn()
    await settles(second.page)
    await say(second.page, "Hello")
    await first.page.locator(".troupe-thread").getByText("I am a small scripted model").waitFor()
    await settles(first.page)
    await settles(second.page)
    const texts = await Promise.all([first, second].map(({ page }) => page.locator(".troupe-thread").innerText()))
    expect(texts[0]).toBe(texts[1])
    expect([...first.faults, ...second.faults]).toEqual([])
  })

  test("a chat that is killed from the observer returns, and goes on where it was committed", async () => {
    const { url, troupe, goOn } = await begin({ pauseAt: "lighthouse" })
    const { page, faults } = await openPage(browser, `${url}/#/c/victim`)
    await say(page, "Hello")
    await settles(page)
    const [before] = [String((await troupe.chat("you/victim")).pid)]
    await say(page, "Tell me a long story")
    await page.locator("[data-state=streaming]").getByText("lighthouse").waitFor()
    await page
      .getByRole("treeitem", { name: /^Chat /u })
      .first()
      .click()
    await page.getByRole("button", { name: "Kill…" }).click()
    await page.getByRole("button", { name: "Kill", exact: true }).click()
    await settles(page, "interrupted")
    await picture(page, "killed")
    expect(await page.locator(".troupe-thread").innerText()).toContain("lighthouse")
    expect(String((await troupe.chat("you/victim")).pid)).not.toBe(before)
    goOn()
    await page.getByRole("button", { name: "Resume" }).click()
    await settles(page)
    expect(await page.locator(".troupe-message[data-role=assistant]").last().innerText()).toMatch(story)
    expect(faults).toEqual([])
  })

  test("CACHE1: the observer shows how many tokens of the prompts were cached", async () => {
    const { url } = await begin()
    const { page, faults } = await openPage(browser, `${url}/#/c/cached`)
    const cached = page.locator('.tro-meters [data-kind="cached"] dd')
    await say(page, "Hello")
    await settles(page)
    expect(await cached.innerText()).toBe("0")
    await say(page, "And hello again")
    await settles(page)
    await expect.poll(async () => Number(await cached.innerText())).toBeGreaterThan(10)
    expect(faults).toEqual([])
  })

  test("a conversation is there again when the server was started again", async () => {
    const store = Store.memory()
    const first = await begin({ store })
    const { page } = await openPage(browser, `${first.url}/#/c/kept`)
    await say(page, "Hello")
    await settles(page)
    await page.close()
    await first.close()
    open.length = 0
    const second = await begin({ store })
    const again = await openPage(browser, `${second.url}/#/c/kept`)
    await again.page.locator(".troupe-thread").getByText("I am a small scripted model").waitFor()
    expect(again.faults).toEqual([])
  })
})
